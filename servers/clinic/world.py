"""A practice after four weeks of work: appointments kept and missed, referrals open and used, refills on their way and due."""

from collections.abc import Callable
from contextlib import suppress
from datetime import date, timedelta
from typing import Any

from prove.servers import ToolError
from prove.servers.maker import Maker

from .records import Diary, Patient, Practitioner, Prescription, Referral
from .tools import MINUTES, OPEN_AHEAD, REFERRAL, Clinic

DAYS = 26  # of work before the world begins
STAFF = (*["general_practice"] * 3, "cardiology", "dermatology", "orthopaedics", "physiotherapy", "dietetics")
MEDICINES = {  # medicine -> dose, days that a filling lasts
    "Lisinopril 10 mg": ("one tablet in the morning", 30),
    "Metformin 500 mg": ("one tablet with each main meal", 30),
    "Levothyroxine 50 mcg": ("one tablet before breakfast", 60),
    "Atorvastatin 20 mg": ("one tablet in the evening", 60),
    "Salbutamol inhaler": ("two puffs when needed", 28),
    "Omeprazole 20 mg": ("one capsule before breakfast", 28),
    "Cetirizine 10 mg": ("one tablet in the evening", 30),
    "Ibuprofen gel": ("a thin layer, three times a day", 14),
    "Amlodipine 5 mg": ("one tablet in the morning", 60),
    "Vitamin D drops": ("one drop a day", 90),
}
REASONS = {
    "general_practice": ("a cough that stays", "blood pressure", "a vaccination", "back pain", "tiredness", "a check-up", "a sore throat"),
    "cardiology": ("palpitations", "an ECG", "chest tightness"),
    "dermatology": ("a mole", "eczema", "a rash on the arms"),
    "orthopaedics": ("a stiff knee", "shoulder pain", "a sprained ankle"),
    "physiotherapy": ("exercises for the back", "a frozen shoulder", "walking after a fall"),
    "dietetics": ("a meal plan", "weight", "food allergies"),
}
FORGETFUL = tuple(f"PAT-{number}" for number in range(4003, 4051, 7))
REFERRABLE = tuple(s for s in MINUTES if s != "general_practice")


def populate(clinic: Clinic, make: Maker) -> None:
    for number, specialty in enumerate(STAFF):
        who = Practitioner(clinic.practitioners.mint(), f"Dr {make.person()}", specialty, f"room {number // 4 + 1}{'ABCD'[number % 4]}")
        clinic.practitioners.add(who)
    _patients(clinic, make)
    _papers(clinic, make)
    begun = make.day(-DAYS)
    clinic.live_until(make.moment(-DAYS, 6))
    clinic.diary.add(Diary("DIARY", begun + OPEN_AHEAD - timedelta(days=15)))
    for offset in range(-DAYS, 1):
        for hour in (8, 11, 14) if offset else (8,):
            clinic.live_until(make.moment(offset, hour))
            _at_the_desk(clinic, make, hour)
    clinic.live_until(make.start)


def _patients(clinic: Clinic, make: Maker) -> None:
    """People of every age, most with a doctor of their own, two of the same first name, and a parent and child of the same surname."""
    doctors = [p.practitioner_id for p in clinic.practitioners.where(specialty="general_practice")]
    people = [make.person() for _ in range(48)]
    first, last = people[0].split()
    while (namesake := f"{first} {make.faker.last_name()}") in people or (child := f"{make.faker.first_name()} {last}") in people:
        pass
    people[1], people[2] = namesake, child
    for name in people:
        born = make.today - timedelta(days=make.between(2 * 365, 86 * 365))
        email = make.email(name) if make.chance(0.8) else None
        phone = f"+1{make.pick(('415', '617', '303', '512'))}555{make.digits(4)}"
        own = make.pick(doctors) if make.chance(0.8) else None
        clinic.patients.add(Patient(clinic.patients.mint(), name, born, phone, email, own))


def _papers(clinic: Clinic, make: Maker) -> None:
    """What was written before: prescriptions, some of them no longer good or stopped, and referrals that nobody used."""
    for patient in make.some(list(clinic.patients), 26):
        for medicine in make.some(tuple(MEDICINES), make.pick((1, 1, 2))):
            _prescribe(clinic, make, patient.patient_id, medicine, make.day(-make.between(DAYS + 2, 230)))
    for patient in make.some(list(clinic.patients), 5):
        written = make.day(-make.between(REFERRAL.days + DAYS + 1, REFERRAL.days + 200))
        paper = (patient.patient_id, make.pick(REFERRABLE), "routine", written, written + REFERRAL, "expired")
        clinic.referrals.add(Referral(clinic.referrals.mint(), *paper))


def _prescribe(clinic: Clinic, make: Maker, patient_id: str, medicine: str, written: date) -> None:
    dose, lasts = MEDICINES[medicine]
    refills, status = make.pick((0, 1, 2, 2, 3, 5)), "stopped" if make.chance(0.1) else "active"
    paper = (medicine, dose, lasts, written, written + timedelta(days=180), refills, refills, written, status)
    clinic.prescriptions.add(Prescription(clinic.prescriptions.mint(), patient_id, *paper))


def _at_the_desk(clinic: Clinic, make: Maker, hour: int) -> None:
    """One look at the desk: who arrives, which a few seldom do, who calls, what is ordered and collected."""
    if clinic.today.weekday() >= 5:
        return
    for appointment in clinic.appointments.where(status="booked"):
        if appointment.start <= clinic.now + timedelta(hours=3):
            if make.chance(0.3 if appointment.patient_id in FORGETFUL else 0.92):
                clinic.check_in_patient(appointment.appointment_id)
        elif make.chance(0.004):
            clinic.cancel_appointment(appointment.appointment_id)
    if hour != 11:
        _calls(clinic, make)
    if hour == 14:
        _after_the_doctor(clinic, make)
        _pharmacy(clinic, make)


def _calls(clinic: Clinic, make: Maker) -> None:
    """Patients book with a doctor, or with the specialist to whom they were referred; a few move what they have booked."""
    for patient in make.some(list(clinic.patients), make.between(1, 5)):
        doctors = [patient.practitioner_id] if patient.practitioner_id else [p.practitioner_id for p in clinic.practitioners][:3]
        _book(clinic, make, patient.patient_id, doctors)
    for referral in clinic.referrals.where(status="open"):
        if make.chance(0.1):
            doctors = [p.practitioner_id for p in clinic.practitioners.where(specialty=referral.specialty)]
            _book(clinic, make, referral.patient_id, doctors)
    for appointment in clinic.appointments.where(status="booked"):
        if make.chance(0.01) and (free := _free(clinic, [appointment.practitioner_id])):
            _if_allowed(clinic.move_appointment, appointment.appointment_id, make.pick(free))


def _free(clinic: Clinic, doctors: list[str]) -> list[str]:
    return [s.slot_id for s in clinic.slots.where(taken=False) if s.practitioner_id in doctors and s.start > clinic.now]


def _book(clinic: Clinic, make: Maker, patient_id: str, doctors: list[str]) -> None:
    if free := _free(clinic, doctors):
        specialty = clinic.practitioners.get(doctors[0]).specialty
        _if_allowed(clinic.book_appointment, patient_id, make.pick(free), make.pick(REASONS[specialty]))


def _after_the_doctor(clinic: Clinic, make: Maker) -> None:
    """Whom somebody in general practice has seen goes home with a referral or a prescription, now and then."""
    for appointment in clinic.appointments.where(status="seen"):
        if appointment.start.date() == clinic.today and not appointment.referral_id:
            if make.chance(0.35):
                urgency = make.pick(("routine", "routine", "urgent"))
                _if_allowed(clinic.create_referral, appointment.patient_id, make.pick(REFERRABLE), urgency)
            if make.chance(0.25):
                _prescribe(clinic, make, appointment.patient_id, make.pick(tuple(MEDICINES)), clinic.today)


def _pharmacy(clinic: Clinic, make: Maker) -> None:
    for refill in clinic.refills.where(status="ready"):
        if make.chance(0.15):
            clinic.hand_over_refill(refill.refill_id)
    for prescription in clinic.prescriptions.where(status="active"):
        if prescription.refills_left and make.chance(0.1):
            _if_allowed(clinic.order_refill, prescription.prescription_id)


def _if_allowed(tool: Callable[..., Any], *arguments: str) -> None:
    """What the rules refuse does not happen."""
    with suppress(ToolError):
        tool(*arguments)
