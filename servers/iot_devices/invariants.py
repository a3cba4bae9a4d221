"""What must hold in a smart home after every call, and what its past looks like."""

from collections.abc import Iterator
from itertools import pairwise

from .house import HOUR, WEATHER_PACE, full_hour, last_due
from .records import SCENIC, UNITS, Device, Sensor
from .tools import IotDevices

STATES = {
    "thermostat": ("off", "heat", "cool", "auto"),
    "blind": ("open", "closed"),
    "garage_door": ("open", "closed"),
    "lock": ("locked", "unlocked", "jammed"),
    "sensor": ("measuring",),
    "alarm": ("disarmed", "armed_home", "armed_away", "armed_night"),
}


def invariants(home: IotDevices) -> Iterator[str]:
    for device in home.devices:
        yield from _of_device(home, device)
    for records in (home.scenes, home.automations):
        names = [record.name.casefold() for record in records]
        if len(names) != len(set(names)):
            yield f"two records of {records.spec.noun} have the same name"
    names = [room.room_id.casefold() for room in home.rooms]
    if len(names) != len(set(names)):
        yield "two rooms have the same name"
    panels = home.devices.where(kind="alarm")
    if len(panels) != 1:
        yield f"there are {len(panels)} alarm panels"
    unsafe = [d.device_id for d in home.devices if d.state in ("unlocked", "jammed") or (d.kind == "garage_door" and d.position)]
    if panels[0].state != "disarmed" and unsafe:
        yield f"the alarm is armed with {', '.join(unsafe)} open"
    for scene in home.scenes:
        if any(home.devices.get(s.device_id).kind not in SCENIC for s in scene.settings):
            yield f"{scene.scene_id} sets something that a scene must leave alone"
    for automation in home.automations:
        if automation.status == "enabled" and automation.scene_id not in home.scenes:
            yield f"{automation.automation_id} is enabled and its scene is gone"


def _of_device(home: IotDevices, device: Device) -> Iterator[str]:
    if device.room_id not in home.rooms:
        yield f"{device.device_id} is in a room that is not there"
    if device.state not in STATES.get(device.kind, ("on", "off")):
        yield f"{device.device_id}: a device of kind {device.kind} cannot be {device.state}"
    if device.position is not None and (device.position > 0) != (device.state == "open"):
        yield f"{device.device_id} is {device.state} and {device.position} percent open"
    if device.modes and device.state not in device.modes:
        yield f"{device.device_id} is in the mode {device.state}, which it does not have"
    if device.battery == 0 and device.link == "online":
        yield f"{device.device_id} answers with an empty battery"
    if device.kind == "sensor":
        sensor, logs = home.sensors.get(device.device_id), home.logs.where(device_id=device.device_id)
        last = logs[-1].hours[-1]
        if (last.value, last.taken) != (sensor.value, sensor.taken):
            yield f"{device.device_id} does not show its latest reading"


def past(home: IotDevices) -> Iterator[str]:
    for automation in home.automations:
        ran, since, due = automation.last_run, automation.since, last_due(automation, home.now)
        if automation.status == "enabled" and due > since and ran != due:
            yield f"{automation.automation_id} has been enabled since {since}, was due at {due}, and last ran at {ran}"
        elif (automation.status == "disabled" or due <= since) and ran and ran > since:
            yield f"{automation.automation_id} ran at {ran}, though it has been {automation.status} only since {since}"
        if ran and last_due(automation, ran) != ran:
            yield f"{automation.automation_id} ran at {ran}, which is not its time"
    for sensor in home.sensors:
        yield from _of_sensor(home, sensor)
    if home.households.one().lived_until != home.now:
        yield "something that was due has not happened"


def _of_sensor(home: IotDevices, sensor: Sensor) -> Iterator[str]:
    device, logs = home.devices.get(sensor.device_id), home.logs.where(device_id=sensor.device_id)
    if any(not isinstance(hour.value, float) for log in logs for hour in log.hours):
        yield f"{sensor.device_id} shows some values without their tenths"
    if sensor.unit != UNITS[sensor.measure]:
        yield f"{sensor.device_id} measures {sensor.measure} in {sensor.unit}"
    if device.link == "online" and sensor.taken != full_hour(home.now):
        yield f"{sensor.device_id} answers, and has measured nothing since {sensor.taken}"
    hours = [hour for log in logs for hour in log.hours]
    if any(log.day != hour.taken.date() for log in logs for hour in log.hours):
        yield f"{sensor.device_id} keeps an hour under another day"
    if any(one.taken >= other.taken for one, other in pairwise(hours)) or any(h.taken != full_hour(h.taken) for h in hours):
        yield f"{sensor.device_id} did not measure hour by hour"
    for one, other in pairwise(hours):
        if sensor.measure == "temperature" and abs(other.value - one.value) > WEATHER_PACE + 0.001:
            yield f"{sensor.device_id} jumps from {one.value} to {other.value} degrees by {other.taken}"
    gaps = [other.taken - one.taken for one, other in pairwise(hours) if other.taken - one.taken > HOUR]
    if any(gap > 8 * 24 * HOUR for gap in gaps):
        yield f"{sensor.device_id} was silent for longer than from one Saturday to the next"
