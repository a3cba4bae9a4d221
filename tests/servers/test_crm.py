"""The rules of the CRM: no doubles, conversion, stages one at a time, opted-out contacts."""

from datetime import timedelta

import pytest

from prove.servers.session import Session

COMPANY = {"name": "Holt Foods", "domain": "holtfoods.example", "industry": "retail"}
CONTACT = {"name": "Imani Bauer", "email": "imani@holtfoods.example"}


@pytest.fixture
def session():
    return Session.open("crm", seed=0)


def ahead(session, days):
    return (session.servers["crm"].today + timedelta(days=days)).isoformat()


def deal(session):
    """The id of a fresh deal of a fresh contact, who comes with it."""
    session.call("create_company", COMPANY)
    contact = session.call("create_contact", CONTACT).value["contact_id"]
    wanted = {"contact_id": contact, "name": "Trial", "amount": 50000, "close_date": ahead(session, 10)}
    return session.call("create_deal", wanted).value["deal_id"], contact


def move(session, deal_id, stage, **more):
    return session.call("update_deal_stage", {"deal_id": deal_id, "stage": stage, **more})


def test_a_contact_joins_the_company_whose_domain_their_address_has(session):
    company = session.call("create_company", COMPANY).value["company_id"]
    assert session.call("create_contact", CONTACT).value["company_id"] == company
    assert session.call("create_contact", {"name": "Nobody", "email": "n@elsewhere.example"}).value["company_id"] is None


def test_an_address_or_a_domain_is_taken_once_whatever_its_case(session):
    session.call("create_company", COMPANY)
    session.call("create_contact", CONTACT)
    assert session.call("create_contact", CONTACT | {"email": "IMANI@holtfoods.example"}).code == "conflict"
    assert session.call("create_company", COMPANY | {"name": "Holt Foods Two"}).code == "conflict"
    assert session.call("create_company", COMPANY | {"domain": "other.example"}).code == "conflict"


def test_a_deal_needs_a_contact_with_a_company(session):
    company = session.call("create_company", COMPANY).value["company_id"]
    loner = session.call("create_contact", {"name": "Nobody", "email": "n@elsewhere.example"}).value["contact_id"]
    wanted = {"contact_id": loner, "name": "Trial", "amount": 50000, "close_date": ahead(session, 10)}
    assert session.call("create_deal", wanted).code == "failed_precondition"
    session.call("update_contact", {"contact_id": loner, "company_id": company})
    assert session.call("create_deal", wanted).value["company_id"] == company
    assert session.call("create_deal", wanted).code == "conflict"


def test_a_converted_lead_becomes_a_contact_with_a_company_and_a_deal(session):
    told = {"name": "Imani Bauer", "company": "Holt Foods", "email": "imani@holtfoods.example", "industry": "retail", "source": "referral"}
    lead = session.call("create_lead", told).value["lead_id"]
    converted = session.call("convert_lead", {"lead_id": lead, "deal_name": "Trial", "amount": 50000}).value
    assert converted["lead"]["status"] == "converted"
    assert converted["company"]["domain"] == "holtfoods.example"
    assert converted["contact"]["lifecycle"] == "opportunity"
    assert converted["deal"]["close_date"] == ahead(session, 30)
    assert session.call("convert_lead", {"lead_id": lead, "deal_name": "Again", "amount": 1}).code == "failed_precondition"


def test_a_lead_of_a_known_company_converts_only_into_that_company(session):
    company = session.call("create_company", COMPANY).value["company_id"]
    told = {"name": "Ola", "company": "Holt Foods", "email": "ola@holtfoods.example", "industry": "retail", "source": "website"}
    lead = {"lead_id": session.call("create_lead", told).value["lead_id"], "deal_name": "Trial", "amount": 50000}
    refused = session.call("convert_lead", lead)
    assert (refused.code, company in refused.text) == ("conflict", True)
    assert session.call("convert_lead", lead | {"company_id": company}).value["company"]["company_id"] == company


def test_a_deal_moves_one_stage_at_a_time_and_a_won_one_makes_a_customer(session):
    deal_id, contact = deal(session)
    assert move(session, deal_id, "proposal").code == "failed_precondition"
    for stage in ("discovery", "proposal", "discovery", "proposal", "negotiation", "won"):
        assert move(session, deal_id, stage).value["stage"] == stage
    assert session.call("get_contact", {"contact_id": contact}).value["contact"]["lifecycle"] == "customer"
    assert move(session, deal_id, "negotiation").code == "failed_precondition"


def test_a_lost_deal_has_a_reason_and_only_a_lost_one(session):
    deal_id, _ = deal(session)
    assert move(session, deal_id, "lost").code == "invalid_argument"
    assert move(session, deal_id, "discovery", lost_reason="price").code == "invalid_argument"
    assert move(session, deal_id, "lost", lost_reason="price").value["close_date"] == ahead(session, 0)


def test_nothing_is_planned_with_a_contact_who_opted_out(session):
    contact = session.call("create_contact", CONTACT).value["contact_id"]
    session.call("update_contact", {"contact_id": contact, "opted_out": True})
    task = {"contact_id": contact, "kind": "call", "subject": "renewal", "due_date": ahead(session, 3)}
    assert session.call("create_task", task).code == "failed_precondition"
    session.call("update_contact", {"contact_id": contact, "opted_out": False})
    assert session.call("create_task", task).value["status"] == "open"


def test_a_completed_task_is_an_activity_of_that_day(session):
    contact = session.call("create_contact", CONTACT).value["contact_id"]
    task = {"contact_id": contact, "kind": "call", "subject": "renewal", "due_date": ahead(session, 3)}
    activity = session.call("create_task", task).value["activity_id"]
    assert session.call("complete_task", {"activity_id": activity, "notes": "agreed"}).value["day"] == ahead(session, 0)
    assert session.call("get_contact", {"contact_id": contact}).value["last_activity"] == ahead(session, 0)
    assert session.call("complete_task", {"activity_id": activity}).code == "failed_precondition"
