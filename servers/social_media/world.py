"""Forty members, two of one first name, with interests, friends and a month of posts: some are private, one never answers, one has
blocked the user, and a few posts are for followers only or closed to comments."""

from datetime import timedelta

from prove.servers.maker import Maker

from .records import Coming, Comment, Follow, Like, Login, Post, User
from .tools import SocialMedia

POSTS = {  # topic -> what people post about it
    "cycling": (
        "First hundred kilometres of the year are done",
        "New tyres, same old hills",
        "Does anybody know a flat route to the lake?",
        "Headwind both ways, how is that even possible",
        "My bike made it through its tenth winter",
        "Group ride on Sunday, slow pace, cake at the end",
        "Learned to fix my own brakes today",
        "A fox kept up with me for a whole kilometre",
    ),
    "cooking": (
        "Sourdough attempt number seven: finally a crust",
        "Lemon and thyme go with everything, fight me",
        "What do you all do with too many courgettes?",
        "My grandmother's soup, written down at last",
        "Burnt the garlic again, ordered pizza",
        "Cast iron is heavy and worth it",
        "Dumplings take all day and are gone in five minutes",
        "Which spice could you not live without?",
    ),
    "books": (
        "Stayed up until three to finish it, no regrets",
        "Looking for a novel with a good lighthouse in it",
        "Our library now lends board games too",
        "Reread a childhood favourite, it held up",
        "Three unread books on the shelf, bought two more",
        "Short stories are the best company on a train",
        "Book club picked a 900 page one, send help",
        "A map at the front of a book always gets me",
    ),
    "gardening": (
        "The tomatoes have moved outside, wish them luck",
        "Slugs one, lettuce nil",
        "Free rhubarb for anybody who can carry it",
        "Planted a pear tree for my daughter",
        "Rain at last, everything smells green",
        "How deep do you put tulip bulbs?",
        "Compost day is my favourite day",
        "A hedgehog has moved in under the shed",
    ),
    "music": (
        "Found my old mixtapes in the attic",
        "Choir practice was loud, wrong and wonderful",
        "Learning the cello at forty, my neighbours are saints",
        "What was the first record you bought?",
        "Our street had a brass band this morning",
        "Concert tonight, ears ringing already",
        "Five chords is all I need",
        "The encore was longer than the show",
    ),
    "travel": (
        "Night trains should come back everywhere",
        "Missed the ferry, found a better beach",
        "Packing light means wearing all of it",
        "Which small town surprised you most?",
        "Two weeks without a screen, would recommend",
        "The best museum was the one we had never heard of",
        "Lost in the old town on purpose",
        "Postcards still arrive, I checked",
    ),
    "football": (
        "We lost, but what a goal",
        "Under elevens won their first match today",
        "Season tickets renewed, hope renewed",
        "That was never offside",
        "Muddy boots in the hallway again",
        "Extra time is bad for my heart",
        "Our keeper saved two penalties and my weekend",
        "Who is coming to the derby?",
    ),
    "coding": (
        "Deleted a thousand lines and nothing broke",
        "It was the time zone, it is always the time zone",
        "Wrote the test first, felt very grown up",
        "Naming things took longer than building them",
        "My first pull request was merged",
        "Rubber duck debugging works better with a cat",
        "Turned it off and on again, professionally",
        "What is your favourite unloved tool?",
    ),
}
COMMENTS = (
    "Love this", "So true", "Count me in", "This made my day", "Tell us more", "Same here", "I had no idea", "Congratulations",
    "Could you send me the details?", "You have talked me into it", "That is exactly what happened to me", "Not sure I agree",
    "Made me laugh out loud", "I was there too", "Good luck", "How did you do that?", "Saving this for later", "Worth every minute",
)  # fmt: skip
BIOS = ("Mostly {0}, some {1}.", "Here for the {0}.", "{0} by day, {1} by night.", "Talks too much about {0} and {1}.", "")
REPLIERS = ("everyone", "everyone", "everyone", "followers", "nobody")
MEMBERS, DAYS = 40, 30


def populate(social: SocialMedia, make: Maker) -> None:
    users = _members(social, make)
    me, _, unanswering, blocker = users[:4]
    social.logins.add(Login("LGN-1", me.user_id))
    social.users.update(unanswering.user_id, visibility="private", answers=False)
    social.users.update(blocker.user_id, visibility="public", blocks=[me.user_id])
    _follows(social, make, me)
    _posts(social, make, me)
    _reactions(social, make)
    _go_on_talking(social, make, me)


def _members(social: SocialMedia, make: Maker) -> list[User]:
    names = [make.person() for _ in range(MEMBERS - 1)]
    while (namesake := f"{names[5].split()[0]} {make.faker.last_name()}") in names:
        pass
    names.append(namesake)  # two people of one first name
    for number, name in enumerate(names):
        first, last = (part.lower().replace("'", "") for part in name.split())
        handle = make.pick((f"{first}_{last}", f"{first}{number}", f"{last}_{first[:1]}{number}"))
        bio = make.pick(BIOS).format(*make.shuffled(list(POSTS))[:2]).capitalize()
        visibility = "private" if number and make.chance(0.2) else "public"
        social.users.add(User(social.users.mint(), name, handle, bio, visibility, make.day(-make.between(40, 2500))))
    return list(social.users)


def _strangers(one: User, other: User) -> bool:
    """Whether one of the two has blocked the other, so that neither follows, likes, shares or comments."""
    return one.user_id in other.blocks or other.user_id in one.blocks


def _follows(social: SocialMedia, make: Maker, me: User) -> None:
    """Everybody follows some others, since both are there; the user also has two requests open, one of which is soon accepted."""
    users, found = list(social.users), list[Follow]()
    asked = [u for u in users if u.visibility == "private"][:2]
    for user in users:
        open_to = [u for u in users if u.user_id != user.user_id and u.answers and not _strangers(u, user)]
        others = [u for u in open_to if u not in asked] if user.user_id == me.user_id else open_to
        for other in make.some(others, 16 if user.user_id == me.user_id else make.between(2, 8)):
            together = (make.today - max(user.joined, other.joined)).days
            since = make.moment(-make.between(1, min(together - 1, 400)), make.between(6, 22), make.between(0, 59))
            found.append(Follow("", user.user_id, other.user_id, since))
    found += [Follow("", me.user_id, u.user_id, make.moment(0, 8, make.between(0, 50)), "requested") for u in asked]
    for f in sorted(found, key=lambda f: f.since):
        social.follows.add(Follow(social.follows.mint(), f.follower, f.followed, f.since, f.status))


def _posts(social: SocialMedia, make: Maker, me: User) -> None:
    """A month of posts, oldest first; now and then somebody shares a public one of somebody else's, each one once."""
    users, said = {u.user_id: u for u in social.users}, [(topic, text) for topic, texts in POSTS.items() for text in texts]
    fresh, public, done = iter(make.shuffled(said)), list[Post](), set[tuple[str, str]]()
    days = ((ago, make.between(2, 4)) for ago in range(DAYS, 0, -1))
    moments = sorted(make.moment(-ago, make.between(6, 22), make.between(0, 59)) for ago, posts in days for _ in range(posts))
    for posted in moments:
        author = users[me.user_id] if make.chance(0.12) else make.pick(list(users.values()))
        new = [p for p in public if p.author != author.user_id and (author.user_id, p.post_id) not in done]
        new = [p for p in new if not _strangers(users[p.author], author)]
        if new and make.chance(0.1):
            original = make.pick(new)
            done.add((author.user_id, original.post_id))
            content = (original.topic, original.text, "everyone", "everyone", original.post_id)
            social.posts.add(Post(social.posts.mint(), author.user_id, posted, *content))
            continue
        topic, text = next(fresh, None) or make.pick([s for s in said if (author.user_id, s[1]) not in done])
        done.add((author.user_id, text))
        tagged = make.chance(0.15)  # the topic stands in the text
        audience = "followers" if make.chance(0.15) else "everyone"
        about = (None, f"{text} #{topic}") if tagged else (None if make.chance(0.05) else topic, text)
        post = social.posts.add(Post(social.posts.mint(), author.user_id, posted, *about, audience, make.pick(REPLIERS)))
        if audience == "everyone" and author.visibility == "public":
            public.append(post)


def _reactions(social: SocialMedia, make: Maker) -> None:
    """Likes and comments by those who may see the post: anybody, or who follows the author by then; comments in the order of time."""
    users = {u.user_id: u for u in social.users}
    followers: dict[str, list[Follow]] = {user_id: [] for user_id in users}
    for follow in social.follows.where(status="accepted"):
        followers[follow.followed].append(follow)
    said = list[Comment]()
    for post in social.posts:
        author = users[post.author]
        following = [f.follower for f in followers[post.author] if f.since <= post.posted]
        for_all = post.audience == "everyone" and author.visibility == "public"
        origin = users[social.posts.get(post.shares).author] if post.shares else author
        seen_by = [u for u in (users if for_all else following) if not _strangers(users[u], author) and not _strangers(users[u], origin)]
        for user_id in make.some(seen_by, make.between(0, 6)):
            social.likes.add(Like(social.likes.mint(), post.post_id, user_id))
        writers = {"everyone": seen_by, "followers": [u for u in seen_by if u in following], "nobody": []}[post.repliers]
        for user_id, text in zip(make.some(writers, make.between(0, 3)), make.shuffled(COMMENTS), strict=False):
            said.append(Comment("", post.post_id, user_id, post.posted + timedelta(minutes=make.between(5, 600)), text))
    for c in sorted(said, key=lambda c: c.posted):
        social.comments.add(Comment(social.comments.mint(), c.post_id, c.author, c.posted, c.text))


def _go_on_talking(social: SocialMedia, make: Maker, me: User) -> None:
    """What others will post in the coming two weeks."""
    others = [u for u in social.users if u.user_id != me.user_id]
    texts = [(topic, text) for topic, some in POSTS.items() for text in some]
    said = {(p.author, p.text.split(" #")[0]) for p in social.posts}
    for due in sorted(make.moment(make.between(0, 13), make.between(10, 22), make.between(0, 59)) for _ in range(36)):
        author, (topic, text) = make.pick(others), make.pick(texts)
        if (author.user_id, text) not in said:
            social.coming.add(Coming(social.coming.mint(), due, author.user_id, topic, text))
            said.add((author.user_id, text))
