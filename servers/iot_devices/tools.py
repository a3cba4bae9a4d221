"""A smart home with one hub. Sensors follow what the devices do, hour by hour; doors and alarm need the household's codes."""

from datetime import timedelta
from typing import Annotated, Literal, NewType

from prove.servers import (
    Day,
    Limit,
    Meta,
    Moment,
    Page,
    Query,
    Record,
    Secret,
    Server,
    ToolError,
    brief,
    matches,
    page,
    read,
    require,
    table,
    write,
)

RoomId = NewType("RoomId", str)
DeviceId = NewType("DeviceId", str)
SceneId = NewType("SceneId", str)
AutomationId = NewType("AutomationId", str)

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
TimeOfDay = Annotated[str, Meta(pattern=r"^([01]\d|2[0-3]):[0-5]\d$", description="a time of day, HH:MM in 24 hours")]
Days = Annotated[Literal["every_day", "weekdays", "weekends"], Meta(description="the days on which an automation runs")]
AutomationStatus = Annotated[Literal["enabled", "disabled"], Meta(description="whether the automation runs when its time comes")]

BUILT_IN = ("blind", "garage_door", "lock", "alarm")
SWITCHED = ("light", "plug", "fan")
SCENIC = (*SWITCHED, "thermostat", "blind")  # what a scene sets; it leaves doors and the alarm alone
UNITS = {"temperature": "degrees Celsius", "humidity": "percent", "illuminance": "lux", "power": "watts"}
WATTS = {"light": 9, "plug": 60, "fan": 35}
OUTDOORS = (9, 9, 8, 8, 7, 7, 8, 9, 11, 13, 15, 16, 17, 18, 18, 18, 17, 16, 15, 14, 13, 12, 11, 10)  # degrees, by hour of the day
DAYLIGHT = (0, 0, 0, 0, 0, 5, 40, 150, 300, 450, 600, 700, 750, 750, 700, 600, 450, 300, 150, 40, 5, 0, 0, 0)  # lux, by hour of the day


class Household(Record):
    household_id: str
    door_code: DoorCode
    alarm_code: AlarmCode
    lived_until: Moment  # up to when automations ran and sensors measured


class Room(Record):
    room_id: RoomId  # its name: that is how a household knows its rooms
    floor: Floor


class Device(Record):
    device_id: DeviceId
    name: str
    kind: DeviceKind
    room_id: RoomId
    state: DeviceState
    link: Literal["online", "offline"] = "online"
    battery: int | None = None  # percent; None for what hangs on the mains
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
    status: AutomationStatus = "enabled"
    last_run: Moment | None = None


class DeviceLine(Record):
    device_id: DeviceId
    name: str
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


class IotDevices(Server):
    """Rooms, devices, sensors, scenes, automations and the alarm of one smart home."""

    category = "Devices"

    households = table(Household)
    rooms = table(Room)
    devices = table(Device, "DEV-{}", start=101)
    sensors = table(Sensor)
    logs = table(SensorLog)
    scenes = table(Scene, "SCN-{}", start=21)
    automations = table(Automation, "AUT-{}", start=51)

    # --- rooms and devices

    @read
    def list_rooms(self, floor: Floor | None = None) -> Page[Room]:
        """List the rooms of the house."""
        return page((r for r in self.rooms if floor in (None, r.floor)), 50, Room)

    @write
    def create_room(self, name: RoomName, floor: Floor) -> Room:
        """Add a room, empty at first, to which devices can be moved."""
        known = any(r.room_id.casefold() == name.casefold() for r in self.rooms)
        require(not known, "conflict", f"there is a room called {name!r} already: choose another name")
        return self.rooms.add(Room(RoomId(name), floor))

    @read
    def list_devices(
        self,
        query: Query | None = None,
        kind: DeviceKind | None = None,
        room_id: RoomId | None = None,
        state: DeviceState | None = None,
        limit: Limit = 20,
    ) -> Page[DeviceLine]:
        """Find devices by name, kind, room or what they are doing right now; query looks at the names of device and room."""
        if room_id:
            self.rooms.get(room_id)
        found = (d for d in self.devices if kind in (None, d.kind) and room_id in (None, d.room_id) and state in (None, d.state))
        return page((d for d in found if matches(query, d.name, d.room_id)), limit, DeviceLine)

    @read
    def get_device(self, device_id: DeviceId) -> Device:
        """Show one device in full: its state and settings, battery, and whether it is online."""
        return self.devices.get(device_id)

    @write(idempotent=True)
    def move_device(self, device_id: DeviceId, room_id: RoomId) -> Device:
        """Assign a device that can be carried to another room."""
        device = self.devices.get(device_id)
        require(device.kind not in BUILT_IN, "invalid_argument", f"{device_id} is of kind {device.kind}: it is built into its room")
        self.rooms.get(room_id)
        return self.devices.update(device_id, room_id=room_id)

    # --- lights, plugs and fans

    @write(idempotent=True)
    def turn_on(self, device_id: DeviceId) -> Device:
        """Switch on a light, a plug or a fan."""
        self._reach(device_id, *SWITCHED)
        return self.devices.update(device_id, state="on")

    @write(idempotent=True)
    def turn_off(self, device_id: DeviceId) -> Device:
        """Switch off a light, a plug or a fan."""
        self._reach(device_id, *SWITCHED)
        return self.devices.update(device_id, state="off")

    @write(idempotent=True)
    def set_brightness(self, device_id: DeviceId, brightness: Brightness) -> Device:
        """Dim or brighten a light that is on."""
        light = self._lit(device_id)
        require(light.brightness is not None, "invalid_argument", f"light {device_id} cannot be dimmed, only switched on and off")
        return self.devices.update(device_id, brightness=brightness)

    @write(idempotent=True)
    def set_color(self, device_id: DeviceId, color: Color) -> Device:
        """Change the color of a color light that is on."""
        light = self._lit(device_id)
        require(light.color is not None, "invalid_argument", f"light {device_id} has no colors, it is white only")
        return self.devices.update(device_id, color=color)

    # --- heating, blinds, doors

    @write(idempotent=True)
    def set_thermostat_temperature(self, device_id: DeviceId, temperature: Temperature) -> Device:
        """Set the target of a thermostat that is not off; the room gets there over the next hours."""
        thermostat = self._reach(device_id, "thermostat")
        require(thermostat.state != "off", "failed_precondition", f"thermostat {device_id} is off: set its mode first")
        return self.devices.update(device_id, target=temperature)

    @write(idempotent=True)
    def set_thermostat_mode(self, device_id: DeviceId, mode: ThermostatMode) -> Device:
        """Let a thermostat heat, cool, do either as needed, or nothing."""
        able = self._reach(device_id, "thermostat").modes or []
        require(mode in able, "invalid_argument", f"thermostat {device_id} cannot {mode}: its modes are {', '.join(able)}")
        return self.devices.update(device_id, state=mode)

    @write(idempotent=True)
    def set_cover_position(self, device_id: DeviceId, position: Openness) -> Device:
        """Open or close a blind or a garage door, fully or in part; an armed alarm keeps the garage shut."""
        cover = self._reach(device_id, "blind", "garage_door")
        if cover.kind == "garage_door" and position:
            self._check_disarmed()
        return self.devices.update(device_id, position=position, state="open" if position else "closed")

    @write(idempotent=True)
    def lock_door(self, device_id: DeviceId) -> Device:
        """Lock a door."""
        lock = self._reach(device_id, "lock")
        require(lock.state != "jammed", "failed_precondition", f"lock {device_id} is jammed: unlock it first to free the bolt")
        return self.devices.update(device_id, state="locked")

    @write(idempotent=True)
    def unlock_door(self, device_id: DeviceId, code: DoorCode) -> Device:
        """Unlock a door, or free its jammed bolt; needs the door code and a disarmed alarm."""
        self._reach(device_id, "lock")
        require(code == self._household().door_code, "permission_denied", "the door code is wrong: ask for it again")
        self._check_disarmed()
        return self.devices.update(device_id, state="unlocked")

    # --- sensors

    @read
    def read_sensor(self, device_id: DeviceId) -> Sensor:
        """Read the latest value of a sensor that is online."""
        self._reach(device_id, "sensor")
        return self.sensors.get(device_id)

    @read
    def get_sensor_history(self, device_id: DeviceId, day: Day) -> SensorDay:
        """Show what a sensor measured on one day: every hour, and the lowest, highest and average value."""
        device = self.devices.get(device_id)
        require(device.kind == "sensor", "invalid_argument", f"{device_id} is of kind {device.kind}, not sensor")
        log = self.logs.find(f"{device_id} {day}")
        if log is None:
            raise ToolError("not_found", f"{device_id} measured nothing on {day}: choose another day, up to {self.today}")
        values = [hour.value for hour in log.hours]
        average = round(sum(values) / len(values), 1)
        return SensorDay(device_id, day, self.sensors.get(device_id).unit, min(values), max(values), average, log.hours)

    # --- scenes

    @read
    def list_scenes(self, query: Query | None = None, room_id: RoomId | None = None, limit: Limit = 20) -> Page[SceneLine]:
        """List saved scenes by name or room."""
        if room_id:
            self.rooms.get(room_id)
        found = (s for s in self.scenes if matches(query, s.name) and room_id in (None, s.room_id))
        return page(found, limit, SceneLine)

    @write
    def create_scene(self, name: SceneName, room_id: RoomId) -> Scene:
        """Save how the lights, plugs, fans, thermostats and blinds of a room are set right now."""
        self.rooms.get(room_id)
        known = [s.scene_id for s in self.scenes if s.name.casefold() == name.casefold()]
        require(not known, "conflict", f"there is a scene called {name!r} already: {', '.join(known)}")
        settings = [brief(d, Setting) for d in self.devices.where(room_id=room_id) if d.kind in SCENIC]
        require(settings, "failed_precondition", f"the {room_id} has nothing that a scene could set: move a light or the like there first")
        return self.scenes.add(Scene(self.scenes.mint(), name, room_id, settings))

    @write(idempotent=True)
    def activate_scene(self, scene_id: SceneId) -> SceneRun:
        """Put the devices of a scene back as it was saved, leaving out those that are offline."""
        return self._play(self.scenes.get(scene_id))

    @write(destructive=True)
    def delete_scene(self, scene_id: SceneId) -> Scene:
        """Forget a scene that no enabled automation plays."""
        users = ", ".join(a.automation_id for a in self.automations.where(scene_id=scene_id) if a.status == "enabled")
        require(not users, "failed_precondition", f"scene {scene_id} is played by an automation: disable {users} first")
        return self.scenes.remove(scene_id)

    # --- automations

    @read
    def list_automations(self, query: Query | None = None, status: AutomationStatus | None = None, limit: Limit = 20) -> Page[Automation]:
        """List what the house does by itself: which scene, when, on which days, and when it last did."""
        found = (a for a in self.automations if matches(query, a.name) and status in (None, a.status))
        return page(found, limit, Automation)

    @write
    def create_automation(self, name: AutomationName, scene_id: SceneId, time: TimeOfDay, days: Days = "every_day") -> Automation:
        """Let the house play a scene by itself at a time of day."""
        self.scenes.get(scene_id)
        known = [a.automation_id for a in self.automations if a.name.casefold() == name.casefold()]
        require(not known, "conflict", f"there is an automation called {name!r} already: {', '.join(known)}")
        return self.automations.add(Automation(self.automations.mint(), name, scene_id, time, days))

    @write(idempotent=True)
    def set_automation_status(self, automation_id: AutomationId, status: AutomationStatus) -> Automation:
        """Enable an automation, or disable it until further notice."""
        automation = self.automations.get(automation_id)
        gone = status == "enabled" and automation.scene_id not in self.scenes
        require(not gone, "failed_precondition", f"{automation_id} cannot run: its scene {automation.scene_id} was deleted; create another")
        return self.automations.update(automation_id, status=status)

    # --- the alarm

    @write
    def arm_security(self, mode: ArmMode) -> Device:
        """Arm the alarm; every door must be locked and the garage closed."""
        panel = self._panel()
        require(panel.state == "disarmed", "failed_precondition", f"the alarm is {panel.state} already: disarm it first")
        ajar = [f"{d.name} ({d.device_id}) is {d.state}" for d in self.devices if not _is_secure(d)]
        require(not ajar, "failed_precondition", f"{'; '.join(ajar)}: lock and close these first")
        return self.devices.update(panel.device_id, state=f"armed_{mode}")

    @write
    def disarm_security(self, code: AlarmCode) -> Device:
        """Switch the alarm off; needs the alarm code."""
        panel = self._panel()
        require(panel.state != "disarmed", "failed_precondition", "the alarm is disarmed already")
        require(code == self._household().alarm_code, "permission_denied", "the alarm code is wrong: ask for it again")
        return self.devices.update(panel.device_id, state="disarmed")

    # --- rules

    def elapse(self) -> None:
        """Hour by hour: first the automations that fall due, then what the sensors see."""
        home = self._household()
        since = home.lived_until
        while since < self.now:
            full = since.replace(minute=0, second=0, microsecond=0) + timedelta(hours=1)
            until = min(full, self.now)
            self._automate(since, until)
            if until == full:
                self.measure(until)
            since = until
        self.households.update(home.household_id, lived_until=since)

    def measure(self, at: Moment) -> None:
        """Let every sensor that is online see its room as it is at the full hour, and keep what it saw."""
        around: dict[RoomId, list[Device]] = {}
        for device in self.devices:
            around.setdefault(device.room_id, []).append(device)
        for sensor in list(self.sensors):
            device = self.devices.get(sensor.device_id)
            if device.link == "online":
                value = _sense(sensor, around[device.room_id], at.hour)
                self.sensors.update(sensor.device_id, value=value, taken=at)
                self._log(sensor.device_id, HourlyValue(at, value))

    def _log(self, device_id: DeviceId, hour: HourlyValue) -> None:
        key = f"{device_id} {hour.taken.date()}"
        if log := self.logs.find(key):
            self.logs.update(key, hours=[*log.hours, hour])
        else:
            self.logs.add(SensorLog(key, device_id, hour.taken.date(), [hour]))

    def _automate(self, since: Moment, until: Moment) -> None:
        enabled = [a for a in self.automations if a.status == "enabled"]
        due = [(moment, a) for a in enabled if (moment := _falls_due(a, since)) and moment <= until]
        for moment, automation in sorted(due, key=lambda pair: pair[0]):
            self._play(self.scenes.get(automation.scene_id))
            self.automations.update(automation.automation_id, last_run=moment)

    def _play(self, scene: Scene) -> SceneRun:
        changed, unreachable = 0, []
        for setting in scene.settings:
            device = self.devices.get(setting.device_id)
            if device.link == "offline":
                unreachable.append(setting.device_id)
            elif brief(device, Setting) != setting:
                wanted = {field: getattr(setting, field) for field in Setting.__struct_fields__}
                self.devices.update(setting.device_id, **wanted)
                changed += 1
        return SceneRun(scene.scene_id, scene.name, changed, unreachable)

    def _reach(self, device_id: DeviceId, *kinds: str) -> Device:
        device = self.devices.get(device_id)
        require(device.kind in kinds, "invalid_argument", f"{device_id} is of kind {device.kind}, not {' or '.join(kinds)}")
        require(device.link == "online", "failed_precondition", f"{device_id} is offline and does not answer: try another device")
        return device

    def _lit(self, device_id: DeviceId) -> Device:
        light = self._reach(device_id, "light")
        require(light.state == "on", "failed_precondition", f"light {device_id} is off: turn it on first")
        return light

    def _check_disarmed(self) -> None:
        panel = self._panel()
        require(panel.state == "disarmed", "failed_precondition", f"the alarm is {panel.state}: disarm it first")

    def _panel(self) -> Device:
        return self.devices.where(kind="alarm")[0]

    def _household(self) -> Household:
        return self.households.one()


def _is_secure(device: Device) -> bool:
    return device.kind not in ("lock", "garage_door") or device.state in ("locked", "closed")


def _falls_due(automation: Automation, since: Moment) -> Moment | None:
    """When an automation runs within a day after `since`; None if that is not one of its days."""
    hour, minute = map(int, automation.time.split(":"))
    moment = since.replace(hour=hour, minute=minute, second=0, microsecond=0)
    if moment <= since:
        moment += timedelta(days=1)
    wanted = automation.days == "every_day" or (moment.weekday() < 5) == (automation.days == "weekdays")
    return moment if wanted else None


def _sense(sensor: Sensor, around: list[Device], hour: int) -> float:
    """What a sensor shows an hour after its last value, with these devices in its room."""
    lit = [d for d in around if d.kind == "light" and d.state == "on"]
    if sensor.measure == "power":
        return float(sum(WATTS[d.kind] for d in around if d.kind in WATTS and d.state == "on"))
    if sensor.measure == "illuminance":
        blinds = [d.position or 0 for d in around if d.kind == "blind"] or [100]
        return round(DAYLIGHT[hour] * sum(blinds) / (100 * len(blinds)) + sum(4 * (d.brightness or 100) for d in lit), 1)
    if sensor.measure == "humidity":
        aired = any(d.kind == "fan" and d.state == "on" for d in around)
        return _towards(sensor.value, 45 if aired else 55, 3 if aired else 1)
    goals = [d.target for d in around if d.kind == "thermostat" and d.target is not None and _works(d.state, d.target - sensor.value)]
    return _towards(sensor.value, goals[0], 1) if goals else _towards(sensor.value, OUTDOORS[hour], 0.2)


def _works(mode: DeviceState, missing: float) -> bool:
    """Whether a thermostat in that mode does something about the degrees that a room misses."""
    return mode == "auto" or (mode == "heat" and missing >= 0) or (mode == "cool" and missing <= 0)


def _towards(value: float, goal: float, pace: float) -> float:
    return round(value + max(-pace, min(pace, goal - value)), 1)
