"""The rules of the CRM: no doubles, conversion, stages one at a time, opted-out contacts."""

from datetime import timedelta

import pytest

from prove.servers.catalog import load
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


# --- the past, and time that passes


@pytest.mark.parametrize("seed", range(25))
def test_what_has_happened_is_what_the_rules_would_have_made(seed):
    crm = Session.open("crm", seed).servers["crm"]
    assert [*load("crm").past(crm), *load("crm").invariants(crm)] == []


def test_an_open_task_on_a_closed_deal_is_found(session):
    crm = session.servers["crm"]
    task = next(a for a in crm.activities if a.status == "open" and a.deal_id)
    crm.deals.update(task.deal_id, stage="lost", lost_reason="price", close_date=crm.today)
    assert any(task.activity_id in problem for problem in load("crm").invariants(crm))


def test_a_customer_who_has_bought_nothing_is_no_past_of_a_crm(session):
    crm = session.servers["crm"]
    contact = next(c for c in crm.contacts if c.lifecycle == "lead")
    crm.contacts.update(contact.contact_id, lifecycle="customer")
    assert any(contact.contact_id in problem for problem in load("crm").past(crm))


# --- free mail providers, as in HubSpot

FREE = {"name": "Ola Berg", "company": "Bergs Bageri", "email": "ola.berg@gmail.com", "industry": "retail", "source": "website"}


def test_a_free_mail_address_makes_no_companys_domain(session):
    lead = session.call("create_lead", FREE).value["lead_id"]
    company = session.call("convert_lead", {"lead_id": lead, "deal_name": "Trial", "amount": 50000}).value["company"]
    assert (company["name"], company["domain"]) == ("Bergs Bageri", None)
    other = session.call("create_contact", {"name": "Una", "email": "una@gmail.com"}).value
    assert other["company_id"] is None


def test_two_leads_with_free_mail_addresses_make_two_companies(session):
    for name, company in (("Ola Berg", "Bergs Bageri"), ("Una Holm", "Holms Hotell")):
        told = FREE | {"name": name, "company": company, "email": f"{name.split()[0].lower()}@GMAIL.com"}
        lead = session.call("create_lead", told).value["lead_id"]
        converted = session.call("convert_lead", {"lead_id": lead, "deal_name": "Trial", "amount": 50000})
        assert converted.value["company"]["name"] == company


def test_a_company_without_a_domain_of_its_own_leaves_it_out_as_the_refusal_says(session):
    told = {"name": "Bergs Bageri", "industry": "retail"}
    refused = session.call("create_company", told | {"domain": "Gmail.com"})
    assert (refused.code, "leave it out" in refused.text) == ("invalid_argument", True)
    assert session.call("create_company", told).value["domain"] is None


def test_a_domain_is_one_domain_whatever_its_case(session):
    assert session.call("create_company", COMPANY | {"domain": "HoltFoods.example"}).value["domain"] == "holtfoods.example"
    assert session.call("create_company", COMPANY | {"name": "Holt Two"}).code == "conflict"


@pytest.mark.parametrize("name", [" Holt Foods", "HOLT  foods", "holt foods\n"])
def test_a_company_has_one_name_however_it_is_spaced(session, name):
    session.call("create_company", COMPANY)
    assert session.call("create_company", {"name": name, "industry": "retail"}).code == "conflict"


# --- contacts who move


def test_open_deals_of_a_contact_who_moves_stay_with_the_company_and_go_to_a_colleague(session):
    deal_id, contact = deal(session)
    colleague = session.call("create_contact", {"name": "Rasmus Holt", "email": "rasmus@holtfoods.example"}).value["contact_id"]
    company = session.call("get_contact", {"contact_id": contact}).value["contact"]["company_id"]
    elsewhere = session.call("create_company", {"name": "Prado Arquitetos", "industry": "construction"}).value["company_id"]
    session.call("update_contact", {"contact_id": contact, "company_id": elsewhere})
    assert session.call("get_contact", {"contact_id": contact}).value["open_deals"] == []
    card = session.call("get_contact", {"contact_id": colleague}).value
    assert (card["open_deals"], card["contact"]["lifecycle"]) == ([deal_id], "opportunity")
    assert [d["deal_id"] for d in session.call("list_deals", {"company_id": company}).value["items"]] == [deal_id]


def test_a_deal_whose_only_contact_moves_can_still_be_won(session):
    deal_id, contact = deal(session)
    elsewhere = session.call("create_company", {"name": "Prado Arquitetos", "industry": "construction"}).value["company_id"]
    session.call("update_contact", {"contact_id": contact, "company_id": elsewhere})
    assert session.call("list_deals", {"query": "Trial", "stage": "qualification"}).value["items"][0]["contact_id"] is None
    for stage in ("discovery", "proposal", "negotiation", "won"):
        assert move(session, deal_id, stage).value["stage"] == stage
    assert session.call("get_contact", {"contact_id": contact}).value["contact"]["lifecycle"] == "opportunity"


def test_closed_deals_stay_with_whom_they_were_made(session):
    deal_id, contact = deal(session)
    move(session, deal_id, "lost", lost_reason="price")
    elsewhere = session.call("create_company", {"name": "Prado Arquitetos", "industry": "construction"}).value["company_id"]
    session.call("update_contact", {"contact_id": contact, "company_id": elsewhere})
    assert session.call("list_deals", {"query": "Trial", "stage": "lost"}).value["items"][0]["contact_id"] == contact


# --- tasks that come to nothing


def task(session, contact, **more):
    wanted = {"contact_id": contact, "kind": "call", "subject": "renewal", "due_date": ahead(session, 3), **more}
    return session.call("create_task", wanted)


@pytest.mark.parametrize("how", ["lost", "won"])
def test_what_was_to_do_for_a_deal_is_cancelled_when_it_closes(session, how):
    deal_id, contact = deal(session)
    about, other = (task(session, contact, **more).value["activity_id"] for more in ({"deal_id": deal_id}, {}))
    if how == "lost":
        move(session, deal_id, "lost", lost_reason="price")
    else:
        for stage in ("discovery", "proposal", "negotiation", "won"):
            move(session, deal_id, stage)
    assert session.call("get_contact", {"contact_id": contact}).value["open_tasks"] == [other]
    listed = session.call("list_activities", {"contact_id": contact, "status": "cancelled"}).value["items"]
    assert [a["activity_id"] for a in listed] == [about]
    refused = task(session, contact, deal_id=deal_id)
    assert (refused.code, "leave it out" in refused.text) == ("failed_precondition", True)
    assert task(session, contact).ok


def test_nothing_stays_planned_with_a_contact_who_opts_out(session):
    contact = session.call("create_contact", CONTACT).value["contact_id"]
    planned = task(session, contact).value["activity_id"]
    session.call("update_contact", {"contact_id": contact, "opted_out": True})
    assert session.call("get_contact", {"contact_id": contact}).value["open_tasks"] == []
    assert session.call("complete_task", {"activity_id": planned}).code == "failed_precondition"


# --- leads


def log(session, **more):
    return session.call("log_activity", {"kind": "call", "subject": "intro call", **more})


def test_a_lead_becomes_working_when_something_is_logged_with_it(session):
    lead = session.call("create_lead", FREE).value
    assert lead["status"] == "new"
    logged = log(session, lead_id=lead["lead_id"], notes="asked for a price").value
    assert (logged["lead_id"], logged["contact_id"]) == (lead["lead_id"], None)
    found = session.call("search_leads", {"query": "Ola Berg", "status": "working"}).value["items"]
    assert [x["lead_id"] for x in found] == [lead["lead_id"]]
    assert session.call("list_activities", {"query": "ola berg"}).value["items"] == [logged]


@pytest.mark.parametrize("steps", [1, 30])
def test_a_lead_with_whom_nothing_happens_for_ninety_days_is_given_up(session, steps):
    lead = session.call("create_lead", FREE).value["lead_id"]

    def status():
        return session.servers["crm"].leads.get(lead).status

    session.advance(days=30)
    log(session, lead_id=lead)
    for _ in range(steps):
        session.advance(days=89.5 / steps)
    assert status() == "working"
    session.advance(days=0.5)
    assert status() == "unqualified"


def test_a_lead_that_was_given_up_converts_after_something_is_logged_as_the_refusal_says(session):
    lead = {"lead_id": session.call("create_lead", FREE).value["lead_id"]}
    session.advance(days=90)
    wanted = lead | {"deal_name": "Trial", "amount": 50000}
    refused = session.call("convert_lead", wanted)
    assert (refused.code, "log an activity with the lead first" in refused.text) == ("failed_precondition", True)
    assert log(session, **lead).ok
    assert session.call("convert_lead", wanted).ok


def test_an_activity_is_with_a_contact_or_with_a_lead(session):
    contact, lead = session.call("create_contact", CONTACT).value["contact_id"], session.call("create_lead", FREE).value["lead_id"]
    assert log(session).code == "invalid_argument"
    assert log(session, contact_id=contact, lead_id=lead).code == "invalid_argument"
    assert log(session, contact_id=contact).ok
    assert log(session, lead_id=lead).ok


def test_what_happened_with_a_converted_lead_is_logged_with_the_contact_that_the_refusal_names(session):
    lead = session.call("create_lead", FREE).value["lead_id"]
    contact = session.call("convert_lead", {"lead_id": lead, "deal_name": "Trial", "amount": 50000}).value["contact"]["contact_id"]
    refused = log(session, lead_id=lead)
    assert (refused.code, contact in refused.text) == ("failed_precondition", True)
    assert log(session, contact_id=contact).ok


def test_somebody_who_is_a_lead_becomes_a_contact_by_converting_as_the_refusal_says(session):
    lead = session.call("create_lead", FREE).value["lead_id"]
    refused = session.call("create_contact", {"name": "Ola Berg", "email": "OLA.BERG@gmail.com"})
    assert (refused.code, lead in refused.text) == ("conflict", True)
    contact = session.call("create_contact", CONTACT).value["contact_id"]
    assert session.call("update_contact", {"contact_id": contact, "email": FREE["email"]}).code == "conflict"
    assert session.call("create_lead", FREE).code == "conflict"
    assert session.call("convert_lead", {"lead_id": lead, "deal_name": "Trial", "amount": 50000}).ok


# --- deals


def test_who_puts_a_deal_down_as_lost_without_a_reason_is_told_to_give_one(session):
    deal_id, _ = deal(session)
    assert "give the lost_reason" in move(session, deal_id, "lost").text
    assert "leave it out" in move(session, deal_id, "discovery", lost_reason="price").text
    assert move(session, deal_id, "discovery").ok
    assert move(session, deal_id, "lost", lost_reason="price").ok


def test_a_deal_that_is_closed_is_opened_anew(session):
    deal_id, contact = deal(session)
    move(session, deal_id, "lost", lost_reason="price")
    assert "open a new one" in move(session, deal_id, "discovery").text
    wanted = {"contact_id": contact, "name": "Trial", "amount": 50000, "close_date": ahead(session, 10)}
    assert session.call("create_deal", wanted).ok


@pytest.mark.parametrize("name", ["TRIAL", " trial "])
def test_a_company_has_one_open_deal_of_a_name_whatever_its_case(session, name):
    _, contact = deal(session)
    wanted = {"contact_id": contact, "name": name, "amount": 50000, "close_date": ahead(session, 10)}
    assert session.call("create_deal", wanted).code == "conflict"
    assert session.call("create_deal", wanted | {"name": "Another"}).ok


def test_deals_that_close_by_a_day_are_open_ones_unless_a_stage_is_named(session):
    day = {"closing_by": ahead(session, 30), "limit": 50}
    assert {d["stage"] for d in session.call("list_deals", day).value["items"]} <= {"qualification", "discovery", "proposal", "negotiation"}
    assert {d["stage"] for d in session.call("list_deals", day | {"stage": "won"}).value["items"]} == {"won"}


def test_an_activity_with_a_contact_is_on_their_newest_open_deal(session):
    deal_id, contact = deal(session)
    assert log(session, contact_id=contact).value["deal_id"] == deal_id
    move(session, deal_id, "lost", lost_reason="price")
    assert log(session, contact_id=contact).value["deal_id"] is None


# --- lists and days


def test_activities_come_latest_first_the_last_logged_first_among_those_of_one_day(session):
    contact = session.call("create_contact", CONTACT).value["contact_id"]
    first, second, older = (log(session, contact_id=contact, day=ahead(session, d)).value["activity_id"] for d in (0, 0, -3))
    listed = session.call("list_activities", {"contact_id": contact}).value["items"]
    assert [a["activity_id"] for a in listed] == [second, first, older]


@pytest.mark.parametrize("tool", ["search_contacts", "list_activities"])
def test_whatever_is_counted_can_be_reached(session, tool):
    total = session.call(tool, {"limit": 1}).value["total"]
    pages = [session.call(tool, {"limit": 50, "offset": offset}).value["items"] for offset in range(0, total, 50)]
    keys = [next(iter(item.values())) for items in pages for item in items]
    assert len(keys) == len(set(keys)) == total > 50


def test_what_happened_too_long_ago_is_logged_from_the_day_on_that_the_refusal_names(session):
    contact = session.call("create_contact", CONTACT).value["contact_id"]
    refused = log(session, contact_id=contact, day="1950-01-01")
    assert refused.code == "invalid_argument"
    assert log(session, contact_id=contact, day=refused.text.split("a day from ")[1][:10]).ok


def test_a_company_that_is_not_there_is_not_found_where_it_filters_too(session):
    for tool in ("search_contacts", "list_deals"):
        assert session.call(tool, {"company_id": "COM-9"}).code == "not_found"


# --- leads, domains and working days


def test_what_happened_with_a_lead_is_found_with_the_contact_it_becomes(session):
    lead = session.call("create_lead", FREE).value["lead_id"]
    call = log(session, lead_id=lead).value["activity_id"]
    contact = session.call("convert_lead", {"lead_id": lead, "deal_name": "Ovens", "amount": 90000}).value["contact"]["contact_id"]
    assert [a["activity_id"] for a in session.call("list_activities", {"contact_id": contact}).value["items"]] == [call]
    assert session.call("get_contact", {"contact_id": contact}).value["last_activity"] == ahead(session, 0)


@pytest.mark.parametrize("provider", ["me.com", "msn.com", "yahoo.co.uk", "hotmail.fr", "outlook.de", "t-online.de"])
def test_a_free_mail_provider_is_no_company_in_any_country(session, provider):
    lead = session.call("create_lead", FREE | {"email": f"ola@{provider}"}).value["lead_id"]
    company = session.call("convert_lead", {"lead_id": lead, "deal_name": "Ovens", "amount": 90000}).value["company"]
    assert company["domain"] is None
    assert session.call("create_company", COMPANY | {"domain": provider}).code == "invalid_argument"


def test_a_domain_that_only_begins_like_a_providers_is_a_companys_own(session):
    assert session.call("create_company", COMPANY | {"domain": "live.nation.example"}).value["domain"] == "live.nation.example"


def test_the_www_of_a_page_is_no_part_of_a_companys_domain(session):
    made = session.call("create_company", COMPANY | {"domain": "www.holtfoods.example"}).value
    assert made["domain"] == "holtfoods.example"
    assert session.call("create_contact", CONTACT).value["company_id"] == made["company_id"]
    assert session.call("create_company", COMPANY | {"name": "Holt"}).code == "conflict"


@pytest.mark.parametrize("seed", [11, 12, 13, 14])
def test_nothing_happened_with_a_firm_and_no_deal_was_closed_on_a_weekend(seed):
    crm = Session.open("crm", seed).servers["crm"]
    days = [a.day for a in crm.activities] + [d.close_date for d in crm.deals] + [x.touched for x in crm.leads]
    assert {day.weekday() for day in days} == {0, 1, 2, 3, 4}


@pytest.mark.parametrize(("domain", "taken"), [("acme-tools.co.uk", True), ("acme.example", True), ("-.-", False), ("a..com", False)])
def test_a_domain_is_one_that_can_be_registered(domain, taken):
    made = Session.open("crm", 0).call("create_company", {"name": "Acme Tools", "industry": "retail", "domain": domain})
    assert made.ok == taken, made.text
