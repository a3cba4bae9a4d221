"""A sales CRM for one signed-in representative. A task is an activity still open; a deal moves one stage at a time."""

from datetime import timedelta
from typing import Annotated, Literal, NewType

from prove.servers import (
    Cents,
    Day,
    EmailAddress,
    Limit,
    Meta,
    Page,
    PersonName,
    Query,
    Record,
    Server,
    given,
    matches,
    page,
    read,
    require,
    some_given,
    table,
    write,
)

ContactId = NewType("ContactId", str)
CompanyId = NewType("CompanyId", str)
LeadId = NewType("LeadId", str)
DealId = NewType("DealId", str)
ActivityId = NewType("ActivityId", str)

CompanyName = Annotated[str, Meta(min_length=2, max_length=80, description="a company's name")]
WebDomain = Annotated[str, Meta(pattern=r"^[a-z0-9-]+(\.[a-z0-9-]+)+$", description="a company's internet domain, such as acme.com")]
Industry = Annotated[
    Literal["software", "manufacturing", "retail", "healthcare", "logistics", "education", "construction", "hospitality"],
    Meta(description="the line of business a company is in"),
]
City = Annotated[str, Meta(min_length=2, description="the city of a company's head office")]
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
LeadStatus = Annotated[Literal["new", "working", "unqualified", "converted"], Meta(description="what has become of a lead")]
DealName = Annotated[str, Meta(min_length=2, max_length=80, description="what is to be sold")]
DealValue = Annotated[Cents, Meta(description="what a deal is worth, an amount in cents")]
DealStage = Annotated[
    Literal["qualification", "discovery", "proposal", "negotiation", "won", "lost"],
    Meta(description="where a deal stands in the pipeline"),
]
LostReason = Annotated[Literal["price", "competitor", "no_budget", "no_decision", "bad_fit"], Meta(description="why a deal was lost")]
CloseDate = Annotated[Day, Meta(description="the date on which a deal is expected to close, YYYY-MM-DD")]
ActivityKind = Annotated[Literal["call", "email", "meeting", "demo"], Meta(description="how the contact is approached")]
ActivityStatus = Annotated[Literal["open", "done"], Meta(description="open for a task still to do, done for what has happened")]
Subject = Annotated[str, Meta(min_length=2, max_length=100, description="what an activity is about")]
Notes = Annotated[str, Meta(max_length=1000, description="what was said or agreed")]
DueDate = Annotated[Day, Meta(description="the date by which a task is to be done, YYYY-MM-DD")]

STAGES: tuple[DealStage, ...] = ("qualification", "discovery", "proposal", "negotiation", "won")
LIFECYCLE: tuple[Lifecycle, ...] = ("lead", "opportunity", "customer")
USUAL_CYCLE = timedelta(days=30)  # from a converted lead to the expected close


class Representative(Record):
    representative_id: str
    name: PersonName


class Company(Record):
    company_id: CompanyId
    name: CompanyName
    domain: WebDomain
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
    status: LeadStatus = "new"


class Deal(Record):
    deal_id: DealId
    name: DealName
    company_id: CompanyId
    contact_id: ContactId
    amount: DealValue
    close_date: CloseDate
    owner: PersonName
    stage: DealStage = "qualification"
    lost_reason: LostReason | None = None


class Activity(Record):
    activity_id: ActivityId
    contact_id: ContactId
    kind: ActivityKind
    subject: Subject
    day: Day  # when it happened, or by when it is to be done
    status: ActivityStatus
    owner: PersonName
    notes: Notes = ""
    deal_id: DealId | None = None


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


class Crm(Server):
    """Leads, contacts, companies, deals and activities of one sales representative."""

    category = "Knowledge"

    representatives = table(Representative)
    companies = table(Company, "COM-{}", start=1001)
    contacts = table(Contact, "CON-{}", start=2001)
    leads = table(Lead, "LEA-{}", start=501)
    deals = table(Deal, "DEA-{}", start=301)
    activities = table(Activity, "ACT-{}", start=7001)

    # --- contacts and companies

    @read
    def search_contacts(
        self, query: Query | None = None, company_id: CompanyId | None = None, lifecycle: Lifecycle | None = None, limit: Limit = 10
    ) -> Page[ContactLine]:
        """Find contacts by name, job title or email, of one company or at one point of their life cycle."""
        among = self.contacts.where(company_id=self.companies.get(company_id).company_id) if company_id else self.contacts
        found = [c for c in among if lifecycle in (None, c.lifecycle)]
        return page((c for c in found if matches(query, c.name, c.job_title or "", c.email)), limit, ContactLine)

    @read
    def get_contact(self, contact_id: ContactId) -> ContactCard:
        """Show one contact: how to reach them, their open deals and tasks, and when something last happened."""
        contact = self.contacts.get(contact_id)
        deals = [d.deal_id for d in self.deals.where(contact_id=contact_id) if d.stage not in ("won", "lost")]
        activities = self.activities.where(contact_id=contact_id)
        tasks = [a.activity_id for a in activities if a.status == "open"]
        return ContactCard(contact, deals, tasks, max((a.day for a in activities if a.status == "done"), default=None))

    @write
    def create_contact(
        self,
        name: PersonName,
        email: EmailAddress,
        job_title: JobTitle | None = None,
        phone: Phone | None = None,
        company_id: CompanyId | None = None,
    ) -> Contact:
        """Add a contact; without a company, the one whose domain the email address has is taken."""
        self._check_new_email(email)
        known = self.companies.where(domain=_domain(email))
        company = self.companies.get(company_id) if company_id else known[0] if known else None
        made = (name, email, job_title, phone, company.company_id if company else None)
        return self.contacts.add(Contact(self.contacts.mint(), *made))

    @write(idempotent=True)
    def update_contact(
        self,
        contact_id: ContactId,
        email: EmailAddress | None = None,
        job_title: JobTitle | None = None,
        phone: Phone | None = None,
        company_id: CompanyId | None = None,
        opted_out: OptedOut | None = None,
    ) -> Contact:
        """Change what is known of a contact, or the company that they are with."""
        contact = self.contacts.get(contact_id)
        changes = some_given(email=email, job_title=job_title, phone=phone, company_id=company_id, opted_out=opted_out)
        if email and email.casefold() != contact.email.casefold():
            self._check_new_email(email)
        require(company_id is None or company_id in self.companies, "not_found", f"there is no company {company_id!r}")
        return self.contacts.update(contact_id, **changes)

    @read
    def search_companies(self, query: Query | None = None, industry: Industry | None = None, limit: Limit = 10) -> Page[Company]:
        """Find companies by name, domain or city, or by their industry."""
        found = [c for c in self.companies if industry in (None, c.industry)]
        return page((c for c in found if matches(query, c.name, c.domain, c.city or "")), limit, Company)

    @write
    def create_company(self, name: CompanyName, domain: WebDomain, industry: Industry, city: City | None = None) -> Company:
        """Add a company that is not there yet under that name or domain."""
        self._check_new_company(name, domain)
        return self.companies.add(Company(self.companies.mint(), name, domain, industry, city))

    # --- leads

    @read
    def search_leads(
        self, query: Query | None = None, status: LeadStatus | None = None, source: LeadSource | None = None, limit: Limit = 10
    ) -> Page[Lead]:
        """Find leads by name, company or email, by what has become of them or by where they came from."""
        found = [x for x in self.leads if status in (None, x.status) and source in (None, x.source)]
        return page((x for x in found if matches(query, x.name, x.company, x.email)), limit, Lead)

    @write
    def create_lead(self, name: PersonName, company: CompanyName, email: EmailAddress, industry: Industry, source: LeadSource) -> Lead:
        """Note down somebody who may want to buy and is not a contact yet."""
        self._check_new_email(email)
        known = [x.lead_id for x in self.leads if x.email.casefold() == email.casefold() and x.status != "unqualified"]
        require(not known, "conflict", f"{email} is the address of lead {', '.join(known)} already")
        return self.leads.add(Lead(self.leads.mint(), name, company, email, industry, source))

    @write
    def convert_lead(self, lead_id: LeadId, deal_name: DealName, amount: DealValue, company_id: CompanyId | None = None) -> Conversion:
        """Turn a lead into a contact with a deal, at a company that is there already if one is named, else at a new one."""
        lead = self.leads.get(lead_id)
        require(lead.status in ("new", "working"), "failed_precondition", f"{lead_id} is {lead.status}: only new or working leads convert")
        self._check_new_email(lead.email)
        company = self.companies.get(company_id) if company_id else self._company_of(lead)
        contact = Contact(ContactId(self.contacts.mint()), lead.name, lead.email, company_id=company.company_id)
        deal = self._open_deal(self.contacts.add(contact), company.company_id, deal_name, amount, self.today + USUAL_CYCLE)
        converted = self.leads.update(lead_id, status="converted")
        return Conversion(converted, self.contacts.get(contact.contact_id), company, deal)

    # --- deals

    @read
    def list_deals(
        self,
        query: Query | None = None,
        stage: DealStage | None = None,
        company_id: CompanyId | None = None,
        closing_by: CloseDate | None = None,
        limit: Limit = 10,
    ) -> Page[Deal]:
        """List deals by name, stage, company or expected close, the soonest first."""
        among = self.deals.where(company_id=self.companies.get(company_id).company_id) if company_id else self.deals
        found = [d for d in among if stage in (None, d.stage) and (closing_by is None or d.close_date <= closing_by)]
        return page(sorted((d for d in found if matches(query, d.name)), key=lambda d: d.close_date), limit, Deal)

    @write
    def create_deal(self, contact_id: ContactId, name: DealName, amount: DealValue, close_date: CloseDate) -> Deal:
        """Open a deal with a contact's company, at the first stage of the pipeline."""
        contact = self.contacts.get(contact_id)
        no_company = f"{contact_id} ({contact.name}) is with no company: update the contact with one first"
        require(contact.company_id, "failed_precondition", no_company)
        return self._open_deal(contact, CompanyId(contact.company_id or ""), name, amount, close_date)

    @write
    def update_deal_stage(self, deal_id: DealId, stage: DealStage, lost_reason: LostReason | None = None) -> Deal:
        """Move one of the representative's open deals one stage up or down, or to lost with the reason."""
        deal = self.deals.get(deal_id)
        require(deal.owner == self._me(), "permission_denied", f"{deal_id} belongs to {deal.owner}: only the owner moves a deal")
        require(deal.stage in STAGES[:-1], "failed_precondition", f"{deal_id} is {deal.stage}, and closed deals stay closed")
        require((stage == "lost") == bool(lost_reason), "invalid_argument", "lost_reason belongs to stage 'lost', and only there")
        require(stage != deal.stage, "conflict", f"{deal_id} is in {stage} already")
        if stage == "lost":
            return self.deals.update(deal_id, stage=stage, lost_reason=lost_reason, close_date=self.today)
        now = STAGES.index(deal.stage)
        neighbours = [STAGES[i] for i in (now - 1, now + 1) if i >= 0]
        require(stage in neighbours, "failed_precondition", f"from {deal.stage}, {deal_id} can move to {' or '.join(neighbours)}")
        if stage == "won":
            self._promote(deal.contact_id, "customer")
        return self.deals.update(deal_id, stage=stage, close_date=self.today if stage == "won" else deal.close_date)

    # --- activities and tasks

    @read
    def list_activities(
        self,
        contact_id: ContactId | None = None,
        deal_id: DealId | None = None,
        kind: ActivityKind | None = None,
        status: ActivityStatus | None = None,
        query: Query | None = None,
        limit: Limit = 10,
    ) -> Page[Activity]:
        """List what has happened (done) and what is still to do (open), the latest day first."""
        for rows, key in ((self.contacts, contact_id), (self.deals, deal_id)):
            require(key is None or key in rows, "not_found", f"there is no {rows.spec.noun} {key!r}")
        among = self.activities.where(**given(contact_id=contact_id, deal_id=deal_id, kind=kind, status=status))
        found = [a for a in among if matches(query, a.subject, a.notes)]
        return page(sorted(found, key=lambda a: a.day, reverse=True), limit, Activity)

    @write
    def log_activity(
        self,
        contact_id: ContactId,
        kind: ActivityKind,
        subject: Subject,
        notes: Notes = "",
        day: Day | None = None,
        deal_id: DealId | None = None,
    ) -> Activity:
        """Record a call, email, meeting or demo that took place, today unless a day is given."""
        contact, happened = self.contacts.get(contact_id), day or self.today
        require(happened <= self.today, "failed_precondition", f"{happened} is after today, {self.today}: create a task for it instead")
        self._check_deal_with(contact, deal_id)
        made = (contact_id, kind, subject, happened, "done", self._me(), notes, deal_id)
        return self.activities.add(Activity(self.activities.mint(), *made))

    @write
    def create_task(
        self, contact_id: ContactId, kind: ActivityKind, subject: Subject, due_date: DueDate, deal_id: DealId | None = None
    ) -> Activity:
        """Plan a call, email, meeting or demo with a contact, for the representative to do."""
        contact = self.contacts.get(contact_id)
        require(due_date >= self.today, "invalid_argument", f"{due_date} is before today, {self.today}: choose a later day")
        opted_out = f"{contact_id} ({contact.name}) has opted out: update the contact first if they agree again"
        require(not contact.opted_out, "failed_precondition", opted_out)
        self._check_deal_with(contact, deal_id)
        made = (contact_id, kind, subject, due_date, "open", self._me(), "", deal_id)
        return self.activities.add(Activity(self.activities.mint(), *made))

    @write
    def complete_task(self, activity_id: ActivityId, notes: Notes = "") -> Activity:
        """Mark one of the representative's tasks as done today, with what came of it."""
        task = self.activities.get(activity_id)
        require(task.owner == self._me(), "permission_denied", f"{activity_id} is a task of {task.owner}: only they can complete it")
        require(task.status == "open", "failed_precondition", f"{activity_id} is done already, since {task.day}")
        return self.activities.update(activity_id, status="done", day=self.today, notes=notes or task.notes)

    # --- rules

    def _me(self) -> PersonName:
        return self.representatives.one().name

    def _check_new_email(self, email: EmailAddress) -> None:
        known = ", ".join(c.contact_id for c in self.contacts if c.email.casefold() == email.casefold())
        require(not known, "conflict", f"{email} is the address of contact {known} already")

    def _check_new_company(self, name: CompanyName, domain: WebDomain) -> None:
        known = [c for c in self.companies if c.domain == domain or c.name.casefold() == name.casefold()]
        there = ", ".join(f"{c.company_id} ({c.name}, {c.domain})" for c in known)
        require(not known, "conflict", f"there is {there} already: use that company's id")

    def _company_of(self, lead: Lead) -> Company:
        self._check_new_company(lead.company, _domain(lead.email))
        return self.companies.add(Company(self.companies.mint(), lead.company, _domain(lead.email), lead.industry))

    def _open_deal(self, contact: Contact, company_id: CompanyId, name: DealName, amount: DealValue, close_date: CloseDate) -> Deal:
        require(close_date >= self.today, "invalid_argument", f"{close_date} is before today, {self.today}: choose a later close")
        same = [d.deal_id for d in self.deals.where(company_id=company_id, name=name) if d.stage in STAGES[:-1]]
        require(not same, "conflict", f"{company_id} has an open deal {name!r} already: {', '.join(same)}")
        self._promote(contact.contact_id, "opportunity")
        return self.deals.add(Deal(self.deals.mint(), name, company_id, contact.contact_id, amount, close_date, self._me()))

    def _promote(self, contact_id: ContactId, to: Lifecycle) -> None:
        """A contact's life cycle only goes up."""
        if LIFECYCLE.index(to) > LIFECYCLE.index(self.contacts.get(contact_id).lifecycle):
            self.contacts.update(contact_id, lifecycle=to)

    def _check_deal_with(self, contact: Contact, deal_id: DealId | None) -> None:
        fits = deal_id is None or self.deals.get(deal_id).company_id == contact.company_id
        require(fits, "invalid_argument", f"{deal_id} is not with the company of {contact.contact_id} ({contact.name}): leave it out")


def _domain(email: EmailAddress) -> WebDomain:
    return email.rpartition("@")[2].casefold()
