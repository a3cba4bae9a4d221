"""One person's mailbox: work and private threads of two months, notices from firms, drafts, spam, and mail still on its way."""

from datetime import datetime, timedelta

import msgspec

from prove.servers.maker import Maker

from .records import INBOX, SENT, SPAM, TRASH, UNREAD, Draft, Email, Incoming, Label, Mailbox, Thread
from .tools import Mail

# fmt: off
SYSTEM = {"INBOX": "Inbox", "UNREAD": "Unread", "STARRED": "Starred", "IMPORTANT": "Important", "SENT": "Sent", "SPAM": "Spam",
          "TRASH": "Trash"}
LABELS = {"Projects": "blue", "Hiring": "purple", "Finance": "green", "Family": "orange", "Friends": "yellow", "Travel": "blue",
          "Receipts": "grey", "Newsletters": None, "Someday": None}  # nothing carries the last one yet

# subject, label (or none), and what is said in turn: by somebody, by the owner, by somebody else
WORK = (
    ("Launch plan for the mobile app", "Projects", "The draft launch plan is ready. Could you check the timeline before {day}?",
     "I went through it. The beta phase looks a week too short to me.", "Agreed, I moved the public release back by a week."),
    ("Budget review for the third quarter", "Finance", "We are {n} percent over on contractors. Can you send me a forecast by {day}?",
     "My forecast is attached, with contractors down from next month on.", "Thanks both. I will take this to the board as it is."),
    ("Customer interviews next week", "Projects", "I have {n} customers lined up for interviews. Would you like to sit in on some?",
     "Yes please, the two from logistics if that is possible.", "I put you down for {day} morning and the afternoon after."),
    ("Offer for the design position", "Hiring", "The panel was unanimous. Are you fine with sending the offer on {day}?",
     "Fine with me, please use the upper half of the band.", "The offer is out, with an answer expected within a week."),
    ("Outage of the billing service", "Projects", "Billing was down for {n} minutes this morning. The write-up is attached.",
     "Good write-up. Who owns the follow-up on the alerts?", "I do, the new alerts will be in by {day}."),
    ("Contract renewal with Harbor Logistics", "Finance", "Harbor wants two more years at a {n} percent discount. What do you think?",
     "Two years is fine if we keep the right to leave after one.", "They accepted the exit clause. Legal has the final text."),
    ("Agenda for the team offsite", "", "Here is a first agenda for the offsite. Anything missing from your side?",
     "Could we keep the second afternoon free of sessions?", "Done, and dinner is booked for {n} people."),
    ("Slides for the board meeting", "Projects", "Could you add two slides on churn to the deck by {day}?",
     "Added, slides {n} and the one after it.", "Perfect, the deck is locked now."),
    ("Security training is due", "", "Your team has {n} people who have not finished the security training.",
     "I have reminded them, they should be through by {day}."),
    ("Feedback on the pricing page", "Projects", "The new pricing page is on staging. Does the comparison table make sense?",
     "It does, but the annual plan hides below the fold on a phone.", "Fixed, have another look when you can."),
    ("Second interview with the data engineer", "Hiring", "She can do {day} at ten. Can you take the system design part?",
     "Yes, I will send her the exercise the day before."),
    ("Numbers for the investor update", "Finance", "I still need net retention and the {n} largest accounts from you.",
     "Both are in the shared sheet, second tab.", "Got them, the update goes out on {day}."),
    ("Moving to the new office", "", "We get the keys on {day}. Please label your boxes with your name and desk number.",
     "Is there a plan for the lab equipment?", "Yes, movers with {n} years of experience in exactly that."),
    ("Accessibility audit results", "Projects", "The audit found {n} issues, most of them about contrast. Report attached.",
     "Let us fix the contrast ones before the release."),
    ("Holiday cover in the summer", "", "Who covers support while I am away from {day} on?",
     "I can take the first week.", "And I take the second, so we are set."),
    ("Translation of the handbook", "Projects", "The Spanish handbook is {n} pages longer than the English one. Is that expected?",
     "Probably the appendix, it was merged twice."),
    ("Question about the sales forecast", "Finance", "Your forecast assumes {n} new accounts a month. Where does that come from?",
     "It is the average of the last two quarters, without the outlier.", "Makes sense, I will leave it in."),
    ("Recap of the supplier call", "Projects", "Short recap: they can deliver on {day}, at {n} percent more than last year.",
     "That is too much. Did they say why?", "Freight, they say. I asked for a breakdown."),
)
PRIVATE = (
    ("Dinner on Saturday?", "Friends", "We are trying the new Georgian place on Saturday. Table for {n}, are you in?",
     "Count me in, I can come at eight."),
    ("Photos from the lake", "Friends", "Here are the photos from the lake. The one with the canoe is my favourite.",
     "Wonderful, thank you! I will print the canoe one."),
    ("Grandma's birthday", "Family", "It is her {n}0th this time. Shall we all chip in for the armchair?",
     "Yes, good idea. I can pick it up."),
    ("Keys for the cottage", "Family", "I left the cottage keys with the neighbour. The boiler needs a push on {day}."),
    ("Your old bike", "Friends", "Do you still want to sell the bike? My cousin would take it for {n}0 dollars.",
     "Yes! He can come on {day}."),
    ("Recipe you asked for", "Family", "Flour, {n} eggs, a pinch of salt, and patience. The full recipe is attached."),
    ("Book club moved to Thursday", "Friends", "We moved to Thursday because of the match. Chapter {n} and onwards.", "My place or yours?"),
    ("School play tickets", "Family", "I got {n} tickets for the school play on {day}. The kids are thrilled.", "We would not miss it."),
    ("Hiking route for the long weekend", "Friends", "I found a loop of {n} hours with a hut halfway. Shall I book the hut?"),
    ("Can you water the plants?", "Friends", "We are away until {day}. Could you water the plants once or twice?",
     "Of course, leave the key under the usual pot."),
    ("Wedding seating plan", "Family", "You are at table {n}, next to aunt Rosa. Is that all right?", "More than all right."),
    ("Lost scarf", "Friends", "Did I leave a green scarf at your place on {day}?", "You did, it is on the hook by the door."),
)
NOTICES = (  # sender, subject, label, text, attachment
    ("Corner Books", "Your order has shipped", "Receipts", "Your order of {n} books should arrive on {day}.", "invoice.pdf"),
    ("Northwind Air", "Your boarding pass", "Travel", "Seat {n}C. The gate closes 20 minutes before departure.", "boarding-pass.pdf"),
    ("Hotel Miramar", "Booking confirmation", "Travel", "We look forward to welcoming you on {day} for {n} nights.", "confirmation.pdf"),
    ("Brightnet Internet", "Your invoice for this month", "Receipts", "Your invoice of ${n}9.99 is due on {day}.", "invoice.pdf"),
    ("City Power & Light", "Meter reading needed", "", "Please send us your meter reading by {day}.", ""),
    ("Anytime Gym", "Changed opening hours", "", "From {day} on we open at {n} in the morning.", ""),
    ("The Morning Brief", "Five stories for today", "Newsletters", "Ports, prices, a surprising merger, and {n} charts.", ""),
    ("Bread & Butter", "Bake of the week: rye", "Newsletters", "This week we bake a dark rye that takes {n} hours and little work.", ""),
    ("Code Weekly", "Issue {n}: faster builds", "Newsletters", "How one team cut its builds from an hour to {n} minutes.", ""),
    ("Westfield Dental", "Reminder of your appointment", "", "We expect you on {day}. Please call us if you cannot come.", ""),
    ("Rail Direct", "Your ticket to the coast", "Travel", "Coach {n}, window seat. Show this ticket on your phone.", "ticket.pdf"),
    ("Greenleaf Market", "Your receipt", "Receipts", "Thank you for shopping with us. You collected {n} points.", "receipt.pdf"),
    ("Payroll", "Your payslip is ready", "Finance", "Your payslip for the month is attached.", "payslip.pdf"),
    ("Public Library", "Two items are due soon", "", "Please return your items by {day} or renew them online.", ""),
    ("Parcel Point", "A parcel is waiting for you", "", "Your parcel waits at the counter until {day}, shelf {n}.", ""),
    ("Harbor Insurance", "Your policy renewal", "Finance", "Your policy renews on {day}, {n} dollars cheaper than now.", "policy.pdf"),
)
SPAM_LETTERS = (
    ("Prize Department", "You have been selected", "Claim your voucher worth {n}00 dollars before {day}."),
    ("Account Services", "Unusual sign-in, act now", "Confirm your password within {n} hours or lose access."),
    ("Unclaimed Estates", "A business proposal", "I write to you in confidence about a sum of {n} million."),
    ("Slim Tea Direct", "Lose {n} pounds by {day}", "No diet, no effort, only tea."),
)
DRAFTS = (  # subject, text, whether it is addressed already
    ("Ideas for the autumn campaign", "Three ideas so far: a podcast, a street map, and", True),
    ("Complaint about the delivery", "The box arrived open and one lamp was missing.", False),
    ("Thank you note", "Thank you for having us, the children still talk about the goats.", True),
    ("Reference letter", "I have known her for four years and can recommend her without reserve.", False),
    ("Plan for the workshop", "Morning: introductions and two talks. Afternoon: hands on.", True),
)
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday")
# fmt: on


def populate(mail: Mail, make: Maker) -> None:
    me = mail.mailboxes.add(Mailbox(make.email(owner := make.person()), owner, 50))
    for label_id, name in SYSTEM.items():
        mail.labels.add(Label(label_id, name, "system"))
    label_ids = {name: mail.labels.add(Label(mail.labels.mint(), name, "user", color)).label_id for name, color in LABELS.items()}
    colleagues, friends = [make.person() for _ in range(9)], [make.person() for _ in range(8)]
    while (namesake := f"{colleagues[0].split()[0]} {make.faker.last_name()}") in (owner, *colleagues, *friends):
        pass  # two people of one first name
    friends[0] = namesake
    work, private, notices = make.shuffled(WORK), make.shuffled(PRIVATE), make.shuffled(NOTICES)

    emails: list[Email] = []
    for people, topics in ((colleagues, work[:15]), (friends, private[:9])):
        for subject, label, *turns in topics:
            began = make.moment(-make.between(2, 58), make.between(7, 17), make.between(0, 59))
            if people is colleagues:  # who write on working days
                began -= timedelta(days=max(0, began.weekday() - 4))
            emails += _thread(mail, make, me.name, make.shuffled(people)[:3], subject, label_ids.get(label), turns, began)
    for firm, subject, label, body, attachment in notices[:13]:
        emails.append(_notice(mail, make, firm, subject, body, label_ids.get(label), attachment))
    emails += [_notice(mail, make, *letter, SPAM) for letter in SPAM_LETTERS]
    for email in sorted(emails, key=lambda e: e.sent):  # the mailbox is kept in the order of time
        mail.emails.add(msgspec.structs.replace(email, email_id=mail.emails.mint()))

    _drafts(mail, make, [*colleagues, *friends])
    for people, topics in ((colleagues, work[15:]), (friends, private[9:])):
        for subject, _label, body, *_answers in topics:
            sender = make.pick(people)
            _expect(mail, make, sender, make.email(sender), subject, body)
    for firm, subject, _, body, _ in notices[13:]:
        _expect(mail, make, firm, _no_reply(firm), subject, body)


def _thread(
    mail: Mail, make: Maker, me: str, people: list[str], subject: str, label: str | None, turns: list[str], sent: datetime
) -> list[Email]:
    """Somebody writes to the owner, who may have answered everybody, and then another whom it was copied to may have joined in."""
    first, other, copied = people
    thread_id = mail.threads.add(Thread(mail.threads.mint(), subject)).thread_id
    said = turns[: make.pick((1, 2, 3, 3))]
    cc = [other] if len(said) == 3 else [copied] if make.chance(0.4) else []
    out = []
    for turn, body in enumerate(said):
        sender, to, copies = ((first, me, cc), (me, first, cc), (other, me, [first]))[turn]
        labels = [SENT] if sender == me else _standing(make, sent, newest=turn == len(said) - 1)
        labels += [label] if label and sender != me and make.chance(0.8) else []
        topic, attached = "Re: " * (turn > 0) + subject, ["attachment.pdf"] * ("attached" in body)
        texts = ([make.email(to)], [make.email(name) for name in copies], topic, _filled(make, body), _ordered(mail, labels))
        out.append(Email("", thread_id, sent, sender, make.email(sender), *texts, attached, _discarded(sent, labels)))
        sent = _awake(sent + timedelta(minutes=make.between(12, 9 * 60)))
    return out


def _awake(moment: datetime) -> datetime:
    """When somebody writes who would write at a moment: at night people sleep."""
    return moment.replace(hour=7 + moment.hour % 3) if moment.hour < 7 else moment


def _notice(mail: Mail, make: Maker, firm: str, subject: str, body: str, label: str | None, attachment: str = "") -> Email:
    subject, sent = _filled(make, subject), make.moment(-make.between(1, 28), make.between(0, 23), make.between(0, 59))
    thread_id = mail.threads.add(Thread(mail.threads.mint(), subject)).thread_id
    labels = [*([label] if label else []), *([UNREAD] if label == SPAM else _standing(make, sent, newest=True))]
    to, attached = [next(iter(mail.mailboxes)).address], [attachment] if attachment else []
    texts = (to, list[str](), subject, _filled(make, body))
    return Email("", thread_id, sent, firm, _no_reply(firm), *texts, _ordered(mail, labels), attached, _discarded(sent, labels))


def _ordered(mail: Mail, labels: list[str]) -> list[str]:
    return sorted(labels, key=lambda x: mail.labels.get(x).name)


def _discarded(sent: datetime, labels: list[str]) -> datetime | None:
    """Spam is recognised as it arrives; what is in the trash was read first."""
    return sent if SPAM in labels else sent + timedelta(hours=8) if TRASH in labels else None


def _standing(make: Maker, sent: datetime, newest: bool) -> list[str]:
    """Where a received email is: recent ones mostly in the inbox, old ones mostly archived, a few in the trash."""
    days = (make.start - sent).days
    if newest and 1 <= days < 25 and make.chance(0.08):
        return [TRASH]
    marks = [mark for mark, chance in (("STARRED", 0.12), ("IMPORTANT", 0.2)) if make.chance(chance)]
    inbox = make.chance(0.85 if days < 14 else 0.35)
    return [*marks, *([INBOX] if inbox else []), *([UNREAD] if inbox and newest and make.chance(0.55) else [])]


def _drafts(mail: Mail, make: Maker, people: list[str]) -> None:
    for topic, text, addressed in DRAFTS:
        to = [make.email(make.pick(people))] if addressed else []
        updated = make.moment(-make.between(1, 20), make.between(8, 20), make.between(0, 59))
        mail.drafts.add(Draft(mail.drafts.mint(), None, to, [], topic, text, updated))
    last = [e for e in mail.emails if INBOX in e.labels and e.subject[:3] != "Re:"][-1]  # an answer that was begun and left
    subject, body = f"Re: {last.subject}", "Sorry for the late answer. I"
    mail.drafts.add(Draft(mail.drafts.mint(), last.thread_id, [last.sender_address], [], subject, body, last.sent + timedelta(minutes=20)))


def _expect(mail: Mail, make: Maker, sender: str, address: str, subject: str, body: str) -> None:
    """An email that is still to arrive within six days."""
    due = make.start + timedelta(minutes=make.between(30, 6 * 24 * 60))
    due = due if address.startswith("no-reply@") else _awake(due)
    subject, body = _filled(make, subject), _filled(make, body)
    mail.incoming.add(Incoming(mail.incoming.mint(), due, sender, address, subject, body))


def _no_reply(firm: str) -> str:
    return f"no-reply@{''.join(c for c in firm.lower() if c.isalnum())}.example.com"


def _filled(make: Maker, text: str) -> str:
    return text.replace("{n}", str(make.between(3, 9))).replace("{day}", make.pick(WEEKDAYS))
