"""What happens in a house by itself: when an automation runs, what a sensor shows, how batteries run down."""

from collections.abc import Callable
from datetime import datetime, timedelta

from .records import Automation, Device, DeviceState, Measure

WATTS = {"light": 9, "plug": 60, "fan": 35}
OUTDOORS = (9, 9, 8, 8, 7, 7, 8, 9, 11, 13, 15, 16, 17, 18, 18, 18, 17, 16, 15, 14, 13, 12, 11, 10)  # degrees, by hour of the day
DAYLIGHT = (0, 0, 0, 0, 0, 5, 40, 150, 300, 450, 600, 700, 750, 750, 700, 600, 450, 300, 150, 40, 5, 0, 0, 0)  # lux behind a window
OPEN_SKY = 20  # times as light as that
WEATHER_PACE = 2.5  # degrees an hour that a thermometer outside follows at most

DAY, HOUR = timedelta(days=1), timedelta(hours=1)
SATURDAY = 5
DAYS_PER_PERCENT = 3  # a battery lasts for most of a year


def next_run(automation: Automation, after: datetime) -> datetime:
    """When an automation is to run next, later than `after`."""
    moment = _at_its_time(automation, after)
    while moment <= after or not _is_its_day(automation, moment):
        moment += DAY
    return moment


def last_due(automation: Automation, until: datetime) -> datetime:
    """When an automation was to run last, not later than `until`."""
    moment = _at_its_time(automation, until)
    while moment > until or not _is_its_day(automation, moment):
        moment -= DAY
    return moment


def _at_its_time(automation: Automation, day: datetime) -> datetime:
    hour, minute = map(int, automation.time.split(":"))
    return day.replace(hour=hour, minute=minute, second=0, microsecond=0)


def _is_its_day(automation: Automation, moment: datetime) -> bool:
    return automation.days == "every_day" or (moment.weekday() < SATURDAY) == (automation.days == "weekdays")


def full_hour(moment: datetime) -> datetime:
    """The full hour at or before a moment."""
    return moment.replace(minute=0, second=0, microsecond=0)


def drains(moment: datetime) -> bool:
    """Whether batteries lose a percent at that moment: at midnight, every few days."""
    return moment == full_hour(moment) and moment.hour == 0 and moment.toordinal() % DAYS_PER_PERCENT == 0


def looked_after(moment: datetime) -> bool:
    """Whether that is when somebody goes round with new batteries and sees to what does not answer: on Saturdays at noon."""
    return moment == full_hour(moment) and moment.hour == 12 and moment.weekday() == SATURDAY


def spells(since: datetime, until: datetime) -> list[list[datetime]]:
    """The full hours between two moments, in spells: what `drains` or is `looked_after` changes with the first hour of one."""
    found: list[list[datetime]] = [[]]
    hour = full_hour(since) + HOUR
    while hour < until:
        if drains(hour) or looked_after(hour):
            found.append([])
        found[-1].append(hour)
        hour += HOUR
    return [spell for spell in found if spell]


def sense(measure: Measure, around: list[Device], outside: bool) -> Callable[[float, int], float]:
    """What a sensor shows at an hour of the day, given what it showed an hour before, while the devices around it stay as they are.

    Outside it shows the weather, to which a room opens by its blinds and which it follows slowly.
    """
    if measure == "power":
        watts = float(sum(WATTS[d.kind] for d in around if d.kind in WATTS and d.state == "on"))
        return lambda value, hour: watts
    if measure == "illuminance":
        blinds = [d.position or 0 for d in around if d.kind == "blind"] or [100]
        lamps = sum(4 * (d.brightness or 100) for d in around if d.kind == "light" and d.state == "on")
        share = OPEN_SKY if outside else sum(blinds) / (100 * len(blinds))
        return lambda value, hour: round(float(DAYLIGHT[hour] * share + lamps), 1)
    if measure == "humidity":
        aired = any(d.kind == "fan" and d.state == "on" for d in around)
        return lambda value, hour: _towards(value, 45 if aired else 55, 3 if aired else 1)
    if outside:
        return lambda value, hour: _towards(value, OUTDOORS[hour], WEATHER_PACE)
    climate = [(d.state, d.target) for d in around if d.kind == "thermostat" and d.target is not None]
    return lambda value, hour: _warmed(value, hour, climate)


def _warmed(value: float, hour: int, climate: list[tuple[DeviceState, float]]) -> float:
    """A room's temperature after an hour: a thermostat at work moves it faster than the weather outside."""
    for mode, target in climate:
        if mode == "auto" or (mode == "heat" and target >= value) or (mode == "cool" and target <= value):
            return _towards(value, target, 1)
    return _towards(value, OUTDOORS[hour], 0.2)


def _towards(value: float, goal: float, pace: float) -> float:
    missing = goal - value
    return round(float(goal if abs(missing) <= pace else value + pace if missing > 0 else value - pace), 1)
