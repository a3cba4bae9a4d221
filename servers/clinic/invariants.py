"""What must hold in a practice after every call, and what a past that its rules have made looks like."""

from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from itertools import combinations

from .records import Appointment, Prescription, Referral
from .tools import COMING, OPEN_AHEAD, REFERRAL, RELEASED_AT, Clinic, next_delivery


def invariants(clinic: Clinic) -> Iterator[str]:
    people = Counter((p.name.casefold(), p.born) for p in clinic.patients)
    yield from (f"{name}, born on {born}, is {n} patients" for (name, born), n in people.items() if n > 1)
    kept = [a for a in clinic.appointments if a.status != "cancelled"]
    taken = Counter(a.slot_id for a in kept)
    yield from (f"{slot} is taken by {n} appointments" for slot, n in taken.items() if n > 1)
    if taken.keys() ^ {s.slot_id for s in clinic.slots.where(taken=True)}:
        yield "the slots that are taken are not those of the appointments"
    for appointment in kept:
        yield from _wrong_with(clinic, appointment)
    used = Counter(a.referral_id for a in kept if a.referral_id)
    for referral in clinic.referrals:
        yield from _wrong_with_referral(clinic, referral, used[referral.referral_id])
    for patient in clinic.patients:
        coming = [a for a in clinic.appointments.where(patient_id=patient.patient_id) if a.coming]
        if len(coming) > COMING:
            yield f"{patient.patient_id} has {len(coming)} appointments ahead"
        if any(a.start < b.end and b.start < a.end for a, b in combinations(coming, 2)):
            yield f"{patient.patient_id} has two appointments at once"
        if patient.practitioner_id and clinic.practitioners.get(patient.practitioner_id).specialty != "general_practice":
            yield f"{patient.patient_id} has a specialist for their own doctor"
    for refill in clinic.refills:
        if (refill.status == "ordered") != (refill.delivery > clinic.now):
            yield f"{refill.refill_id} is {refill.status}, and is delivered at {refill.delivery}"
    yield from (f"{p.prescription_id} has {p.refills_left} refills left" for p in clinic.prescriptions if p.refills_left < 0)


def _wrong_with(clinic: Clinic, appointment: Appointment) -> Iterator[str]:
    key, slot = appointment.appointment_id, clinic.slots.get(appointment.slot_id)
    if (slot.practitioner_id, slot.start, slot.end) != (appointment.practitioner_id, appointment.start, appointment.end):
        yield f"{key} is not when and where its slot is"
    if appointment.coming != (appointment.end > clinic.now):
        yield f"{key} is {appointment.status}, and ends at {appointment.end}"
    specialty = clinic.practitioners.get(appointment.practitioner_id).specialty
    if (specialty == "general_practice") != (appointment.referral_id is None):
        yield f"{key} is in {specialty}, with the referral {appointment.referral_id}"
    if appointment.referral_id:
        referral = clinic.referrals.get(appointment.referral_id)
        if (referral.patient_id, referral.specialty) != (appointment.patient_id, specialty):
            yield f"{key} uses a referral of another patient or specialty"


def _wrong_with_referral(clinic: Clinic, referral: Referral, used: int) -> Iterator[str]:
    if used != (referral.status == "used"):
        yield f"{referral.referral_id} is {referral.status}, and {used} appointments use it"
    if referral.status == "open" and referral.good_until < clinic.today:
        yield f"{referral.referral_id} is open, and was good until {referral.good_until}"


def past(clinic: Clinic) -> Iterator[str]:
    opened = clinic.today + OPEN_AHEAD - timedelta(days=clinic.now.time() < RELEASED_AT)
    if clinic.diary.one().open_until != opened:
        yield f"slots are open until {clinic.diary.one().open_until} instead of {opened}"
    for slot in clinic.slots:
        if slot.start.date() > opened or slot.start.weekday() >= 5:
            yield f"{slot.slot_id} is at {slot.start}"
    for referral in clinic.referrals:
        if referral.written > clinic.today or referral.good_until != referral.written + REFERRAL:
            yield f"{referral.referral_id} was written on {referral.written} and is good until {referral.good_until}"
    for prescription in clinic.prescriptions:
        yield from _never_filled(clinic, prescription)
    for refill in clinic.refills:
        if refill.ordered > clinic.now or refill.delivery != next_delivery(refill.ordered):
            yield f"{refill.refill_id} was ordered at {refill.ordered} and is delivered at {refill.delivery}"


def _never_filled(clinic: Clinic, prescription: Prescription) -> Iterator[str]:
    key, fillings = prescription.prescription_id, clinic.refills.where(prescription_id=prescription.prescription_id)
    if len(fillings) + prescription.refills_left != prescription.refills:
        yield f"{key} has {prescription.refills_left} of {prescription.refills} refills left after {len(fillings)}"
    last = max((f.ordered.date() for f in fillings), default=prescription.written)
    if prescription.last_filled != last or prescription.written > clinic.today:
        yield f"{key} was last filled on {prescription.last_filled} instead of {last}"
