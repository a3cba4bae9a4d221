"""What must hold in a smart home after every call."""

from collections.abc import Iterator

from servers.iot_devices.tools import SCENIC, Device, IotDevices

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
        if automation.last_run and automation.last_run > home.now:
            yield f"{automation.automation_id} ran in the future"


def _of_device(home: IotDevices, device: Device) -> Iterator[str]:
    if device.room_id not in home.rooms:
        yield f"{device.device_id} is in a room that is not there"
    if device.state not in STATES.get(device.kind, ("on", "off")):
        yield f"{device.device_id}: a device of kind {device.kind} cannot be {device.state}"
    if device.position is not None and (device.position > 0) != (device.state == "open"):
        yield f"{device.device_id} is {device.state} and {device.position} percent open"
    if device.modes and device.state not in device.modes:
        yield f"{device.device_id} is in the mode {device.state}, which it does not have"
    if device.kind == "sensor":
        sensor, logs = home.sensors.get(device.device_id), home.logs.where(device_id=device.device_id)
        last = logs[-1].hours[-1]
        if (last.value, last.taken) != (sensor.value, sensor.taken):
            yield f"{device.device_id} does not show its latest reading"
