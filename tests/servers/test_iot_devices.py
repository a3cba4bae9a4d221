"""The rules of a smart home, each on one example."""

import pytest

from prove.servers.session import Session


class House:
    """A session on the house of seed 0, and short ways to reach into it."""

    def __init__(self):
        self.session = Session.open("iot_devices", seed=0)
        self.server = self.session.servers["iot_devices"]
        self.codes = next(iter(self.server.households))

    def __call__(self, tool, **arguments):
        return self.session.call(tool, arguments)

    def device(self, **equal):
        return next(d for d in self.server.devices.where(**equal) if d.link == "online").device_id

    def put(self, device_id, **changes):
        """Set the stage: change a device behind the tools' back."""
        self.server.devices.update(device_id, **changes)

    def secure(self):
        for device in list(self.server.devices):
            if device.kind == "lock":
                self.put(device.device_id, state="locked", link="online")
            if device.kind == "garage_door":
                self.put(device.device_id, state="closed", position=0)
        self.put(self.server.devices.where(kind="alarm")[0].device_id, state="disarmed")


@pytest.fixture
def house():
    return House()


def test_a_light_must_be_on_to_be_dimmed(house):
    lamp = house.device(kind="light", name="floor lamp")
    house("turn_off", device_id=lamp)
    assert house("set_brightness", device_id=lamp, brightness=40).code == "failed_precondition"
    house("turn_on", device_id=lamp)
    assert house("set_brightness", device_id=lamp, brightness=40).value["brightness"] == 40


def test_a_device_that_is_offline_does_not_answer(house):
    lamp = house.device(kind="light")
    house.put(lamp, link="offline")
    assert house("turn_on", device_id=lamp).code == "failed_precondition"


def test_the_alarm_is_armed_only_with_every_door_locked(house):
    house.secure()
    door = house.device(kind="lock")
    house("unlock_door", device_id=door, code=house.codes.door_code)
    assert house("arm_security", mode="away").code == "failed_precondition"
    house("lock_door", device_id=door)
    assert house("arm_security", mode="away").value["state"] == "armed_away"


def test_nothing_is_unlocked_or_opened_while_the_alarm_is_armed(house):
    house.secure()
    house("arm_security", mode="night")
    door, garage = house.device(kind="lock"), house.device(kind="garage_door")
    assert house("unlock_door", device_id=door, code=house.codes.door_code).code == "failed_precondition"
    assert house("set_cover_position", device_id=garage, position=100).code == "failed_precondition"
    house("disarm_security", code=house.codes.alarm_code)
    assert house("unlock_door", device_id=door, code=house.codes.door_code).value["state"] == "unlocked"


def test_the_door_code_does_not_disarm_the_alarm(house):
    house.secure()
    house("arm_security", mode="home")
    wrong = f"{(int(house.codes.alarm_code) + 1) % 10_000:04}"
    assert house("disarm_security", code=wrong).code == "permission_denied"
    assert house("disarm_security", code=house.codes.door_code).code == "invalid_argument"


def test_a_jammed_bolt_comes_free_by_unlocking(house):
    house.secure()
    door = house.device(kind="lock")
    house.put(door, state="jammed")
    assert house("lock_door", device_id=door).code == "failed_precondition"
    house("unlock_door", device_id=door, code=house.codes.door_code)
    assert house("lock_door", device_id=door).value["state"] == "locked"


def test_a_heated_room_warms_by_one_degree_an_hour_up_to_the_target(house):
    heater = house.device(kind="thermostat", room_id="living room")
    sensor = house.device(kind="sensor", name="temperature sensor", room_id="living room")
    house("set_thermostat_mode", device_id=heater, mode="heat")
    house.server.sensors.update(sensor, value=20.5)
    house("set_thermostat_temperature", device_id=heater, temperature=22)
    house.session.advance(hours=1)
    assert house("read_sensor", device_id=sensor).value["value"] == 21.5
    house.session.advance(hours=2)
    assert house("read_sensor", device_id=sensor).value["value"] == 22.0


def test_an_automation_plays_its_scene_when_its_time_comes(house):
    lamp = house.device(kind="light", name="floor lamp", room_id="living room")
    house("turn_off", device_id=lamp)
    scene = house("create_scene", name="dark", room_id="living room").value["scene_id"]
    house("turn_on", device_id=lamp)
    automation = house("create_automation", name="go dark", scene_id=scene, time="10:30").value["automation_id"]
    house.session.advance(hours=1)  # 10:00
    assert house("get_device", device_id=lamp).value["state"] == "on"
    house.session.advance(hours=1)  # 11:00
    assert house("get_device", device_id=lamp).value["state"] == "off"
    ran = {a["automation_id"]: a["last_run"] for a in house("list_automations").value["items"]}[automation]
    assert ran == house.session.clock.now.replace(hour=10, minute=30).isoformat().replace("+00:00", "Z")


def test_a_scene_that_an_enabled_automation_plays_cannot_be_deleted(house):
    scene = house("create_scene", name="dark", room_id="kitchen").value["scene_id"]
    automation = house("create_automation", name="go dark", scene_id=scene, time="22:00").value["automation_id"]
    assert house("delete_scene", scene_id=scene).code == "failed_precondition"
    house("set_automation_status", automation_id=automation, status="disabled")
    assert house("delete_scene", scene_id=scene).ok
    assert house("set_automation_status", automation_id=automation, status="enabled").code == "failed_precondition"
