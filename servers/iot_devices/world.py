"""One household's house: a dozen rooms whose devices share names, some offline, one lock that may be jammed."""

from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial

import msgspec

from prove.servers import brief
from prove.servers.maker import Maker

from .house import DAY, HOUR, OUTDOORS, SATURDAY
from .records import SWITCHED, UNITS, Automation, Device, Household, Room, Scene, Sensor, Setting, ThermostatMode
from .tools import IotDevices

WHITE, COLOR, SIMPLE = "dimmable light", "color light", "light"  # what a light can do
HEATING, CLIMATE = "heating", "climate"  # what a thermostat can do

ROOMS = (  # name, floor, what is there: (device, sort)
    ("living room", "ground", (
        ("ceiling light", WHITE), ("floor lamp", COLOR), ("reading lamp", COLOR), ("TV backlight", COLOR), ("TV plug", "plug"),
        ("ceiling fan", "fan"), ("thermostat", CLIMATE), ("blind", "blind"), ("curtain", "blind"),
        ("temperature sensor", "temperature"), ("light sensor", "illuminance"),
    )),
    ("kitchen", "ground", (
        ("ceiling light", WHITE), ("counter light", COLOR), ("coffee maker plug", "plug"), ("kettle plug", "plug"), ("blind", "blind"),
        ("thermostat", HEATING), ("back door", "lock"), ("temperature sensor", "temperature"), ("power meter", "power"),
    )),
    ("hallway", "ground", (
        ("ceiling light", SIMPLE), ("wall lamp", COLOR), ("thermostat", HEATING), ("front door", "lock"), ("alarm panel", "alarm"),
        ("temperature sensor", "temperature"),
    )),
    ("main bedroom", "upper", (
        ("ceiling light", WHITE), ("left bedside lamp", COLOR), ("right bedside lamp", COLOR), ("ceiling fan", "fan"),
        ("thermostat", CLIMATE), ("blind", "blind"), ("temperature sensor", "temperature"), ("humidity sensor", "humidity"),
    )),
    ("bathroom", "upper", (
        ("ceiling light", SIMPLE), ("mirror light", WHITE), ("extractor fan", "fan"), ("towel rail plug", "plug"),
        ("thermostat", HEATING), ("humidity sensor", "humidity"),
    )),
    ("garage", "ground", (
        ("ceiling light", SIMPLE), ("garage door", "garage_door"), ("side door", "lock"), ("charger plug", "plug"),
        ("power meter", "power"),
    )),
    ("garden", "outside", (
        ("path light", COLOR), ("lantern", COLOR), ("fountain plug", "plug"), ("gate", "lock"),
        ("temperature sensor", "temperature"), ("light sensor", "illuminance"),
    )),
    ("home office", "upper", (
        ("ceiling light", WHITE), ("desk lamp", COLOR), ("monitor plug", "plug"), ("printer plug", "plug"), ("thermostat", CLIMATE),
        ("blind", "blind"), ("temperature sensor", "temperature"), ("light sensor", "illuminance"), ("power meter", "power"),
    )),
    ("kids' room", "upper", (
        ("ceiling light", WHITE), ("night light", COLOR), ("thermostat", CLIMATE), ("curtain", "blind"),
        ("temperature sensor", "temperature"),
    )),
    ("guest room", "upper", (("ceiling light", WHITE), ("bedside lamp", COLOR), ("thermostat", CLIMATE), ("curtain", "blind"))),
    ("dining room", "ground", (("pendant lamp", WHITE), ("sideboard lamp", COLOR), ("thermostat", CLIMATE), ("blind", "blind"))),
    ("laundry room", "basement", (
        ("ceiling light", SIMPLE), ("washer plug", "plug"), ("dryer plug", "plug"), ("extractor fan", "fan"),
        ("humidity sensor", "humidity"), ("power meter", "power"),
    )),
    ("wine cellar", "basement", (("ceiling light", SIMPLE), ("temperature sensor", "temperature"), ("humidity sensor", "humidity"))),
)  # fmt: skip
ALWAYS = 7  # every house has the first rooms of the list, and some of the others

SCENES = (  # name, room, how it sets what is there
    ("movie night", "living room", {"ceiling light": {"state": "off"}, "floor lamp": {"state": "on", "brightness": 15},
                                    "TV plug": {"state": "on"}, "curtain": {"state": "closed", "position": 0}}),
    ("reading time", "living room", {"reading lamp": {"state": "on", "brightness": 80}, "TV plug": {"state": "off"}}),
    ("breakfast", "kitchen", {"coffee maker plug": {"state": "on"}, "blind": {"state": "open", "position": 100}}),
    ("kitchen off", "kitchen", {"ceiling light": {"state": "off"}, "coffee maker plug": {"state": "off"}, "kettle plug": {"state": "off"}}),
    ("bedtime", "main bedroom", {"ceiling light": {"state": "off"}, "left bedside lamp": {"state": "on", "brightness": 20},
                                 "blind": {"state": "closed", "position": 0}}),
    ("rise and shine", "main bedroom", {"blind": {"state": "open", "position": 100}, "thermostat": {"state": "heat", "target": 21.0}}),
    ("garden party", "garden", {"path light": {"state": "on", "brightness": 60}, "lantern": {"state": "on", "color": "orange"}}),
    ("focus", "home office", {"desk lamp": {"state": "on", "color": "cool_white"}, "blind": {"state": "open", "position": 50}}),
    ("story time", "kids' room", {"ceiling light": {"state": "off"}, "night light": {"state": "on", "color": "warm_white"}}),
    ("dinner for two", "dining room", {"pendant lamp": {"state": "on", "brightness": 30}, "sideboard lamp": {"state": "off"}}),
)  # fmt: skip
AUTOMATIONS = (  # name, scene, time, days
    ("morning coffee", "breakfast", "06:45", "weekdays"),
    ("lazy morning coffee", "breakfast", "09:30", "weekends"),
    ("kitchen shutdown", "kitchen off", "23:15", "every_day"),
    ("wake-up", "rise and shine", "07:00", "weekdays"),
    ("lights out", "bedtime", "22:30", "every_day"),
    ("evening garden", "garden party", "20:00", "weekends"),
    ("work mode", "focus", "08:30", "weekdays"),
)
LIVED = timedelta(days=7, hours=1)  # before the world begins, so that what runs on some days of the week has run
Deed = tuple[datetime, Callable[[], object]]  # what somebody in the house does, and when


def populate(home: IotDevices, make: Maker) -> None:
    begin = make.start - LIVED
    home.clock.now = begin
    home.households.add(Household("HOME", make.digits(6), make.digits(4), begin))
    for name, floor, things in [*ROOMS[:ALWAYS], *make.some(ROOMS[ALWAYS:], make.between(3, 5))]:
        room = home.rooms.add(Room(name, floor))
        for thing, sort in things:
            device = home.devices.add(_device(home.devices.mint(), thing, sort, room, make))
            if device.kind == "sensor":
                home.sensors.add(Sensor(device.device_id, sort, _first_value(sort, floor, begin, make), UNITS[sort], begin))
    _scenes(home, make)
    for moment, deed in sorted([*_habits(home, make), *_trouble(home, make)], key=lambda pair: pair[0]):
        home.live_until(moment)
        deed()
    home.live_until(make.start)


def _habits(home: IotDevices, make: Maker) -> list[Deed]:
    """What the household does by hand in the mornings and evenings; some automations they came to disable."""
    deeds: list[Deed] = []
    evenings = [make.moment(-days, 19, make.between(0, 59)) for days in (7, 3, 2, 1)]
    for moment in (*evenings, make.start - timedelta(minutes=make.between(20, 80))):
        for device in make.some([d for d in home.devices if d.kind in (*SWITCHED, "blind")], make.between(2, 5)):
            deeds.append((moment, partial(_use, home, device.device_id)))
    for automation in home.automations:
        if make.chance(0.3):
            off = make.moment(-make.between(1, 6), make.between(10, 21), make.between(0, 59))
            deeds.append((off, partial(home.set_automation_status, automation.automation_id, "disabled")))
    return deeds


def _use(home: IotDevices, device_id: str) -> None:
    """Switch a device that answers to what it is not, or shut or open a blind."""
    device = home.devices.get(device_id)
    if device.link == "online" and device.kind == "blind":
        home.set_cover_position(device_id, 0 if device.position else 100)
    elif device.link == "online":
        (home.turn_off if device.state == "on" else home.turn_on)(device_id)


def _trouble(home: IotDevices, make: Maker) -> list[Deed]:
    """Devices that stopped answering since somebody last saw to them, a jammed bolt, and in some houses an alarm that is armed."""
    seen_to = (make.start - DAY * ((make.start.weekday() - SATURDAY) % 7)).replace(hour=12)
    since = max(seen_to if seen_to < make.start else seen_to - 7 * DAY, make.start - 3 * DAY)
    deeds: list[Deed] = []
    for device in make.some([d for d in home.devices if d.kind in ("light", "plug", "sensor", "blind")], 4):
        moment = since + (make.start - since - HOUR) * make.between(1, 99) / 100
        dead = None if device.battery is None else 0
        deeds.append((moment, partial(home.devices.update, device.device_id, link="offline", battery=dead)))
    doors, last_evening = home.devices.where(kind="lock"), make.moment(-1, 22, 5)
    if make.chance(0.5):  # everything is shut, and half of the time the alarm is on
        deeds += [(last_evening, partial(home.lock_door, door.device_id)) for door in doors]
        deeds += [(last_evening, partial(home.set_cover_position, gate.device_id, 0)) for gate in home.devices.where(kind="garage_door")]
        if mode := make.pick((None, None, "home", "night")):
            deeds.append((last_evening + HOUR, partial(home.arm_security, mode)))
    elif make.chance(0.5):
        deeds.append((last_evening, partial(home.devices.update, make.pick(doors).device_id, state="jammed")))
    return deeds


def _device(device_id: str, name: str, sort: str, room: Room, make: Maker) -> Device:
    common = (device_id, name)
    if sort in (WHITE, COLOR, SIMPLE):
        brightness = None if sort == SIMPLE else make.between(20, 100, 10)
        color = make.pick(("warm_white", "cool_white", "orange", "blue")) if sort == COLOR else None
        return Device(*common, "light", room.room_id, make.pick(("on", "on", "off")), brightness=brightness, color=color)
    if sort in (HEATING, CLIMATE):
        modes: list[ThermostatMode] = ["off", "heat"] if sort == HEATING else ["off", "heat", "cool", "auto"]
        target = make.between(36, 46) / 2
        return Device(*common, "thermostat", room.room_id, make.pick(modes), battery=make.between(15, 100), target=target, modes=modes)
    if sort in ("blind", "garage_door"):
        position = make.pick((0, 0, 50, 100) if sort == "blind" else (0, 0, 0, 100))
        return Device(*common, sort, room.room_id, "open" if position else "closed", position=position)
    if sort == "lock":
        return Device(*common, "lock", room.room_id, make.pick(("locked", "unlocked")), battery=make.between(10, 100))
    if sort in UNITS:
        return Device(*common, "sensor", room.room_id, "measuring", battery=make.between(5, 100))
    return Device(*common, sort, room.room_id, "disarmed" if sort == "alarm" else make.pick(("on", "off")))


def _first_value(measure: str, floor: str, moment: datetime, make: Maker) -> float:
    if measure == "temperature" and floor == "outside":
        return float(OUTDOORS[moment.hour])
    return make.between(160, 230) / 10 if measure == "temperature" else float(make.between(40, 60))


def _scenes(home: IotDevices, make: Maker) -> None:
    """The scenes whose rooms this house has, and the automations that play them."""
    scenes = {}
    for name, room, wanted in SCENES:
        if room in home.rooms:
            inside = [d for d in home.devices.where(room_id=room) if d.name in wanted]
            settings = [msgspec.structs.replace(brief(d, Setting), **wanted[d.name]) for d in inside]
            scenes[name] = home.scenes.add(Scene(home.scenes.mint(), name, room, settings)).scene_id
    for name, scene, at, days in AUTOMATIONS:
        if scene in scenes:
            home.automations.add(Automation(home.automations.mint(), name, scenes[scene], at, days, since=home.now))
