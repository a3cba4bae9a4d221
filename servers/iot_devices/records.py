"""What a house is made of: rooms, devices and what they sense, scenes, automations, and the household's codes."""

from typing import Annotated, Literal, NewType

from prove.servers import Day, Meta, Moment, Record, Secret

RoomId = NewType("RoomId", str)
DeviceId = NewType("DeviceId", str)
SceneId = NewType("SceneId", str)
AutomationId = NewType("AutomationId", str)

DeviceName = Annotated[str, Meta(max_length=40, description="what a device is called in its room")]
Percent = Annotated[int, Meta(ge=0, le=100, description="percent")]
RoomName = Annotated[str, Meta(min_length=1, max_length=40, description="what the household calls a room")]
Floor = Annotated[Literal["basement", "ground", "upper", "outside"], Meta(description="where in the house the room is")]
DeviceKind = Annotated[
    Literal["light", "plug", "fan", "thermostat", "blind", "garage_door", "lock", "sensor", "alarm"],
    Meta(description="what sort of device"),
]
DeviceState = Annotated[
    Literal[
        "on", "off", "heat", "cool", "auto", "open", "closed", "locked", "unlocked", "jammed",
        "measuring", "disarmed", "armed_home", "armed_away", "armed_night",
    ],
    Meta(description="what a device is doing: lights are on or off, locks locked or unlocked, thermostats in a mode"),
]  # fmt: skip
Brightness = Annotated[int, Meta(ge=1, le=100, description="brightness in percent")]
Color = Annotated[
    Literal["warm_white", "cool_white", "red", "orange", "yellow", "green", "blue", "purple", "pink"],
    Meta(description="the color of a light"),
]
Temperature = Annotated[float, Meta(ge=10, le=30, multiple_of=0.5, description="a target temperature in degrees Celsius, in steps of 0.5")]
ThermostatMode = Annotated[Literal["off", "heat", "cool", "auto"], Meta(description="what a thermostat may do to reach its target")]
Openness = Annotated[int, Meta(ge=0, le=100, description="how far open in percent, 0 closed and 100 fully open")]
DoorCode = Annotated[
    Secret[str], Meta(pattern=r"^\d{6}$", description="the six-digit code for unlocking doors, which only the household can tell")
]
AlarmCode = Annotated[
    Secret[str], Meta(pattern=r"^\d{4}$", description="the four-digit code for disarming the alarm, which only the household can tell")
]
ArmMode = Annotated[Literal["home", "away", "night"], Meta(description="how the alarm watches: with people at home, away, or asleep")]
Measure = Annotated[Literal["temperature", "humidity", "illuminance", "power"], Meta(description="what a sensor measures")]
SceneName = Annotated[str, Meta(min_length=1, max_length=40, description="what the scene is called")]
AutomationName = Annotated[str, Meta(min_length=1, max_length=40, description="what the automation is called")]
TimeOfDay = Annotated[str, Meta(pattern=r"^([01]\d|2[0-3]):[0-5]\d$", description="a time of day in UTC, HH:MM in 24 hours")]
Days = Annotated[Literal["every_day", "weekdays", "weekends"], Meta(description="the days on which an automation runs")]
AutomationStatus = Annotated[Literal["enabled", "disabled"], Meta(description="whether the automation runs when its time comes")]

BUILT_IN = ("blind", "garage_door", "lock", "alarm")
SWITCHED = ("light", "plug", "fan")
SCENIC = (*SWITCHED, "thermostat", "blind")  # what a scene sets; it leaves doors and the alarm alone
UNITS = {"temperature": "degrees Celsius", "humidity": "percent", "illuminance": "lux", "power": "watts"}


class Household(Record):
    household_id: str
    door_code: DoorCode
    alarm_code: AlarmCode
    lived_until: Moment  # up to when everything that happens by itself has happened
    wrong_tries: int = 0  # of either code, one after the other
    locked_until: Moment | None = None


class Room(Record):
    room_id: RoomId  # its name: that is how a household knows its rooms
    floor: Floor


class Device(Record):
    device_id: DeviceId
    name: DeviceName
    kind: DeviceKind
    room_id: RoomId
    state: DeviceState
    link: Literal["online", "offline"] = "online"
    battery: Percent | None = None  # None for what hangs on the mains
    brightness: Brightness | None = None  # None for a light that cannot be dimmed
    color: Color | None = None  # None for a white light
    target: Temperature | None = None
    modes: list[ThermostatMode] | None = None  # what this thermostat is able to do
    position: Openness | None = None


class Sensor(Record):
    device_id: DeviceId
    measure: Measure
    value: float
    unit: str
    taken: Moment


class HourlyValue(Record):
    taken: Moment
    value: float


class SensorLog(Record):
    log_id: str  # device and day; no session adds devices, so this is never a new name
    device_id: DeviceId
    day: Day
    hours: list[HourlyValue]


class Setting(Record):
    device_id: DeviceId
    state: DeviceState
    brightness: Brightness | None
    color: Color | None
    target: Temperature | None
    position: Openness | None


class Scene(Record):
    scene_id: SceneId
    name: SceneName
    room_id: RoomId
    settings: list[Setting]


class Automation(Record):
    automation_id: AutomationId
    name: AutomationName
    scene_id: SceneId
    time: TimeOfDay
    days: Days
    since: Moment  # when it was enabled, or disabled
    status: AutomationStatus = "enabled"
    last_run: Moment | None = None


class DeviceLine(Record):
    device_id: DeviceId
    name: DeviceName
    kind: DeviceKind
    room_id: RoomId


class SceneLine(Record):
    scene_id: SceneId
    name: SceneName
    room_id: RoomId


class SensorDay(Record):
    device_id: DeviceId
    day: Day
    unit: str
    lowest: float
    highest: float
    average: float
    hours: list[HourlyValue]


class SceneRun(Record):
    scene_id: SceneId
    name: SceneName
    changed: int
    unreachable: list[DeviceId]
