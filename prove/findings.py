"""What is found in an episode's live session afterwards, for rewards that look at effects."""

from typing import TYPE_CHECKING

from prove.outcome import truth
from prove.rewards import Findings
from prove.said import share_said

if TYPE_CHECKING:
    from prove.episode import Episode


def findings_of(episode: "Episode", goal: bool) -> Findings | None:
    """Which steps are done, what is otherwise, what was said and when; None where there are no steps, or in files written before calls
    said what they are for."""
    conversation, certificate = episode.conversation, episode.conversation.certificate
    if not conversation.calls or not certificate or not certificate.effects:
        return None
    known = truth(conversation, episode.session)
    said, timely = share_said(known.sayings, _replies(episode)), known.timely(episode.calls)
    if goal:
        return Findings((1.0,) * len(known.calls), 0.0, said, timely)
    reached = min(episode.turn + 1, len(conversation.turns))
    shares, harm = known.written(episode.session, episode.session.outcome(), reached, episode.touched)
    heard = {i for i, turn in enumerate(conversation.turns) if turn.refusal and episode.heard(i, turn)}
    done = known.read(shares, episode.facts(), "".join(result.text for result in episode.results), heard)
    return Findings(tuple(done), harm, said, timely)


def _replies(episode: "Episode") -> list[str]:
    """What the assistant has said, one text for each of the user's turns."""
    out = list[str]()
    for message in episode.messages:
        if message["role"] == "user":
            out.append("")
        elif message["role"] == "assistant" and out:
            out[-1] += f"{message['content']}\n"
    return out
