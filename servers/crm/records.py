"""Who is in the CRM: ids, named types, companies, contacts, leads, deals and activities, and what the tools show of them."""

from typing import Annotated, Literal, NewType

from prove.servers import Caseless, Cents, Day, EmailAddress, Meta, PersonName, Record

ContactId = NewType("ContactId", str)
CompanyId = NewType("CompanyId", str)
LeadId = NewType("LeadId", str)
DealId = NewType("DealId", str)
ActivityId = NewType("ActivityId", str)

CompanyName = Annotated[str, Meta(min_length=2, max_length=80, description="a company's name")]
WebDomain = Annotated[
    Caseless[str],
    Meta(
        pattern=r"^[A-Za-z0-9]+([.-][A-Za-z0-9]+)*\.[A-Za-z]{2,24}$",
        max_length=253,
        description="a company's internet domain, such as acme.com",
    ),
]
Industry = Annotated[
    Literal["software", "manufacturing", "retail", "healthcare", "logistics", "education", "construction", "hospitality"],
    Meta(description="the line of business a company is in"),
]
City = Annotated[str, Meta(min_length=2, max_length=80, description="the city of a company's head office")]
Phone = Annotated[str, Meta(pattern=r"^\+\d{8,15}$", description="a phone number with its country code, digits only: +14155550123")]
JobTitle = Annotated[str, Meta(min_length=2, max_length=60, description="what a person does at their company")]
Lifecycle = Annotated[
    Literal["lead", "opportunity", "customer"],
    Meta(description="how far a contact has come: a deal makes an opportunity, a won one a customer"),
]
OptedOut = Annotated[bool, Meta(description="whether the contact has asked not to be approached")]
LeadSource = Annotated[
    Literal["website", "referral", "trade_show", "cold_call", "webinar", "partner"], Meta(description="where a lead came from")
]
LeadStatus = Annotated[
    Literal["new", "working", "unqualified", "converted"],
    Meta(description="new until something is logged with a lead, then working; unqualified once nothing was for 90 days"),
]
DealName = Annotated[str, Meta(min_length=2, max_length=80, description="what is to be sold")]
DealValue = Annotated[Cents, Meta(description="what a deal is worth, an amount in cents")]
DealStage = Annotated[
    Literal["qualification", "discovery", "proposal", "negotiation", "won", "lost"],
    Meta(description="where a deal stands in the pipeline"),
]
LostReason = Annotated[Literal["price", "competitor", "no_budget", "no_decision", "bad_fit"], Meta(description="why a deal was lost")]
CloseDate = Annotated[Day, Meta(description="the date on which a deal is expected to close, YYYY-MM-DD")]
ActivityKind = Annotated[Literal["call", "email", "meeting", "demo"], Meta(description="how the contact is approached")]
ActivityStatus = Annotated[
    Literal["open", "done", "cancelled"],
    Meta(description="open for a task still to do, done for what has happened, cancelled for a task that came to nothing"),
]
Subject = Annotated[str, Meta(min_length=2, max_length=100, description="what an activity is about")]
Notes = Annotated[str, Meta(max_length=1000, description="what was said or agreed")]
DueDate = Annotated[Day, Meta(description="the date by which a task is to be done, YYYY-MM-DD")]

STAGES: tuple[DealStage, ...] = ("qualification", "discovery", "proposal", "negotiation", "won")
LIFECYCLE: tuple[Lifecycle, ...] = ("lead", "opportunity", "customer")


class Representative(Record):
    representative_id: str
    name: PersonName


class Company(Record):
    company_id: CompanyId
    name: CompanyName
    domain: WebDomain | None  # none for those who write from a free mail provider
    industry: Industry
    city: City | None = None


class Contact(Record):
    contact_id: ContactId
    name: PersonName
    email: EmailAddress
    job_title: JobTitle | None = None
    phone: Phone | None = None
    company_id: CompanyId | None = None
    lifecycle: Lifecycle = "lead"
    opted_out: OptedOut = False


class Lead(Record):
    lead_id: LeadId
    name: PersonName
    company: CompanyName
    email: EmailAddress
    industry: Industry
    source: LeadSource
    touched: Day  # when they were noted down, or something last happened
    status: LeadStatus = "new"
    contact_id: ContactId | None = None  # whom a converted one has become

    @property
    def open(self) -> bool:
        return self.status in ("new", "working")


class Deal(Record):
    deal_id: DealId
    name: DealName
    company_id: CompanyId
    contact_id: ContactId | None  # none once nobody of the company is known any more
    amount: DealValue
    close_date: CloseDate
    owner: PersonName
    stage: DealStage = "qualification"
    lost_reason: LostReason | None = None

    @property
    def open(self) -> bool:
        return self.stage not in ("won", "lost")


class Activity(Record):
    activity_id: ActivityId
    contact_id: ContactId | None  # or else a lead
    kind: ActivityKind
    subject: Subject
    day: Day  # when it happened, or by when it is to be done
    status: ActivityStatus
    owner: PersonName
    notes: Notes = ""
    deal_id: DealId | None = None
    lead_id: LeadId | None = None


class ContactLine(Record):
    contact_id: ContactId
    name: PersonName
    job_title: JobTitle | None
    company_id: CompanyId | None


class ContactCard(Record):
    contact: Contact
    open_deals: list[DealId]
    open_tasks: list[ActivityId]
    last_activity: Day | None


class Conversion(Record):
    lead: Lead
    contact: Contact
    company: Company
    deal: Deal
