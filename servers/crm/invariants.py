"""What must hold in a CRM after every call, and what a past that its rules have made looks like."""

from collections import Counter
from collections.abc import Iterator

from .records import LIFECYCLE, Activity, Deal, Lead
from .tools import GOES_COLD, Crm, is_free_mail


def invariants(crm: Crm) -> Iterator[str]:
    people = [c.email for c in crm.contacts] + [x.email for x in crm.leads if x.open]
    yield from (f"{count} contacts or leads have the address {email}" for email, count in Counter(people).items() if count > 1)
    domains = Counter(c.domain for c in crm.companies if c.domain)
    yield from (f"{count} companies have the domain {domain}" for domain, count in domains.items() if count > 1)
    yield from (f"{domain} is taken for a company's own" for domain in domains if is_free_mail(domain))
    for contact in crm.contacts:
        if contact.company_id and contact.company_id not in crm.companies:
            yield f"{contact.contact_id} is with a company that is not there"
    for deal in crm.deals:
        yield from _wrong_with(crm, deal)
    for (company, name), count in Counter((d.company_id, d.name.casefold()) for d in crm.deals if d.open).items():
        if count > 1:
            yield f"{company} has {count} open deals called {name!r}"
    yield from (f"{domain} begins like a page, not like an address" for domain in domains if domain.startswith("www."))
    for activity in crm.activities:
        yield from _wrong_with_activity(crm, activity)


def _wrong_with(crm: Crm, deal: Deal) -> Iterator[str]:
    if deal.company_id not in crm.companies:
        yield f"{deal.deal_id} is with a company that is not there"
    if (deal.stage == "lost") != bool(deal.lost_reason):
        yield f"{deal.deal_id} is {deal.stage} with reason {deal.lost_reason}"
    if not deal.open and deal.close_date > crm.today:
        yield f"{deal.deal_id} is {deal.stage} and closes in the future"
    if deal.contact_id is None:
        return
    contact, least = crm.contacts.get(deal.contact_id), "customer" if deal.stage == "won" else "opportunity"
    if LIFECYCLE.index(contact.lifecycle) < LIFECYCLE.index(least):
        yield f"{deal.contact_id} has the deal {deal.deal_id}, {deal.stage}, and is not yet a {least}"
    if deal.open and contact.company_id != deal.company_id:
        yield f"{deal.deal_id} is open with {deal.company_id}, and {deal.contact_id} is with {contact.company_id}"


def _wrong_with_activity(crm: Crm, activity: Activity) -> Iterator[str]:
    key = activity.activity_id
    if (activity.contact_id is None) == (activity.lead_id is None):
        yield f"{key} is with nobody, or with a contact and a lead"
    if activity.lead_id and crm.leads.get(activity.lead_id).status == "converted":
        yield f"{key} stayed with {activity.lead_id}, who is a contact by now"
    if activity.status != "open" and activity.day > crm.today:
        yield f"{key} is {activity.status} before it happened"
    if activity.status != "open" or activity.contact_id is None:
        return
    contact = crm.contacts.get(activity.contact_id)
    if contact.opted_out:
        yield f"{key} is planned with {contact.contact_id}, who has opted out"
    if activity.deal_id and not crm.deals.get(activity.deal_id).open:
        yield f"{key} is still to do for {activity.deal_id}, which is closed"
    if activity.deal_id and crm.deals.get(activity.deal_id).company_id != contact.company_id:
        yield f"{key} is with {contact.contact_id} about {activity.deal_id}, which is with another company"


def past(crm: Crm) -> Iterator[str]:
    worked = {a.lead_id for a in crm.activities if a.lead_id}
    for lead in crm.leads:
        yield from _never_came(crm, lead, lead.lead_id in worked)
    for activity in crm.activities.where(status="done"):
        deal = crm.deals.get(activity.deal_id) if activity.deal_id else None
        if deal and not deal.open and activity.day > deal.close_date:
            yield f"{activity.activity_id} was done for {deal.deal_id} after it closed"
    for contact in crm.contacts.where(lifecycle="customer"):
        if not crm.deals.where(contact_id=contact.contact_id, stage="won"):
            yield f"{contact.contact_id} is a customer, and has bought nothing"


def _never_came(crm: Crm, lead: Lead, worked: bool) -> Iterator[str]:
    if lead.touched > crm.today:
        yield f"{lead.lead_id} was touched in the future"
    if (lead.status == "converted") != (lead.contact_id is not None):
        yield f"{lead.lead_id} is {lead.status}, and its contact is {lead.contact_id}"
    if lead.contact_id and crm.contacts.get(lead.contact_id).lifecycle == "lead":
        yield f"{lead.lead_id} was converted without a deal"
    if lead.status in ("new", "working") and (lead.status == "working") != worked:
        yield f"{lead.lead_id} is {lead.status}, and something was logged: {worked}"
    if lead.status != "converted" and (lead.status == "unqualified") != (lead.touched + GOES_COLD <= crm.today):
        yield f"{lead.lead_id} is {lead.status}, and was last touched on {lead.touched}"
    days = [a.day for a in crm.activities.where(lead_id=lead.lead_id)]
    if days and max(days) > lead.touched:
        yield f"{lead.lead_id} was touched on {lead.touched}, and something happened on {max(days)}"
