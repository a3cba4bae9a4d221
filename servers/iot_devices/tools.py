"""A smart home with one hub. Sensors follow what the devices do, hour by hour; doors and alarm need the household's codes.

Times of day are UTC. What happens at one moment happens in this order: batteries run down or are changed, automations run,
the oldest first, sensors measure.
"""

from datetime import datetime
from itertools import groupby

from prove.servers import (
    Day, Limit, Moment, Offset, Page, Query, Server, brief, check_secret, matches, page, read, require, table, write,
)  # fmt: skip
from .house import drains, full_hour, last_due, looked_after, next_run, sense, spells
from .records import (
    BUILT_IN, SCENIC, SWITCHED,
    AlarmCode, ArmMode, Automation, AutomationId, AutomationName, AutomationStatus, Brightness, Color, Days, Device, DeviceId, DeviceKind,
    DeviceLine, DeviceState, DoorCode, Floor, HourlyValue, Household, Openness, Room, RoomId, RoomName, Scene, SceneId,
    SceneLine, SceneName, SceneRun, Sensor, SensorDay, SensorLog, Setting, Temperature, ThermostatMode, TimeOfDay,
)  # fmt: skip

WHEN_SEEN_TO = "try another device, or this one after Saturday noon, when somebody sees to what does not answer"


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
    def list_rooms(self, floor: Floor | None = None, limit: Limit = 50, offset: Offset = 0) -> Page[Room]:
        """List the rooms of the house."""
        return page((r for r in self.rooms if floor in (None, r.floor)), limit, Room, offset)

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
        offset: Offset = 0,
    ) -> Page[DeviceLine]:
        """Find devices by name, kind, room or what they are doing right now; query looks at the names of device and room."""
        found = (d for d in self.devices if kind in (None, d.kind) and room_id in (None, d.room_id) and state in (None, d.state))
        return page((d for d in found if matches(query, d.name, d.room_id)), limit, DeviceLine, offset)

    @read
    def get_device(self, device_id: DeviceId) -> Device:
        """Show one device in full: its state and settings, battery, and whether it is online."""
        return self.devices.get(device_id)

    @write(idempotent=True)
    def move_device(self, device_id: DeviceId, room_id: RoomId) -> Device:
        """Assign a device that can be carried to another room."""
        device = self.devices.get(device_id)
        require(device.kind not in BUILT_IN, "invalid_argument", f"{device_id} is of kind {device.kind}: it is built into its room")
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
        check_secret(self.households, code == self._household().door_code, self.now, "door code")
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
        logs = {log.day: log for log in self.logs.where(device_id=device_id)}
        known = f"{device_id} measured nothing on {day}: choose a day from {min(logs)} to {max(logs)}"
        require(day in logs, "not_found", known)
        log = logs[day]
        values = [hour.value for hour in log.hours]
        average = round(sum(values) / len(values), 1)
        return SensorDay(device_id, day, self.sensors.get(device_id).unit, min(values), max(values), average, log.hours)

    # --- scenes

    @read
    def list_scenes(
        self, query: Query | None = None, room_id: RoomId | None = None, limit: Limit = 20, offset: Offset = 0
    ) -> Page[SceneLine]:
        """List saved scenes by name or room."""
        found = (s for s in self.scenes if matches(query, s.name) and room_id in (None, s.room_id))
        return page(found, limit, SceneLine, offset)

    @write
    def create_scene(self, name: SceneName, room_id: RoomId) -> Scene:
        """Save how the lights, plugs, fans, thermostats and blinds of a room are set right now."""
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
    def list_automations(
        self, query: Query | None = None, status: AutomationStatus | None = None, limit: Limit = 20, offset: Offset = 0
    ) -> Page[Automation]:
        """List what the house does by itself: which scene, when, on which days, and when it last did."""
        found = (a for a in self.automations if matches(query, a.name) and status in (None, a.status))
        return page(found, limit, Automation, offset)

    @write
    def create_automation(self, name: AutomationName, scene_id: SceneId, time: TimeOfDay, days: Days = "every_day") -> Automation:
        """Let the house play a scene by itself at a time of day; of two at one time the older one plays first."""
        known = [a.automation_id for a in self.automations if a.name.casefold() == name.casefold()]
        require(not known, "conflict", f"there is an automation called {name!r} already: {', '.join(known)}")
        return self.automations.add(Automation(self.automations.mint(), name, scene_id, time, days, since=self.now))

    @write(idempotent=True)
    def set_automation_status(self, automation_id: AutomationId, status: AutomationStatus) -> Automation:
        """Enable an automation, or disable it until further notice."""
        automation = self.automations.get(automation_id)
        gone = status == "enabled" and automation.scene_id not in self.scenes
        lost = f"{automation_id} cannot run: its scene {automation.scene_id} was deleted; create another automation, under another name"
        require(not gone, "failed_precondition", lost)
        return automation if automation.status == status else self.automations.update(automation_id, status=status, since=self.now)

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
        check_secret(self.households, code == self._household().alarm_code, self.now, "alarm code")
        return self.devices.update(panel.device_id, state="disarmed")

    # --- rules

    def due(self) -> datetime | None:
        """When the next automation runs. What happens at full hours changes nothing that a scene could meet, and is caught up with."""
        return min((next_run(a, self.now) for a in self.automations.where(status="enabled")), default=None)

    def elapse(self) -> None:
        home, now = self._household(), self.now
        if home.lived_until < now:
            for hours in spells(home.lived_until, now):
                self._look_after(hours[0])
                self._measure(hours)
            self._look_after(now)
            self._automate()
            if now == full_hour(now):
                self._measure([now])
            self.households.update(home.household_id, lived_until=now)

    def _look_after(self, moment: Moment) -> None:
        if drains(moment):
            for device in self.devices:
                if device.battery:
                    left = device.battery - 1
                    self.devices.update(device.device_id, battery=left, link=device.link if left else "offline")
        if looked_after(moment):
            for device in self.devices.where(link="offline"):
                self.devices.update(device.device_id, link="online", battery=None if device.battery is None else 100)

    def _automate(self) -> None:
        for automation in self.automations.where(status="enabled"):
            if last_due(automation, self.now) == self.now:
                self._play(self.scenes.get(automation.scene_id))
                self.automations.update(automation.automation_id, last_run=self.now)

    def _measure(self, hours: list[Moment]) -> None:
        """Let every sensor that is online see its room as it is at these full hours, and keep what it saw."""
        days = [(day, list(some)) for day, some in groupby(hours, key=datetime.date)]
        around: dict[RoomId, list[Device]] = {}
        for device in self.devices:
            around.setdefault(device.room_id, []).append(device)
        for sensor in list(self.sensors):
            device = self.devices.get(sensor.device_id)
            if device.link == "online":
                outside = self.rooms.get(device.room_id).floor == "outside"
                shows, value = sense(sensor.measure, around[device.room_id], outside), sensor.value
                for day, some in days:
                    seen = [HourlyValue(hour, value := shows(value, hour.hour)) for hour in some]
                    self._log(sensor.device_id, day, seen)
                self.sensors.update(sensor.device_id, value=value, taken=hours[-1])

    def _log(self, device_id: DeviceId, day: Day, seen: list[HourlyValue]) -> None:
        key = f"{device_id} {day}"
        if log := self.logs.find(key):
            self.logs.update(key, hours=log.hours + seen)
        else:
            self.logs.add(SensorLog(key, device_id, day, seen))

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
        require(device.link == "online", "failed_precondition", f"{device_id} is offline and does not answer: {WHEN_SEEN_TO}")
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
