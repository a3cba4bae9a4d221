"""What must hold in a CRM after every call."""

from collections import Counter
from collections.abc import Iterator

from servers.crm.tools import LIFECYCLE, STAGES, Crm, Deal


def invariants(crm: Crm) -> Iterator[str]:
    for email, count in Counter(c.email.casefold() for c in crm.contacts).items():
        if count > 1:
            yield f"{count} contacts have the address {email}"
    for domain, count in Counter(c.domain for c in crm.companies).items():
        if count > 1:
            yield f"{count} companies have the domain {domain}"
    for contact in crm.contacts:
        if contact.company_id and contact.company_id not in crm.companies:
            yield f"{contact.contact_id} is with a company that is not there"
    for deal in crm.deals:
        yield from _wrong_with(crm, deal)
    for (company, name), count in Counter((d.company_id, d.name) for d in crm.deals if d.stage in STAGES[:-1]).items():
        if count > 1:
            yield f"{company} has {count} open deals called {name!r}"
    for activity in crm.activities:
        if activity.contact_id not in crm.contacts or (activity.deal_id and activity.deal_id not in crm.deals):
            yield f"{activity.activity_id} is about somebody or something that is not there"
        if activity.status == "done" and activity.day > crm.today:
            yield f"{activity.activity_id} is done before it happened"


def _wrong_with(crm: Crm, deal: Deal) -> Iterator[str]:
    if deal.company_id not in crm.companies:
        yield f"{deal.deal_id} is with a company that is not there"
    if (deal.stage == "lost") != bool(deal.lost_reason):
        yield f"{deal.deal_id} is {deal.stage} with reason {deal.lost_reason}"
    if deal.stage in ("won", "lost") and deal.close_date > crm.today:
        yield f"{deal.deal_id} is {deal.stage} and closes in the future"
    least = {"won": "customer", "lost": "lead"}.get(deal.stage, "opportunity")
    if LIFECYCLE.index(crm.contacts.get(deal.contact_id).lifecycle) < LIFECYCLE.index(least):
        yield f"{deal.contact_id} has the deal {deal.deal_id}, {deal.stage}, and is not yet a {least}"
