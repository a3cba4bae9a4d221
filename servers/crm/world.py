"""One representative's book of business: companies, contacts with a namesake, leads old and new, deals in every stage, tasks overdue."""

from datetime import date, timedelta

from prove.servers.maker import Maker

from .records import LIFECYCLE, STAGES, Activity, Company, Contact, Deal, Lead, Representative
from .tools import GOES_COLD, Crm

COMPANIES = {  # industry -> names
    "software": ("Quillbase", "Nimbus Forge", "Papertrail Labs", "Lumen Stack", "Copperline Systems", "Tidewater Software"),
    "manufacturing": ("Harrow Tools", "Alder & Finch Furniture", "Bellwether Plastics", "Stonebridge Castings", "Vantage Bearings"),
    "retail": ("Marigold Outfitters", "Northgate Grocers", "Pine & Petal", "Redwood Cycles", "Saltbox Home"),
    "healthcare": ("Cedar Valley Clinics", "Brightsmile Dental", "Harborview Imaging", "Willow Pharmacy Group", "Kestrel Diagnostics"),
    "logistics": ("Ironbridge Freight", "Blue Heron Couriers", "Crossroads Warehousing", "Meridian Shipping", "Swift Pallet"),
    "education": ("Lakeside Academy", "Open Quad Learning", "Beacon Language Schools", "Foxglove Nurseries", "Summit Tutoring"),
    "construction": ("Granite & Sons", "Larkfield Homes", "Keystone Roofing", "Skyline Glazing", "Terraform Builders"),
    "hospitality": ("Hotel Astoria Group", "The Copper Kettle", "Seabright Resorts", "Wayfarer Inns", "Olive Branch Catering"),
}
NEWCOMERS = (  # industry, companies of which there are only leads so far
    ("software", "Parallax Apps"), ("manufacturing", "Bramble Textiles"), ("retail", "Daybreak Bakery"), ("healthcare", "Juniper Physio"),
    ("logistics", "Osprey Haulage"), ("education", "Maple Leaf Music School"), ("construction", "Cobalt Scaffolding"),
    ("hospitality", "Driftwood Cafe"), ("software", "Zephyr Analytics"), ("retail", "Toybox Corner"), ("logistics", "Greenlane Vans"),
    ("healthcare", "Riverbank Opticians"),
)  # fmt: skip
CITIES = ("Boston", "Denver", "Portland", "Austin", "Chicago", "Toronto", "Leeds", "Dublin", "Rotterdam", "Hamburg")
JOB_TITLES = (
    "Head of Operations", "Purchasing Manager", "Finance Director", "IT Manager", "Managing Director", "Office Manager", "Plant Manager",
    "Marketing Director", "Chief Executive", "Facilities Manager",
)  # fmt: skip
PRODUCTS = (
    "Scheduling suite",
    "Inventory module",
    "Payroll add-on",
    "Field service app",
    "Customer portal",
    "Analytics pack",
    "Fleet tracker",
)
SCOPES = ("annual licence", "pilot", "renewal", "rollout to all sites", "upgrade", "training package", "support contract")
HAPPENED = {
    "call": ("intro call", "pricing questions", "check-in after the holidays", "who decides on the budget", "timeline for the decision"),
    "email": ("brochure and price list", "answers to their security questions", "thanks for the visit", "draft contract"),
    "meeting": ("kick-off at their office", "requirements workshop", "lunch with the finance team", "quarterly review"),
    "demo": ("product tour", "reporting features", "mobile app for their drivers", "integration with their accounting"),
}
TO_DO = {
    "call": ("the signed quote", "feedback on the trial", "their new budget", "the renewal date", "an unpaid invoice"),
    "email": ("the revised offer", "two reference customers", "the data protection form", "the onboarding plan"),
    "meeting": ("contract terms", "the rollout plan", "next year's needs", "a complaint about support"),
    "demo": ("the new dashboard", "single sign-on", "the warehouse scanner", "roles and permissions"),
}
NOTES = (
    "Positive, wants a second opinion from IT.", "Asked for ten percent off.", "Left a message.", "Budget is decided next month.",
    "Their current vendor raised prices.", "Very interested in the mobile app.", "Will come back after the board meeting.", "",
)  # fmt: skip
LOST = ("price", "competitor", "no_budget", "no_decision", "bad_fit")
SOURCES = ("website", "website", "referral", "trade_show", "cold_call", "webinar", "partner")


def populate(crm: Crm, make: Maker) -> None:
    me, *colleagues = [make.person() for _ in range(4)]
    crm.representatives.add(Representative("REP-1", me))
    for industry, names in COMPANIES.items():
        for name in make.some(names, 4):
            city = make.pick(CITIES) if make.chance(0.9) else None
            crm.companies.add(Company(crm.companies.mint(), name, _domain(name), industry, city))
    _contacts(crm, make)
    _deals(crm, make, [*[me] * 7, *colleagues])
    _activities(crm, make, [*[me] * 9, *colleagues])
    _leads(crm, make, [*[me] * 9, *colleagues])


def _domain(company: str) -> str:
    return "".join(c for c in company.lower() if c.isalnum()) + ".example"


def _contacts(crm: Crm, make: Maker) -> None:
    """Some of every company, one of the same first name as another, and a few that belong to no company."""
    companies = list(crm.companies)
    employers: list[Company | None] = [*companies, *(make.pick(companies) for _ in range(36)), None, None, None, None, None]
    people = [make.person() for _ in employers]
    while (namesake := f"{people[0].split()[0]} {make.faker.last_name()}") in people:
        pass
    people[1] = namesake
    for name, employer in zip(people, employers, strict=True):
        email = make.email(name, employer.domain) if employer else make.email(name)
        phone = f"+1{make.pick(('415', '617', '303', '512'))}555{make.digits(4)}"
        company_id = employer.company_id if employer else None
        contact = Contact(crm.contacts.mint(), name, email, make.pick(JOB_TITLES), phone, company_id, opted_out=make.chance(0.07))
        crm.contacts.add(contact)


def _deals(crm: Crm, make: Maker, owners: list[str]) -> None:
    names = make.shuffled([f"{product}: {scope}" for product in PRODUCTS for scope in SCOPES])
    buyers = make.some([c for c in crm.contacts if c.company_id], 42)
    for name, contact in zip(names, make.shuffled(buyers), strict=False):
        stage = make.pick((*STAGES[:-1], *STAGES[:-1], "won", "won", "lost"))
        closes = -make.between(3, 200) if stage in ("won", "lost") else make.between(-9, 75)  # a few open ones are overdue
        reason = make.pick(LOST) if stage == "lost" else None
        worth, day = make.between(150_000, 9_000_000, 25_000), _workday(make, closes)
        deal = (name, contact.company_id, contact.contact_id, worth, day, make.pick(owners))
        crm.deals.add(Deal(crm.deals.mint(), *deal, stage, reason))
        reached = "customer" if stage == "won" else "opportunity"
        crm.contacts.update(contact.contact_id, lifecycle=max(contact.lifecycle, reached, key=LIFECYCLE.index))


def _activities(crm: Crm, make: Maker, owners: list[str]) -> None:
    """What happened, oldest first, and then what is still to do, some of it overdue."""
    deals = {d.contact_id: d for d in crm.deals}
    told = []
    for contact in crm.contacts:
        days = [make.between(-240, -1) for _ in range(make.pick((0, 1, 2, 3, 4)))]
        plans = [] if contact.opted_out else [make.between(-4, 25) for _ in range(make.pick((0, 1, 1, 2)))]
        deal = deals.get(contact.contact_id)
        for offset, status in [*((d, "done") for d in days), *((d, "open") for d in plans)]:
            day = _workday(make, offset)
            kind = make.pick(tuple(TO_DO))
            subject, notes = (make.pick(TO_DO[kind]), "") if status == "open" else (make.pick(HAPPENED[kind]), make.pick(NOTES))
            # a closed deal has nothing left to do, and nothing happens for it after its close
            about = deal and make.chance(0.6) and (deal.open or (status == "done" and day <= deal.close_date))
            who = (contact.contact_id, kind, subject, day, status, make.pick(owners), notes)
            told.append((*who, deal.deal_id if deal and about else None))
    for one in sorted(told, key=lambda t: (t[4] == "open", t[3])):
        crm.activities.add(Activity(crm.activities.mint(), *one))


def _leads(crm: Crm, make: Maker, owners: list[str]) -> None:
    """From companies that are not there yet, from some that are, some with a private address, and a few long converted."""
    places = [(industry, name, "gmail.com" if make.chance(0.25) else _domain(name)) for industry, name in NEWCOMERS]
    places += [(c.industry, c.name, c.domain or "") for c in make.some(list(crm.companies), 8)]
    places += make.some(places, 6)
    cold = GOES_COLD.days
    for industry, company, domain in make.shuffled(places):
        name = make.person()
        status = make.pick(("new", "new", "new", "working", "working", "working", "unqualified"))
        touched = _workday(make, -make.between(cold, cold + 90) if status == "unqualified" else -make.between(0, cold - 10))
        lead = Lead(crm.leads.mint(), name, company, make.email(name, domain), industry, make.pick(SOURCES), touched, status)
        crm.leads.add(lead)
        if status == "working":
            kind = make.pick(tuple(HAPPENED))
            what = (kind, make.pick(HAPPENED[kind]), touched, "done", make.pick(owners), make.pick(NOTES), None, lead.lead_id)
            crm.activities.add(Activity(crm.activities.mint(), None, *what))
    buyers = {d.contact_id for d in crm.deals}
    for contact in make.some([c for c in crm.contacts if c.contact_id in buyers], 4):
        employer = crm.companies.get(contact.company_id or "")
        known = (contact.name, employer.name, contact.email, employer.industry, make.pick(SOURCES), _workday(make, -make.between(60, 250)))
        crm.leads.add(Lead(crm.leads.mint(), *known, "converted", contact.contact_id))


def _workday(make: Maker, offset: int) -> date:
    """That many days from now, or the Friday before if that is a weekend: nobody sells to firms then."""
    day = make.day(offset)
    return day - timedelta(days=max(0, day.weekday() - 4))
