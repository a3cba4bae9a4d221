"""A sales CRM for one signed-in representative. A task is an activity still open; a deal moves one stage at a time."""

from datetime import UTC, datetime, time, timedelta

from prove.servers import (
    Day, EmailAddress, Limit, Moment, Offset, Page, PersonName, Query, Server, matches, newest, page, read, require, some_given, table,
    write,
)  # fmt: skip
from .records import (
    LIFECYCLE, STAGES, Activity, ActivityId, ActivityKind, ActivityStatus, City, CloseDate, Company, CompanyId, CompanyName, Contact,
    ContactCard, ContactId, ContactLine, Conversion, Deal, DealId, DealName, DealStage, DealValue, DueDate, Industry, JobTitle, Lead,
    LeadId, LeadSource, LeadStatus, Lifecycle, LostReason, Notes, OptedOut, Phone, Representative, Subject, WebDomain,
)  # fmt: skip

USUAL_CYCLE = timedelta(days=30)  # from a converted lead to the expected close
GOES_COLD = timedelta(days=90)  # for a lead with whom nothing happens
LOOKS_BACK = timedelta(days=365)  # how long ago an activity may be that is logged now
FREE_MAIL = frozenset((
    "gmail.com", "googlemail.com", "icloud.com", "me.com", "mac.com", "msn.com", "ymail.com", "rocketmail.com", "web.de", "t-online.de",
    "freenet.de", "mail.com", "mail.ru", "email.com", "proton.me", "protonmail.com", "pm.me", "zoho.com", "fastmail.com", "hey.com",
    "tutanota.com", "qq.com", "163.com", "126.com", "naver.com", "free.fr", "orange.fr", "laposte.net", "libero.it", "comcast.net",
))  # fmt: skip
FREE_MAIL_EVERYWHERE = frozenset(("aol", "gmx", "hotmail", "live", "outlook", "yahoo", "yandex"))  # yahoo.com, yahoo.co.uk, yahoo.fr


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
        self,
        query: Query | None = None,
        company_id: CompanyId | None = None,
        lifecycle: Lifecycle | None = None,
        limit: Limit = 10,
        offset: Offset = 0,
    ) -> Page[ContactLine]:
        """Find contacts by name, job title or email, of one company or at one point of their life cycle."""
        found = [c for c in self.contacts if company_id in (None, c.company_id) and lifecycle in (None, c.lifecycle)]
        return page((c for c in found if matches(query, c.name, c.job_title or "", c.email)), limit, ContactLine, offset)

    @read
    def get_contact(self, contact_id: ContactId) -> ContactCard:
        """Show one contact: how to reach them, their open deals and tasks, and when something last happened."""
        deals = [d.deal_id for d in self.deals.where(contact_id=contact_id) if d.open]
        activities = self.activities.where(contact_id=contact_id)
        tasks = [a.activity_id for a in activities if a.status == "open"]
        last = max((a.day for a in activities if a.status == "done"), default=None)
        return ContactCard(self.contacts.get(contact_id), deals, tasks, last)

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
        own = _own_domain(email)
        known = [c.company_id for c in self.companies if own and c.domain == own]
        made = (name, email, job_title, phone, company_id or (known[0] if known else None))
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
        """Change a contact; who moves to another company leaves open deals to a colleague, who opts out has no open tasks."""
        before = self.contacts.get(contact_id)
        changes = some_given(email=email, job_title=job_title, phone=phone, company_id=company_id, opted_out=opted_out)
        if email and email != before.email:
            self._check_new_email(email)
        after = self.contacts.update(contact_id, **changes)
        if before.company_id and after.company_id != before.company_id:
            self._hand_over_deals(before)
        if after.opted_out:
            self._cancel(self.activities.where(contact_id=contact_id, status="open"))
        return after

    @read
    def search_companies(
        self, query: Query | None = None, industry: Industry | None = None, limit: Limit = 10, offset: Offset = 0
    ) -> Page[Company]:
        """Find companies by name, domain or city, or by their industry."""
        found = [c for c in self.companies if industry in (None, c.industry)]
        return page((c for c in found if matches(query, c.name, c.domain or "", c.city or "")), limit, Company, offset)

    @write
    def create_company(self, name: CompanyName, industry: Industry, domain: WebDomain | None = None, city: City | None = None) -> Company:
        """Add a company that is not there yet under that name or domain."""
        domain = domain and domain.removeprefix("www.")
        free = f"{domain} is a free mail provider and no company's own: give another domain, or leave it out"
        require(not (domain and is_free_mail(domain)), "invalid_argument", free)
        self._check_new_company(name, domain)
        return self.companies.add(Company(self.companies.mint(), name, domain, industry, city))

    # --- leads

    @read
    def search_leads(
        self,
        query: Query | None = None,
        status: LeadStatus | None = None,
        source: LeadSource | None = None,
        limit: Limit = 10,
        offset: Offset = 0,
    ) -> Page[Lead]:
        """Find leads by name, company or email, by what has become of them or by where they came from."""
        found = [x for x in self.leads if status in (None, x.status) and source in (None, x.source)]
        return page((x for x in found if matches(query, x.name, x.company, x.email)), limit, Lead, offset)

    @write
    def create_lead(self, name: PersonName, company: CompanyName, email: EmailAddress, industry: Industry, source: LeadSource) -> Lead:
        """Note down somebody who may want to buy and is not a contact yet."""
        self._check_new_email(email)
        return self.leads.add(Lead(self.leads.mint(), name, company, email, industry, source, self.today))

    @write
    def convert_lead(self, lead_id: LeadId, deal_name: DealName, amount: DealValue, company_id: CompanyId | None = None) -> Conversion:
        """Turn a lead into a contact with a deal, at a company that is there already if one is named, else at a new one."""
        lead = self.leads.get(lead_id)
        again = ": log an activity with the lead first" if lead.status == "unqualified" else ""
        require(lead.open, "failed_precondition", f"{lead_id} is {lead.status}, and only new or working leads convert{again}")
        company = self.companies.get(company_id) if company_id else self._company_of(lead)
        contact = Contact(ContactId(self.contacts.mint()), lead.name, lead.email, company_id=company.company_id)
        deal = self._open_deal(self.contacts.add(contact), company.company_id, deal_name, amount, self.today + USUAL_CYCLE)
        converted = self.leads.update(lead_id, status="converted", contact_id=contact.contact_id)
        for activity in self.activities.where(lead_id=lead_id):  # what happened with the lead has happened with the contact
            self.activities.update(activity.activity_id, contact_id=contact.contact_id, lead_id=None)
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
        offset: Offset = 0,
    ) -> Page[Deal]:
        """List deals by name, stage or company, the soonest close first; closing_by keeps those still open, unless a stage is named."""
        found = [d for d in self.deals if stage in (None, d.stage) and company_id in (None, d.company_id) and matches(query, d.name)]
        if closing_by:
            found = [d for d in found if d.close_date <= closing_by and (d.open or stage)]
        return page(sorted(found, key=lambda d: d.close_date), limit, Deal, offset)

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
        require(deal.open, "failed_precondition", f"{deal_id} is {deal.stage}, and closed deals stay closed: open a new one")
        require(stage != deal.stage, "conflict", f"{deal_id} is in {stage} already")
        if stage == "lost":
            require(lost_reason, "invalid_argument", f"to put {deal_id} down as lost, give the lost_reason as well")
            return self._close(deal, stage, lost_reason)
        require(not lost_reason, "invalid_argument", f"{stage} has no lost_reason: leave it out, or set the stage to lost")
        now = STAGES.index(deal.stage)
        neighbours = [STAGES[i] for i in (now - 1, now + 1) if i >= 0]
        require(stage in neighbours, "failed_precondition", f"from {deal.stage}, {deal_id} can move to {' or '.join(neighbours)}")
        return self._close(deal, stage) if stage == "won" else self.deals.update(deal_id, stage=stage)

    # --- activities and tasks

    @read
    def list_activities(
        self,
        contact_id: ContactId | None = None,
        deal_id: DealId | None = None,
        status: ActivityStatus | None = None,
        query: Query | None = None,
        limit: Limit = 10,
        offset: Offset = 0,
    ) -> Page[Activity]:
        """List what has happened and what is still to do, the latest day first; query looks at subject, notes, kind and person."""
        among = [a for a in self.activities if contact_id in (None, a.contact_id) and deal_id in (None, a.deal_id)]
        found = [a for a in among if status in (None, a.status) and matches(query, a.subject, a.notes, a.kind, self._person(a))]
        return page(newest(found, lambda a: a.day), limit, Activity, offset)

    @write
    def log_activity(
        self,
        kind: ActivityKind,
        subject: Subject,
        contact_id: ContactId | None = None,
        lead_id: LeadId | None = None,
        notes: Notes = "",
        day: Day | None = None,
    ) -> Activity:
        """Record what took place with a contact, on whose open deal it then is, or with a lead; today unless a day is given."""
        require((contact_id is None) != (lead_id is None), "invalid_argument", "name either a contact_id or a lead_id, and not both")
        happened = day or self.today
        require(happened <= self.today, "failed_precondition", f"{happened} is after today, {self.today}: create a task for it instead")
        earliest = self.today - LOOKS_BACK
        require(happened >= earliest, "invalid_argument", f"{happened} is too long ago: give a day from {earliest} on")
        if lead_id:
            self._work_on(lead_id, happened)
        deal_id = self._deal_with(contact_id) if contact_id else None
        made = (contact_id, kind, subject, happened, "done", self._me(), notes, deal_id, lead_id)
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
        if deal_id:
            deal = self.deals.get(deal_id)
            theirs = deal.company_id == contact.company_id
            require(theirs, "invalid_argument", f"{deal_id} is not with the company of {contact_id} ({contact.name}): leave it out")
            require(deal.open, "failed_precondition", f"{deal_id} is {deal.stage}, and nothing is left to do for it: leave it out")
        made = (contact_id, kind, subject, due_date, "open", self._me(), "", deal_id)
        return self.activities.add(Activity(self.activities.mint(), *made))

    @write
    def complete_task(self, activity_id: ActivityId, notes: Notes = "") -> Activity:
        """Mark one of the representative's tasks as done today, with what came of it."""
        task = self.activities.get(activity_id)
        require(task.owner == self._me(), "permission_denied", f"{activity_id} is a task of {task.owner}: only they can complete it")
        over = f"{activity_id} is {task.status} already, since {task.day}: log an activity for what happened besides"
        require(task.status == "open", "failed_precondition", over)
        return self.activities.update(activity_id, status="done", day=self.today, notes=notes or task.notes)

    # --- as time passes

    def due(self) -> Moment | None:
        """When the next lead has gone cold."""
        cold = min((x.touched for x in self.leads if x.open), default=None)
        return datetime.combine(cold + GOES_COLD, time(), UTC) if cold else None

    def elapse(self) -> None:
        """Leads with whom nothing happened for long are given up."""
        for lead in [x for x in self.leads if x.open and x.touched + GOES_COLD <= self.today]:
            self.leads.update(lead.lead_id, status="unqualified")

    # --- rules

    def _me(self) -> PersonName:
        return self.representatives.one().name

    def _person(self, activity: Activity) -> str:
        return self.leads.get(activity.lead_id).name if activity.lead_id else self.contacts.get(activity.contact_id or "").name

    def _check_new_email(self, email: EmailAddress) -> None:
        """Nobody is in the CRM twice, neither as a contact nor as a lead."""
        known = ", ".join(c.contact_id for c in self.contacts if c.email == email)
        require(not known, "conflict", f"{email} is the address of contact {known} already")
        lead = next((x for x in self.leads if x.email == email and x.open), None)
        require(not lead, "conflict", f"{email} is the address of lead {lead and lead.lead_id} already: convert that lead instead")

    def _check_new_company(self, name: CompanyName, domain: WebDomain | None) -> None:
        known = [c for c in self.companies if (domain and c.domain == domain) or _folded(c.name) == _folded(name)]
        there = ", ".join(f"{c.company_id} ({c.name}, {c.domain or 'no domain'})" for c in known)
        require(not known, "conflict", f"there is {there} already: use that company's id")

    def _company_of(self, lead: Lead) -> Company:
        domain = _own_domain(lead.email)
        self._check_new_company(lead.company, domain)
        return self.companies.add(Company(self.companies.mint(), lead.company, domain, lead.industry))

    def _open_deal(self, contact: Contact, company_id: CompanyId, name: DealName, amount: DealValue, close_date: CloseDate) -> Deal:
        require(close_date >= self.today, "invalid_argument", f"{close_date} is before today, {self.today}: choose a later close")
        same = [d.deal_id for d in self.deals.where(company_id=company_id) if d.open and _folded(d.name) == _folded(name)]
        require(not same, "conflict", f"{company_id} has an open deal {name!r} already, {', '.join(same)}: choose another name")
        self._promote(contact.contact_id, "opportunity")
        return self.deals.add(Deal(self.deals.mint(), name, company_id, contact.contact_id, amount, close_date, self._me()))

    def _close(self, deal: Deal, stage: DealStage, lost_reason: LostReason | None = None) -> Deal:
        """A deal ends today, and with it what was still to do for it."""
        if stage == "won" and deal.contact_id:
            self._promote(deal.contact_id, "customer")
        self._cancel(self.activities.where(deal_id=deal.deal_id, status="open"))
        return self.deals.update(deal.deal_id, stage=stage, lost_reason=lost_reason, close_date=self.today)

    def _cancel(self, tasks: list[Activity]) -> None:
        for task in tasks:
            self.activities.update(task.activity_id, status="cancelled", day=self.today)

    def _promote(self, contact_id: ContactId, to: Lifecycle) -> None:
        """A contact's life cycle only goes up."""
        if LIFECYCLE.index(to) > LIFECYCLE.index(self.contacts.get(contact_id).lifecycle):
            self.contacts.update(contact_id, lifecycle=to)

    def _hand_over_deals(self, leaver: Contact) -> None:
        """Open deals stay with the company that a contact leaves: a colleague there has them now, if one is known."""
        colleagues = self.contacts.where(company_id=leaver.company_id)
        heir = colleagues[0].contact_id if colleagues else None
        for deal in [d for d in self.deals.where(contact_id=leaver.contact_id) if d.open]:
            self.deals.update(deal.deal_id, contact_id=heir)
            if heir:
                self._promote(heir, "opportunity")
        for task in self.activities.where(contact_id=leaver.contact_id, status="open"):
            self.activities.update(task.activity_id, deal_id=None)

    def _deal_with(self, contact_id: ContactId) -> DealId | None:
        """The newest open deal of a contact."""
        deals = [d.deal_id for d in self.deals.where(contact_id=contact_id) if d.open]
        return deals[-1] if deals else None

    def _work_on(self, lead_id: LeadId, day: Day) -> None:
        """Something happened with a lead: it is being worked on, also if it had gone cold."""
        lead = self.leads.get(lead_id)
        known = f"{lead_id} is converted: log it with contact {lead.contact_id} instead"
        require(lead.status != "converted", "failed_precondition", known)
        if lead.status == "unqualified":
            self._check_new_email(lead.email)
        touched = max(lead.touched, day)
        status = "working" if touched + GOES_COLD > self.today else "unqualified"
        self.leads.update(lead.lead_id, status=status, touched=touched)


def is_free_mail(domain: WebDomain) -> bool:
    """Whether anybody can have an address there: a provider's domain, in whatever country."""
    name, _, rest = domain.partition(".")
    return domain in FREE_MAIL or (name in FREE_MAIL_EVERYWHERE and all(len(part) <= 3 for part in rest.split(".")))


def _own_domain(email: EmailAddress) -> WebDomain | None:
    """The domain of an address, if it is a company's own."""
    domain = email.rpartition("@")[2]
    return None if is_free_mail(domain) else domain


def _folded(name: str) -> str:
    return " ".join(name.casefold().split())
