"""The front desk of a practice: appointments in slots, referrals to specialists, refills of prescriptions."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta

from prove.servers import (
    Day, EmailAddress, Limit, Moment, Offset, Page, PersonName, Query, Server, given, matches, newest, page, read, require, some_given,
    table, write,
)  # fmt: skip
from .records import (
    Appointment, AppointmentId, AppointmentStatus, BirthDate, Diary, FirstDay, LastDay, OnDay, Opening, Patient, PatientCard, PatientId,
    PatientLine, Phone, Practitioner, PractitionerId, Prescription, PrescriptionId, PrescriptionStatus, Reason, Referral, ReferralId,
    ReferralStatus, ReferredTo, Refill, RefillId, RefillStatus, Slot, SlotId, Specialty, Urgency,
)  # fmt: skip

OPEN_AHEAD = timedelta(days=14)  # how far slots can be booked
RELEASED_AT = time(7)  # when the slots of one more day are opened
HOURS = (time(9), time(9, 45), time(10, 30), time(11, 15), time(14), time(15, 30))  # when slots begin
MINUTES = {"general_practice": 15, "cardiology": 30, "dermatology": 20, "orthopaedics": 30, "physiotherapy": 40, "dietetics": 30}
REFERRAL = timedelta(days=90)
SEEN_WITHIN = timedelta(days=180)  # by somebody in general practice, before a referral
EARLY = timedelta(days=7)  # before a filling is used up, the next can be ordered
DELIVERED_AT = time(12)
COMING = 3  # appointments that a patient can have ahead


class Clinic(Server):
    """Patients, appointments, referrals and refills at the front desk of a medical practice."""

    category = "Health"
    heldout = True

    practitioners = table(Practitioner, "PRA-{}", start=11)
    patients = table(Patient, "PAT-{}", start=4001)
    diary = table(Diary)
    slots = table(Slot, "SLT-{}", start=60001)
    appointments = table(Appointment, "APT-{}", start=8001)
    referrals = table(Referral, "REF-{}", start=501)
    prescriptions = table(Prescription, "RX-{}", start=2001)
    refills = table(Refill, "RFL-{}", start=301)

    # --- patients and practitioners

    @read
    def search_patients(
        self, query: Query | None = None, practitioner_id: PractitionerId | None = None, limit: Limit = 10, offset: Offset = 0
    ) -> Page[PatientLine]:
        """Find patients by name, phone number or email address, all or those of one doctor."""
        among = self.patients.where(**given(practitioner_id=practitioner_id))
        return page((p for p in among if matches(query, p.name, p.phone, p.email or "")), limit, PatientLine, offset)

    @read
    def get_patient(self, patient_id: PatientId) -> PatientCard:
        """Show a patient: how to reach them, what lies ahead of them, and how often they did not come within a year."""
        mine = self.appointments.where(patient_id=patient_id)
        referrals = [r.referral_id for r in self.referrals.where(patient_id=patient_id, status="open")]
        prescriptions = [p.prescription_id for p in self.prescriptions.where(patient_id=patient_id, status="active")]
        missed = sum(a.status == "missed" and a.start > self.now - timedelta(days=365) for a in mine)
        coming = [a.appointment_id for a in mine if a.coming]
        return PatientCard(self.patients.get(patient_id), coming, referrals, prescriptions, missed)

    @write
    def register_patient(self, name: PersonName, born: BirthDate, phone: Phone, email: EmailAddress | None = None) -> Patient:
        """Take on somebody who is not a patient yet."""
        require(born <= self.today, "invalid_argument", f"{born} is after today, {self.today}: give the date of birth")
        same = [p.patient_id for p in self.patients.where(born=born) if p.name.casefold() == name.casefold()]
        require(not same, "conflict", f"{name}, born on {born}, is patient {', '.join(same)} already")
        return self.patients.add(Patient(self.patients.mint(), name, born, phone, email))

    @write(idempotent=True)
    def update_patient(
        self,
        patient_id: PatientId,
        phone: Phone | None = None,
        email: EmailAddress | None = None,
        practitioner_id: PractitionerId | None = None,
    ) -> Patient:
        """Change how to reach a patient, or who in general practice is their doctor."""
        changes = some_given(phone=phone, email=email, practitioner_id=practitioner_id)
        if practitioner_id:
            specialty = self.practitioners.get(practitioner_id).specialty
            wrong = f"{practitioner_id} is in {specialty}, and a patient's own doctor is in general practice: name another"
            require(specialty == "general_practice", "failed_precondition", wrong)
        return self.patients.update(patient_id, **changes)

    @read
    def list_practitioners(self, query: Query | None = None, specialty: Specialty | None = None) -> Page[Practitioner]:
        """List who works here, by name or by what they do."""
        found = (p for p in self.practitioners.where(**given(specialty=specialty)) if matches(query, p.name, p.room))
        return page(found, 50, Practitioner)

    # --- appointments

    @read
    def find_openings(
        self,
        practitioner_id: PractitionerId | None = None,
        specialty: Specialty | None = None,
        since: FirstDay | None = None,
        until: LastDay | None = None,
        limit: Limit = 10,
        offset: Offset = 0,
    ) -> Page[Opening]:
        """Find free slots of the next fourteen days, the soonest first: of one practitioner or specialty, from a day on, until a day."""
        first, last = max(since or self.today, self.today), until or date.max
        require(first <= last, "invalid_argument", f"until, {last}, lies before {first}: give a later day")
        found = [s for s in self.slots.where(taken=False, **given(practitioner_id=practitioner_id)) if s.start > self.now]
        found = [s for s in found if first <= s.start.date() <= last and specialty in (None, self._specialty(s.practitioner_id))]
        return page(sorted(found, key=lambda s: s.start), limit, Opening, offset)

    @read
    def list_appointments(
        self,
        patient_id: PatientId | None = None,
        practitioner_id: PractitionerId | None = None,
        day: OnDay | None = None,
        status: AppointmentStatus | None = None,
        limit: Limit = 10,
        offset: Offset = 0,
    ) -> Page[Appointment]:
        """List appointments in order of time; those that lie ahead, unless a day or a status is named."""
        found = self.appointments.where(**given(patient_id=patient_id, practitioner_id=practitioner_id, status=status))
        found = [a for a in found if (a.start.date() == day if day else status or a.coming)]
        return page(sorted(found, key=lambda a: a.start), limit, Appointment, offset)

    @write
    def book_appointment(self, patient_id: PatientId, slot_id: SlotId, reason: Reason) -> Appointment:
        """Book a free slot for a patient; one with a specialist uses up an open referral to that specialty."""
        self.patients.get(patient_id)
        slot, specialty = self._free(slot_id), self._specialty(self.slots.get(slot_id).practitioner_id)
        ahead = [a for a in self.appointments.where(patient_id=patient_id) if a.coming]
        full = f"{patient_id} has {len(ahead)} appointments ahead, which is the most: cancel or move one"
        require(len(ahead) < COMING, "resource_exhausted", full)
        self._refuse_clash(ahead, slot)
        referral = self._referral_for(patient_id, specialty) if specialty != "general_practice" else None
        if referral:
            self.referrals.update(referral.referral_id, status="used")
        self.slots.update(slot_id, taken=True)
        who = self.practitioners.get(slot.practitioner_id)
        about = (who.practitioner_id, who.name, slot_id, slot.start, slot.end, reason, "booked", referral.referral_id if referral else None)
        return self.appointments.add(Appointment(self.appointments.mint(), patient_id, *about))

    @write
    def move_appointment(self, appointment_id: AppointmentId, slot_id: SlotId) -> Appointment:
        """Move a booked appointment to another free slot in the same specialty."""
        appointment, slot = self._booked(appointment_id), self._free(slot_id)
        now, then = self._specialty(appointment.practitioner_id), self._specialty(slot.practitioner_id)
        elsewhere = f"{slot_id} is in {then}, and {appointment_id} in {now}: choose a slot there, or book anew"
        require(now == then, "failed_precondition", elsewhere)
        others = [a for a in self.appointments.where(patient_id=appointment.patient_id) if a.coming and a.appointment_id != appointment_id]
        self._refuse_clash(others, slot)
        self.slots.update(appointment.slot_id, taken=False)
        self.slots.update(slot_id, taken=True)
        who, at = self.practitioners.get(slot.practitioner_id), {"slot_id": slot_id, "start": slot.start, "end": slot.end}
        return self.appointments.update(appointment_id, practitioner_id=who.practitioner_id, practitioner=who.name, **at)

    @write(destructive=True)
    def cancel_appointment(self, appointment_id: AppointmentId) -> Appointment:
        """Call off a booked appointment; its slot is free again, and its referral can be used once more."""
        appointment = self._booked(appointment_id)
        self.slots.update(appointment.slot_id, taken=False)
        if appointment.referral_id:
            good = self.referrals.get(appointment.referral_id).good_until >= self.today
            self.referrals.update(appointment.referral_id, status="open" if good else "expired")
        return self.appointments.update(appointment_id, status="cancelled")

    @write
    def check_in_patient(self, appointment_id: AppointmentId) -> Appointment:
        """Note that the patient has arrived, on the day of the appointment and before it is over."""
        appointment = self._booked(appointment_id)
        early = f"{appointment_id} begins at {appointment.start}, and today is {self.today}: check the patient in on that day"
        require(appointment.start.date() == self.today, "failed_precondition", early)
        return self.appointments.update(appointment_id, status="arrived")

    # --- referrals

    @read
    def list_referrals(
        self, patient_id: PatientId | None = None, status: ReferralStatus | None = None, limit: Limit = 10, offset: Offset = 0
    ) -> Page[Referral]:
        """List referrals, newest first: of a patient, or those that are open, used, withdrawn or expired."""
        found = self.referrals.where(**given(patient_id=patient_id, status=status))
        return page(newest(found, lambda r: r.written), limit, Referral, offset)

    @write
    def create_referral(self, patient_id: PatientId, specialty: ReferredTo, urgency: Urgency = "routine") -> Referral:
        """Refer a patient to a specialty, whom somebody in general practice has seen within half a year."""
        seen = [a.start.date() for a in self.appointments.where(patient_id=patient_id, status="seen") if self._is_general(a)]
        never = f"nobody in general practice has seen {patient_id} since {self.today - SEEN_WITHIN}: book an appointment there first"
        require(max(seen, default=date.min) >= self.today - SEEN_WITHIN, "failed_precondition", never)
        same = [r.referral_id for r in self.referrals.where(patient_id=patient_id, specialty=specialty, status="open")]
        require(not same, "conflict", f"{patient_id} has the open referral {', '.join(same)} to {specialty} already")
        return self.referrals.add(Referral(self.referrals.mint(), patient_id, specialty, urgency, self.today, self.today + REFERRAL))

    @write(destructive=True)
    def withdraw_referral(self, referral_id: ReferralId) -> Referral:
        """Take back a referral on which nothing is booked."""
        referral = self.referrals.get(referral_id)
        require(referral.status == "open", "failed_precondition", f"{referral_id} is {referral.status} already")
        return self.referrals.update(referral_id, status="withdrawn")

    # --- prescriptions and refills

    @read
    def list_prescriptions(
        self,
        patient_id: PatientId | None = None,
        query: Query | None = None,
        status: PrescriptionStatus | None = None,
        limit: Limit = 10,
        offset: Offset = 0,
    ) -> Page[Prescription]:
        """List prescriptions, newest first: of a patient, of a medicine, still active or stopped."""
        found = [p for p in self.prescriptions.where(**given(patient_id=patient_id, status=status)) if matches(query, p.medicine)]
        return page(newest(found, lambda p: p.written), limit, Prescription, offset)

    @write
    def order_refill(self, prescription_id: PrescriptionId) -> Refill:
        """Order the next filling of an active prescription; the pharmacy delivers at noon of the next working day."""
        held = self.prescriptions.get(prescription_id)
        require(held.status == "active", "failed_precondition", f"{prescription_id} is stopped: the doctor must write a new one")
        over = f"{prescription_id} was good until {held.good_until}: book an appointment, for the doctor must write a new one"
        require(held.good_until >= self.today, "failed_precondition", over)
        none_left = f"{prescription_id} has no refills left: book an appointment, for the doctor must write a new one"
        require(held.refills_left, "resource_exhausted", none_left)
        opens = held.last_filled + timedelta(days=held.lasts) - EARLY
        enough = f"{prescription_id} was filled on {held.last_filled} for {held.lasts} days: the next can be ordered from {opens} on"
        require(self.today >= opens, "failed_precondition", enough)
        self.prescriptions.update(prescription_id, refills_left=held.refills_left - 1, last_filled=self.today)
        about = (prescription_id, held.patient_id, held.medicine, self.now, next_delivery(self.now))
        return self.refills.add(Refill(self.refills.mint(), *about))

    @read
    def list_refills(
        self, patient_id: PatientId | None = None, status: RefillStatus | None = None, limit: Limit = 10, offset: Offset = 0
    ) -> Page[Refill]:
        """List refills, newest first: of a patient, or those that are ordered, ready or collected."""
        found = self.refills.where(**given(patient_id=patient_id, status=status))
        return page(newest(found, lambda r: r.ordered), limit, Refill, offset)

    @write
    def hand_over_refill(self, refill_id: RefillId) -> Refill:
        """Give a patient a refill that is ready."""
        refill = self.refills.get(refill_id)
        not_yet = f"{refill_id} is {refill.status}, to be delivered at {refill.delivery}: wait until it is ready"
        require(refill.status != "ordered", "failed_precondition", not_yet)
        require(refill.status == "ready", "failed_precondition", f"{refill_id} is {refill.status} already")
        return self.refills.update(refill_id, status="collected")

    # --- as time passes

    def due(self) -> Moment | None:
        """When the next appointment is over, a refill comes, a referral expires or slots are opened."""
        return min(self._moments(), default=None)

    def elapse(self) -> None:
        """Appointments end, refills come, referrals expire, and the slots of one more day are opened."""
        for appointment in [a for a in self.appointments if a.coming and a.end <= self.now]:
            over = "seen" if appointment.status == "arrived" else "missed"
            self.appointments.update(appointment.appointment_id, status=over)
        for refill in self.refills.where(status="ordered"):
            if refill.delivery <= self.now:
                self.refills.update(refill.refill_id, status="ready")
        for referral in self.referrals.where(status="open"):
            if referral.good_until < self.today:
                self.referrals.update(referral.referral_id, status="expired")
        while self.diary and self._next_release() <= self.now:
            self._release()

    def _moments(self) -> Iterator[Moment]:
        yield from (a.end for a in self.appointments if a.coming)
        yield from (r.delivery for r in self.refills.where(status="ordered"))
        yield from (_midnight(r.good_until + timedelta(days=1)) for r in self.referrals.where(status="open"))
        if self.diary:
            yield self._next_release()

    def _next_release(self) -> Moment:
        return datetime.combine(self.diary.one().open_until + timedelta(days=1) - OPEN_AHEAD, RELEASED_AT, UTC)

    def _release(self) -> None:
        """Open the slots of one more day; free ones that nobody took, of the days before today, are of no use any more."""
        day = self.diary.one().open_until + timedelta(days=1)
        self.diary.update("DIARY", open_until=day)
        for slot in [s for s in self.slots.where(taken=False) if s.start.date() < (day - OPEN_AHEAD)]:
            self.slots.remove(slot.slot_id)
        if day.weekday() < 5:
            for who in self.practitioners:
                for hour in HOURS:
                    start = datetime.combine(day, hour, UTC)
                    self.slots.add(Slot(self.slots.mint(), who.practitioner_id, f"{hour:%H:%M}", start, MINUTES[who.specialty]))

    # --- rules

    def _specialty(self, practitioner_id: PractitionerId) -> Specialty:
        return self.practitioners.get(practitioner_id).specialty

    def _is_general(self, appointment: Appointment) -> bool:
        return self._specialty(appointment.practitioner_id) == "general_practice"

    def _free(self, slot_id: SlotId) -> Slot:
        slot = self.slots.get(slot_id)
        require(slot.start > self.now, "failed_precondition", f"{slot_id} began at {slot.start}: choose a later one")
        require(not slot.taken, "conflict", f"{slot_id} is taken: choose a free one")
        return slot

    def _booked(self, appointment_id: AppointmentId) -> Appointment:
        appointment = self.appointments.get(appointment_id)
        done = f"{appointment_id} is {appointment.status}: only booked appointments can be changed"
        require(appointment.status == "booked", "failed_precondition", done)
        return appointment

    def _refuse_clash(self, ahead: list[Appointment], slot: Slot) -> None:
        clash = ", ".join(a.appointment_id for a in ahead if a.start < slot.end and slot.start < a.end)
        require(not clash, "conflict", f"the patient has the appointment {clash} at that time: choose another slot")

    def _referral_for(self, patient_id: PatientId, specialty: Specialty) -> Referral:
        found = self.referrals.where(patient_id=patient_id, specialty=specialty, status="open")
        none = f"{patient_id} has no open referral to {specialty}: create one first, or book in general practice"
        require(found, "failed_precondition", none)
        return found[0]


def next_delivery(now: Moment) -> Moment:
    """Noon of the next working day."""
    day = now.date() + timedelta(days=1)
    while day.weekday() >= 5:
        day += timedelta(days=1)
    return datetime.combine(day, DELIVERED_AT, UTC)


def _midnight(day: Day) -> Moment:
    return datetime.combine(day, time(), UTC)
