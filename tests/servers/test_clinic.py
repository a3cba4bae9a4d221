"""The rules of the practice: slots, referrals to specialists, arrivals, prescriptions and refills."""

from datetime import timedelta
from itertools import pairwise

import pytest

from prove.servers.session import Session

PATIENT = {"name": "Imani Bauer", "born": "1990-05-08", "phone": "+14155550142"}


@pytest.fixture
def session():
    return Session.open("clinic", seed=0)


def live(session):
    return session.servers["clinic"]


def patient(session, name="Imani Bauer"):
    return session.call("register_patient", PATIENT | {"name": name}).value["patient_id"]


def openings(session, specialty="general_practice", **more):
    return session.call("find_openings", {"specialty": specialty, "limit": 50, **more}).value["items"]


def book(session, patient_id, slot_id, reason="a check-up"):
    return session.call("book_appointment", {"patient_id": patient_id, "slot_id": slot_id, "reason": reason})


def seen(session, patient_id):
    """Let a patient be seen in general practice."""
    slot = openings(session)[0]
    appointment = book(session, patient_id, slot["slot_id"]).value
    while live(session).today < live(session).appointments.get(appointment["appointment_id"]).start.date():
        session.advance(hours=12)
    assert session.call("check_in_patient", {"appointment_id": appointment["appointment_id"]}).ok
    session.advance(days=1)
    assert live(session).appointments.get(appointment["appointment_id"]).status == "seen"


def test_a_slot_is_taken_once_and_free_again_when_it_is_cancelled_or_moved(session):
    one, other = patient(session), patient(session, "Ana Diaz")
    first, second = (s["slot_id"] for s in openings(session)[:2])
    made = book(session, one, first).value["appointment_id"]
    assert book(session, other, first).code == "conflict"
    assert session.call("move_appointment", {"appointment_id": made, "slot_id": second}).value["slot_id"] == second
    assert book(session, other, first).ok
    assert session.call("cancel_appointment", {"appointment_id": made}).value["status"] == "cancelled"
    assert second in {s["slot_id"] for s in openings(session)}
    assert session.call("cancel_appointment", {"appointment_id": made}).code == "failed_precondition"


def test_nobody_is_in_two_rooms_at_once_nor_books_without_end(session):
    who = patient(session)
    found = openings(session)
    first, twin = next(pair for pair in pairwise(found) if pair[0]["start"] == pair[1]["start"])
    rest = [s for s in found if s["start"] > first["start"]]
    assert book(session, who, first["slot_id"]).ok
    assert book(session, who, twin["slot_id"]).code == "conflict"
    later = list({s["start"]: s for s in rest}.values())
    assert [book(session, who, s["slot_id"]).code for s in later[:3]] == [None, None, "resource_exhausted"]


def test_a_specialist_wants_a_referral_which_wants_a_visit(session):
    who, slot = patient(session), openings(session, "dietetics")[-1]["slot_id"]
    assert book(session, who, slot).code == "failed_precondition"
    refer = {"patient_id": who, "specialty": "dietetics"}
    assert session.call("create_referral", refer).code == "failed_precondition"
    seen(session, who)
    referral = session.call("create_referral", refer).value["referral_id"]
    assert session.call("create_referral", refer).code == "conflict"
    assert session.call("create_referral", refer | {"specialty": "cardiology", "urgency": "urgent"}).ok
    made = book(session, who, openings(session, "dietetics")[0]["slot_id"]).value
    assert made["referral_id"] == referral
    assert live(session).referrals.get(referral).status == "used"
    assert session.call("withdraw_referral", {"referral_id": referral}).code == "failed_precondition"
    session.call("cancel_appointment", {"appointment_id": made["appointment_id"]})
    assert live(session).referrals.get(referral).status == "open"
    assert session.call("withdraw_referral", {"referral_id": referral}).value["status"] == "withdrawn"


def test_a_referral_expires_after_ninety_days(session):
    who = patient(session)
    seen(session, who)
    referral = session.call("create_referral", {"patient_id": who, "specialty": "dietetics"}).value["referral_id"]
    session.advance(days=90)
    assert live(session).referrals.get(referral).status == "open"
    session.advance(days=1)
    assert live(session).referrals.get(referral).status == "expired"


def test_an_appointment_moves_only_within_its_specialty(session):
    made = book(session, patient(session), openings(session)[0]["slot_id"]).value["appointment_id"]
    other = openings(session, "cardiology")[0]["slot_id"]
    assert session.call("move_appointment", {"appointment_id": made, "slot_id": other}).code == "failed_precondition"


def test_who_does_not_come_has_missed_it_and_nobody_arrives_on_another_day(session):
    who, slot = patient(session), openings(session)[-1]
    made = book(session, who, slot["slot_id"]).value["appointment_id"]
    assert session.call("check_in_patient", {"appointment_id": made}).code == "failed_precondition"
    session.advance(days=20)
    assert live(session).appointments.get(made).status == "missed"
    assert session.call("get_patient", {"patient_id": who}).value["missed"] == 1
    another = {"appointment_id": made, "slot_id": openings(session)[0]["slot_id"]}
    assert session.call("move_appointment", another).code == "failed_precondition"


def test_slots_are_open_fourteen_days_ahead_and_none_at_the_weekend(session):
    last = live(session).today + timedelta(days=14)
    assert openings(session, since=(last + timedelta(days=1)).isoformat()) == []
    session.advance(days=7)
    found = openings(session, since=last.isoformat(), until=(last + timedelta(days=7)).isoformat())
    assert found
    assert all(s.start.weekday() < 5 for s in live(session).slots)
    assert all(s.start.date() >= live(session).today for s in live(session).slots.where(taken=False))
    swapped = {"since": last.isoformat(), "until": live(session).today.isoformat()}
    assert session.call("find_openings", swapped).code == "invalid_argument"


def test_a_refill_is_ordered_when_it_is_time_delivered_and_handed_over(session):
    held = next(p for p in live(session).prescriptions.where(status="active") if p.refills_left and p.good_until > live(session).today)
    session.advance(days=max(0, (held.last_filled + timedelta(days=held.lasts - 8) - live(session).today).days))
    order = {"prescription_id": held.prescription_id}
    if live(session).today < held.last_filled + timedelta(days=held.lasts - 7):
        assert session.call("order_refill", order).code == "failed_precondition"  # a day too early
        session.advance(days=1)
    refill = session.call("order_refill", order).value
    assert live(session).prescriptions.get(held.prescription_id).refills_left == held.refills_left - 1
    assert session.call("hand_over_refill", {"refill_id": refill["refill_id"]}).code == "failed_precondition"
    session.advance(days=4)
    assert session.call("hand_over_refill", {"refill_id": refill["refill_id"]}).value["status"] == "collected"
    assert session.call("hand_over_refill", {"refill_id": refill["refill_id"]}).code == "failed_precondition"


def test_what_is_stopped_used_up_or_over_is_not_filled(session):
    held = list(live(session).prescriptions)
    codes = {p.prescription_id: session.fork().call("order_refill", {"prescription_id": p.prescription_id}).code for p in held}
    assert {codes[p.prescription_id] for p in held if p.status == "stopped"} == {"failed_precondition"}
    fine = [p for p in held if p.status == "active" and p.good_until >= live(session).today]
    assert {codes[p.prescription_id] for p in fine if not p.refills_left} == {"resource_exhausted"}


def test_a_patient_is_taken_on_once_and_their_doctor_is_in_general_practice(session):
    who = patient(session)
    assert session.call("register_patient", PATIENT | {"name": "imani bauer"}).code == "conflict"
    specialist = live(session).practitioners.where(specialty="cardiology")[0].practitioner_id
    doctor = live(session).practitioners.where(specialty="general_practice")[0].practitioner_id
    assert session.call("update_patient", {"patient_id": who, "practitioner_id": specialist}).code == "failed_precondition"
    assert session.call("update_patient", {"patient_id": who, "practitioner_id": doctor}).value["practitioner_id"] == doctor
    assert session.call("register_patient", PATIENT | {"name": "Nobody Yet", "born": "2099-01-01"}).code == "invalid_argument"
