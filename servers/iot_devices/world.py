"""One household's house: a dozen rooms whose devices share names, some offline, one lock that may be jammed."""

from datetime import timedelta

import msgspec

from prove.servers import brief
from prove.servers.maker import Maker
from servers.iot_devices.tools import UNITS, Automation, Device, Household, IotDevices, Room, Scene, Sensor, Setting, ThermostatMode

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
MEMORY_HOURS = 33  # today so far and yesterday


def populate(home: IotDevices, make: Maker) -> None:
    first_hour = make.start - timedelta(hours=MEMORY_HOURS)
    home.households.add(Household("HOME", make.digits(6), make.digits(4), make.start))
    for name, floor, things in [*ROOMS[:ALWAYS], *make.some(ROOMS[ALWAYS:], make.between(3, 5))]:
        room = home.rooms.add(Room(name, floor))
        for thing, sort in things:
            device = home.devices.add(_device(home.devices.mint(), thing, sort, room, make))
            if device.kind == "sensor":
                home.sensors.add(Sensor(device.device_id, sort, _first_value(sort, make), UNITS[sort], first_hour))
    _scenes(home, make)
    for hour in range(MEMORY_HOURS):
        home.measure(first_hour + timedelta(hours=hour + 1))
    _trouble(home, make)


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


def _first_value(measure: str, make: Maker) -> float:
    return make.between(160, 230) / 10 if measure == "temperature" else float(make.between(40, 60))


def _scenes(home: IotDevices, make: Maker) -> None:
    """The scenes whose rooms this house has, and the automations that play them; some have been disabled."""
    scenes = {}
    for name, room, wanted in SCENES:
        if room in home.rooms:
            inside = [d for d in home.devices.where(room_id=room) if d.name in wanted]
            settings = [msgspec.structs.replace(brief(d, Setting), **wanted[d.name]) for d in inside]
            scenes[name] = home.scenes.add(Scene(home.scenes.mint(), name, room, settings)).scene_id
    for name, scene, at, days in AUTOMATIONS:
        if scene in scenes:
            status = "enabled" if make.chance(0.7) else "disabled"
            home.automations.add(Automation(home.automations.mint(), name, scenes[scene], at, days, status))


def _trouble(home: IotDevices, make: Maker) -> None:
    """Devices that do not answer, a jammed bolt, and in some houses an alarm that is armed."""
    silent = [d for d in home.devices if d.kind in ("light", "plug", "sensor", "blind")]
    for device in make.some(silent, 4):
        home.devices.update(device.device_id, link="offline", battery=None if device.battery is None else 0)
    doors = home.devices.where(kind="lock")
    if make.chance(0.5):  # everything is shut, and half of the time the alarm is on
        for door in doors:
            home.devices.update(door.device_id, state="locked")
        for gate in home.devices.where(kind="garage_door"):
            home.devices.update(gate.device_id, state="closed", position=0)
        panel = home.devices.where(kind="alarm")[0]
        home.devices.update(panel.device_id, state=make.pick(("disarmed", "disarmed", "armed_home", "armed_night")))
    elif make.chance(0.5):
        home.devices.update(make.pick(doors).device_id, state="jammed")
