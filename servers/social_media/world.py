"""Forty members, two of one first name, with interests, friends and a month of posts: some are private, one never answers, one has
blocked the user, and a few posts are for followers only or closed to comments."""

from prove.servers.maker import Maker
from servers.social_media.tools import Comment, Follow, Like, Login, Post, SocialMedia, User

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
    _follows(social, make, me, blocker)
    _posts(social, make, me)
    _reactions(social, make)


def _members(social: SocialMedia, make: Maker) -> list[User]:
    names = [make.person() for _ in range(MEMBERS - 1)]
    names.append(f"{names[5].split()[0]} {make.faker.last_name()}")  # two people of one first name
    for number, name in enumerate(names):
        first, last = (part.lower().replace("'", "") for part in name.split())
        handle = make.pick((f"{first}_{last}", f"{first}{number}", f"{last}_{first[:1]}{number}"))
        bio = make.pick(BIOS).format(*make.shuffled(list(POSTS))[:2]).capitalize()
        visibility = "private" if number and make.chance(0.2) else "public"
        social.users.add(User(social.users.mint(), name, handle, bio, visibility, make.day(-make.between(40, 2500))))
    return list(social.users)


def _follows(social: SocialMedia, make: Maker, me: User, blocker: User) -> None:
    """Everybody follows some others; the user also has two requests open, one of which is soon accepted."""
    users = list(social.users)
    asked = [u for u in users if u.visibility == "private" and u != me][:2]
    for user in users:
        for other in make.some([u for u in users if u != user], 16 if user == me else make.between(2, 8)):
            if user != me or (other not in asked and other.user_id != blocker.user_id):
                since = make.moment(-make.between(1, 400), make.between(6, 22))
                social.follows.add(Follow(social.follows.mint(), user.user_id, other.user_id, since))
    for other in asked:
        since = make.moment(0, 8, make.between(0, 50))
        social.follows.add(Follow(social.follows.mint(), me.user_id, other.user_id, since, "requested"))


def _posts(social: SocialMedia, make: Maker, me: User) -> None:
    """A month of posts, oldest first; now and then somebody shares a public one."""
    users, said = list(social.users), [(topic, text) for topic, texts in POSTS.items() for text in texts]
    fresh, public = iter(make.shuffled(said)), list[Post]()
    for ago in range(DAYS, 0, -1):
        for hour in sorted(make.between(6, 22) for _ in range(make.between(2, 4))):
            author = me if make.chance(0.12) else make.pick(users)
            posted = make.moment(-ago, hour, make.between(0, 59))
            if public and make.chance(0.1):
                original = make.pick(public)
                shared = (original.topic, original.text, "everyone", "everyone", original.post_id)
                social.posts.add(Post(social.posts.mint(), author.user_id, posted, *shared))
                continue
            topic, text = next(fresh, None) or make.pick(said)
            audience = "followers" if make.chance(0.15) else "everyone"
            content = (None if make.chance(0.1) else topic, text, audience, make.pick(REPLIERS))
            post = social.posts.add(Post(social.posts.mint(), author.user_id, posted, *content))
            if audience == "everyone" and author.visibility == "public":
                public.append(post)


def _reactions(social: SocialMedia, make: Maker) -> None:
    """Likes and comments by those who may see the post: anybody, or the author's followers."""
    users = {u.user_id: u for u in social.users}
    followers: dict[str, list[str]] = {user_id: [] for user_id in users}
    for follow in social.follows:
        if follow.status == "accepted":
            followers[follow.followed].append(follow.follower)
    for post in social.posts:
        for_all = post.audience == "everyone" and users[post.author].visibility == "public"
        seen_by = list(users) if for_all else followers[post.author]
        for user_id in make.some(seen_by, make.between(0, 6)):
            social.likes.add(Like(social.likes.mint(), post.post_id, user_id))
        writers = {"everyone": seen_by, "followers": followers[post.author], "nobody": []}[post.repliers]
        minutes = sorted(make.between(5, 600) for _ in range(make.between(0, 3)))
        for user_id, later in zip(make.some(writers, 3), minutes, strict=False):
            at = post.posted.replace(hour=min(23, post.posted.hour + later // 60))
            social.comments.add(Comment(social.comments.mint(), post.post_id, user_id, at, make.pick(COMMENTS)))
