"""A PIN or a code that is tried: wrong ones are counted, and too many lock it for a day."""

from datetime import datetime, timedelta
from typing import Any

from prove.servers.errors import Strike, require
from prove.servers.state import Table

WRONG_TRIES = 3  # one after the other, that lock it
LOCKED_FOR = timedelta(days=1)


def check_secret(holders: Table[Any], right: bool, now: datetime, name: str) -> None:
    """Refuse a secret that is wrong, and any while it is locked. The one record of `holders` keeps count, in its fields `wrong_tries`
    and `locked_until`; a right one begins the count anew. Raises `ToolError("permission_denied")`."""
    holder = holders.one()
    locked = holder.locked_until is not None and holder.locked_until > now
    require(not locked, "permission_denied", f"the {name} is locked until {holder.locked_until}, after {WRONG_TRIES} wrong ones: wait")
    key = holders.key_of(holder)
    if right:
        if holder.wrong_tries:
            holders.update(key, wrong_tries=0, locked_until=None)
        return
    wrong = holder.wrong_tries % WRONG_TRIES + 1
    holders.update(key, wrong_tries=wrong, locked_until=now + LOCKED_FOR if wrong == WRONG_TRIES else None)
    advice = "it is locked for a day now: wait" if wrong == WRONG_TRIES else "ask for it again"
    raise Strike("permission_denied", f"the {name} is wrong, {wrong} of {WRONG_TRIES} that lock it: {advice}")
