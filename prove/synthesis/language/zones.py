"""Whose time it is: zones by the names that people have for them, and the zone in which a call's times are meant."""

from functools import cache
from typing import Any
from zoneinfo import ZoneInfo, available_timezones

from prove.servers.schema import fields_of
from prove.servers.server import Server


@cache
def place(zone: str) -> ZoneInfo:
    """The zone of an IANA name."""
    return ZoneInfo(zone)


@cache
def _by_town() -> dict[str, list[str]]:
    towns: dict[str, list[str]] = {}
    for zone in sorted(available_timezones()):
        if "/" in zone and not zone.startswith(("Etc/", "posix/", "right/", "SystemV/")):
            towns.setdefault(zone.rsplit("/", 1)[1].replace("_", " "), []).append(zone)
    return towns


def zones_called(town: str) -> list[ZoneInfo]:
    """The zones that a town gives its name to; none for a town that gives it to none."""
    return [place(zone) for zone in _by_town().get(town, [])]


@cache
def has_zones(server: type[Server]) -> bool:
    """Whether anything that a server holds has a time zone of its own: then a time is nothing without its zone."""
    return any("zone" in fields_of(spec.record) for spec in server.tables.values())


def zones_held(live: Server) -> list[str]:
    """The zones of all that a server holds."""
    return sorted({zone for rows in live.state.values() for record in rows if (zone := getattr(record, "zone", None))})


def zone_of(live: Server, arguments: dict[str, Any]) -> str:
    """The zone of what a call is about (a calendar, or an event in it), else UTC; "" on a server that knows no zones."""
    if not has_zones(type(live)):
        return ""
    for value in (v for v in arguments.values() if isinstance(v, str)):
        for key in (value, *_owners(live, value)):
            for rows in live.state.values():
                if zone := getattr(rows.find(key), "zone", None):
                    return str(zone)
    return "UTC"


def _owners(live: Server, key: str) -> list[str]:
    """The ids that stand in the records of that key."""
    records = [record for rows in live.state.values() if (record := rows.find(key)) is not None]
    return [value for r in records for f in r.__struct_fields__[1:] if isinstance(value := getattr(r, f), str)]
