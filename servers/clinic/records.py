"""Who comes to a practice: patients, practitioners and their slots, appointments, referrals, prescriptions and their refills."""

from datetime import datetime, timedelta
from typing import Annotated, Literal, NewType

from prove.servers import Day, EmailAddress, Meta, Moment, PersonName, Record

PatientId = NewType("PatientId", str)
PractitionerId = NewType("PractitionerId", str)
SlotId = NewType("SlotId", str)
AppointmentId = NewType("AppointmentId", str)
ReferralId = NewType("ReferralId", str)
PrescriptionId = NewType("PrescriptionId", str)
RefillId = NewType("RefillId", str)

BirthDate = Annotated[Day, Meta(description="the date on which a patient was born, YYYY-MM-DD")]
Phone = Annotated[str, Meta(pattern=r"^\+\d{8,15}$", description="a phone number with its country code, digits only: +14155550123")]
Specialty = Annotated[
    Literal["general_practice", "cardiology", "dermatology", "orthopaedics", "physiotherapy", "dietetics"],
    Meta(description="what a practitioner does; all but general practice want a referral"),
]
ReferredTo = Annotated[
    Literal["cardiology", "dermatology", "orthopaedics", "physiotherapy", "dietetics"], Meta(description="where a patient is sent")
]
Reason = Annotated[str, Meta(min_length=2, max_length=120, description="what a patient comes for")]
Urgency = Annotated[Literal["routine", "urgent"], Meta(description="how soon a referred patient is to be seen")]
AppointmentStatus = Annotated[
    Literal["booked", "arrived", "seen", "missed", "cancelled"],
    Meta(description="booked until the patient has arrived, seen when it is over; missed if nobody came"),
]
ReferralStatus = Annotated[
    Literal["open", "used", "withdrawn", "expired"], Meta(description="open until an appointment is booked on it, for ninety days at most")
]
PrescriptionStatus = Annotated[Literal["active", "stopped"], Meta(description="whether the patient still takes it")]
Medicine = Annotated[str, Meta(min_length=2, max_length=60, description="the name of a medicine")]
RefillStatus = Annotated[
    Literal["ordered", "ready", "collected"], Meta(description="ordered until the pharmacy delivers, ready until the patient has it")
]
OnDay = Annotated[Day, Meta(description="the day to look at, YYYY-MM-DD")]
FirstDay = Annotated[Day, Meta(description="the first day to look at, YYYY-MM-DD")]
LastDay = Annotated[Day, Meta(description="the last day to look at, YYYY-MM-DD")]
ClockTime = Annotated[str, Meta(pattern=r"^\d\d:\d\d$", description="the time of day at which a slot begins, in UTC")]


class Practitioner(Record):
    practitioner_id: PractitionerId
    name: PersonName
    specialty: Specialty
    room: str


class Patient(Record):
    patient_id: PatientId
    name: PersonName
    born: BirthDate
    phone: Phone
    email: EmailAddress | None = None
    practitioner_id: PractitionerId | None = None  # their own doctor, where they have one


class Slot(Record):
    slot_id: SlotId
    practitioner_id: PractitionerId
    at: ClockTime
    start: Moment
    minutes: int
    taken: bool = False

    @property
    def end(self) -> datetime:
        return self.start + timedelta(minutes=self.minutes)


class Diary(Record):
    """How far the slots reach."""

    diary_id: str
    open_until: Day


class Appointment(Record):
    appointment_id: AppointmentId
    patient_id: PatientId
    practitioner_id: PractitionerId
    practitioner: PersonName
    slot_id: SlotId
    start: Moment
    end: Moment
    reason: Reason
    status: AppointmentStatus = "booked"
    referral_id: ReferralId | None = None

    @property
    def coming(self) -> bool:
        return self.status in ("booked", "arrived")


class Referral(Record):
    referral_id: ReferralId
    patient_id: PatientId
    specialty: ReferredTo
    urgency: Urgency
    written: Day
    good_until: Day  # the last day on which an appointment can be booked on it
    status: ReferralStatus = "open"


class Prescription(Record):
    prescription_id: PrescriptionId
    patient_id: PatientId
    medicine: Medicine
    dose: str
    lasts: int  # days that one filling is enough for
    written: Day
    good_until: Day
    refills: int  # that the doctor granted
    refills_left: int
    last_filled: Day
    status: PrescriptionStatus = "active"


class Refill(Record):
    refill_id: RefillId
    prescription_id: PrescriptionId
    patient_id: PatientId
    medicine: Medicine
    ordered: Moment
    delivery: Moment
    status: RefillStatus = "ordered"


class PatientLine(Record):
    patient_id: PatientId
    name: PersonName
    born: BirthDate
    practitioner_id: PractitionerId | None


class PatientCard(Record):
    patient: Patient
    coming: list[AppointmentId]
    referrals: list[ReferralId]
    prescriptions: list[PrescriptionId]
    missed: int  # appointments within a year


class Opening(Record):
    slot_id: SlotId
    practitioner_id: PractitionerId
    at: ClockTime
    start: Moment
    minutes: int
