"""The rules of a smart home, each on one example."""

import re
from datetime import datetime, timedelta

import pytest

from prove.servers.catalog import load
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


def automations(house):
    return {a["name"]: a for a in house("list_automations", limit=50).value["items"]}


def moment_of(house, **replaced):
    return house.session.clock.now.replace(second=0, microsecond=0, **replaced)


def shown(moment):
    return moment.isoformat().replace("+00:00", "Z")


def wrong(code):
    return f"{(int(code) + 1) % 10 ** len(code):0{len(code)}}"


# --- automations


def test_every_automation_that_is_enabled_has_run_when_it_was_last_due():
    for seed in range(20):
        home = Session.open("iot_devices", seed=seed).servers["iot_devices"]
        enabled = home.automations.where(status="enabled")
        assert all(a.last_run and timedelta(0) <= home.now - a.last_run <= timedelta(days=7) for a in enabled)
        assert all(a.last_run <= a.since for a in home.automations.where(status="disabled") if a.last_run)


def test_automations_run_at_their_moments_inside_a_long_advance_in_the_order_of_the_house(house):
    """Off at 10:00, on at 11:00 and 12:30: what a power meter sees at each hour says when they ran."""
    plug, meter = house.device(name="kettle plug"), house.device(name="power meter", room_id="kitchen")
    for automation in automations(house).values():
        house("set_automation_status", automation_id=automation["automation_id"], status="disabled")
    for device in house.server.devices.where(room_id="kitchen"):
        if device.kind in ("light", "plug"):
            house.put(device.device_id, state="off", link="online")
    dark = house("create_scene", name="dark", room_id="kitchen").value["scene_id"]
    house("turn_on", device_id=plug)
    lit = house("create_scene", name="lit", room_id="kitchen").value["scene_id"]
    for name, scene, time in (("a", dark, "10:00"), ("b", lit, "11:00"), ("c", dark, "12:30")):
        house("create_automation", name=name, scene_id=scene, time=time)
    house.session.advance(hours=5)
    day = house.session.clock.now.date().isoformat()
    hours = {h["taken"][11:13]: h["value"] for h in house("get_sensor_history", device_id=meter, day=day).value["hours"]}
    assert [hours[h] for h in ("10", "11", "12", "13", "14")] == [0, 60, 60, 0, 0]
    assert [automations(house)[n]["last_run"][11:16] for n in "abc"] == ["10:00", "11:00", "12:30"]


def test_of_two_automations_at_one_time_the_older_plays_first(house):
    lamp = house.device(kind="light", name="floor lamp", room_id="living room")
    house("turn_off", device_id=lamp)
    dark = house("create_scene", name="dark", room_id="living room").value["scene_id"]
    house("turn_on", device_id=lamp)
    lit = house("create_scene", name="lit", room_id="living room").value["scene_id"]
    house("create_automation", name="older", scene_id=lit, time="10:30")
    house("create_automation", name="younger", scene_id=dark, time="10:30")
    house.session.advance(days=3)
    assert house("get_device", device_id=lamp).value["state"] == "off"


def test_an_automation_made_at_its_own_minute_waits_for_the_next_of_its_days(house):
    scene = house("create_scene", name="now", room_id="kitchen").value["scene_id"]
    time = f"{house.session.clock.now:%H:%M}"
    house("create_automation", name="at once", scene_id=scene, time=time)
    house.session.advance(hours=23)
    assert automations(house)["at once"]["last_run"] is None
    house.session.advance(hours=1)
    assert automations(house)["at once"]["last_run"] == shown(moment_of(house))


@pytest.mark.parametrize(("days", "runs"), [("every_day", 7), ("weekdays", 5), ("weekends", 2)])
def test_an_automation_keeps_its_days_of_the_week(house, days, runs):
    scene = house("create_scene", name="now", room_id="kitchen").value["scene_id"]
    house("create_automation", name="new", scene_id=scene, time="12:15", days=days)
    seen = set()
    for _ in range(7):
        house.session.advance(days=1)
        seen.add(automations(house)["new"]["last_run"])
    seen.discard(None)
    assert len(seen) == runs
    assert all((datetime.fromisoformat(s).weekday() < 5) == (days == "weekdays") for s in seen if days != "every_day")


def test_a_disabled_automation_does_not_run_and_enabled_again_catches_nothing_up(house):
    scene = house("create_scene", name="now", room_id="kitchen").value["scene_id"]
    made = house("create_automation", name="new", scene_id=scene, time="10:00").value
    house("set_automation_status", automation_id=made["automation_id"], status="disabled")
    house.session.advance(days=2)
    enabled = house("set_automation_status", automation_id=made["automation_id"], status="enabled").value
    assert (enabled["last_run"], enabled["since"]) == (None, shown(house.session.clock.now))
    house.session.advance(hours=1)
    assert automations(house)["new"]["last_run"] == shown(moment_of(house))


# --- sensors and batteries


def test_sensors_measure_the_same_however_time_is_cut():
    whole, pieces = Session.open("iot_devices", seed=4), Session.open("iot_devices", seed=4)
    whole.advance(days=20)
    for minutes in [7, 53, 60, 61, 59, 1, 24 * 60 * 9]:
        pieces.advance(minutes=minutes)
    pieces.advance(minutes=20 * 24 * 60 - 241 - 24 * 60 * 9)
    assert pieces.diff(whole) == {}
    assert pieces.digest() == whole.digest()


def test_a_day_has_24_hours_that_follow_each_other(house):
    meter = house.device(kind="sensor")
    house.session.advance(days=3)
    yesterday = (house.session.clock.now - timedelta(days=1)).date().isoformat()
    day = house("get_sensor_history", device_id=meter, day=yesterday).value
    assert [h["taken"] for h in day["hours"]] == [f"{yesterday}T{hour:02}:00:00Z" for hour in range(24)]
    values = [h["value"] for h in day["hours"]]
    assert (day["lowest"], day["highest"], day["average"]) == (min(values), max(values), round(sum(values) / 24, 1))


def test_a_battery_runs_down_falls_silent_and_is_changed_on_saturday(house):
    """One percent in three days; whoever goes round on Saturday at noon brings a new one."""
    lock = house.device(kind="lock")
    house.put(lock, battery=1, link="online")
    for _ in range(24 * 10):
        house.session.advance(hours=1)
        found = house("get_device", device_id=lock).value
        if found["link"] == "offline":
            break
    assert (found["battery"], house.session.clock.now.hour) == (0, 0)
    refused = house("lock_door", device_id=lock)
    assert (refused.code, "after Saturday noon" in refused.text) == ("failed_precondition", True)
    until = house.session.clock.now
    saturday = until.replace(hour=12) + timedelta(days=(5 - until.weekday()) % 7)
    house.session.advance(hours=(saturday - until) // timedelta(hours=1))
    found = house("get_device", device_id=lock).value
    assert (found["link"], found["battery"]) == ("online", 100)


def test_a_sensor_says_on_which_days_it_measured(house):
    sensor = house.device(kind="sensor")
    refused = house("get_sensor_history", device_id=sensor, day="2199-01-01")
    assert refused.code == "not_found"
    for day in re.findall(r"\d{4}-\d\d-\d\d", refused.text)[1:]:
        assert house("get_sensor_history", device_id=sensor, day=day).ok


# --- codes


def test_a_code_is_never_echoed(house):
    house.secure()
    house("arm_security", mode="home")
    door = house.device(kind="lock")
    calls = (
        house("disarm_security", code=wrong(house.codes.alarm_code)),
        house("disarm_security", code=house.codes.door_code),
        house("disarm_security", code=f"{house.codes.alarm_code} "),
        house("unlock_door", device_id=door, code=wrong(house.codes.door_code)),
        house("unlock_door", device_id=door, code=house.codes.door_code),  # right, and the alarm is on
        house("unlock_door", device_id=door, code=int(house.codes.door_code)),
    )
    codes = {house.codes.alarm_code, house.codes.door_code, wrong(house.codes.alarm_code), wrong(house.codes.door_code)}
    assert not any(call.ok or code in call.text for call in calls for code in codes)


@pytest.mark.parametrize("code", ["1234\n", "١٢٣٤", "12345", "", "abcd"])
def test_what_is_no_code_is_refused_as_such(house, code):
    house.secure()
    house("arm_security", mode="home")
    assert house("disarm_security", code=code).code == "invalid_argument"


# --- names and lists


@pytest.mark.parametrize("name", ["", "  ", "\n"])
def test_a_blank_name_is_no_name(house, name):
    assert house("create_room", name=name, floor="upper").code == "invalid_argument"
    assert house("create_scene", name=name, room_id="kitchen").code == "invalid_argument"


def test_names_differ_by_more_than_case_and_space(house):
    assert house("create_room", name=" KITCHEN ", floor="ground").code == "conflict"
    scene = house("create_scene", name="Dark", room_id="kitchen").value["scene_id"]
    assert house("create_scene", name="dark ", room_id="hallway").code == "conflict"
    house("create_automation", name="Night", scene_id=scene, time="22:00")
    assert house("create_automation", name=" NIGHT", scene_id=scene, time="23:00").code == "conflict"


def test_filters_by_a_room_that_is_not_there_are_refused(house):
    assert house("list_devices", room_id="moon").code == "not_found"
    assert house("list_scenes", room_id="moon").code == "not_found"


def test_all_devices_that_are_counted_can_be_reached(house):
    seen = []
    while len(seen) < house("list_devices", offset=len(seen)).value["total"]:
        seen += [d["device_id"] for d in house("list_devices", offset=len(seen)).value["items"]]
    assert seen == house.server.devices.keys()


def test_advice_followed_to_the_letter_works(house):
    house.secure()
    door, heater = house.device(kind="lock"), house.device(kind="thermostat")
    lamp = house.device(kind="light", name="floor lamp")
    house("turn_off", device_id=lamp)
    assert "turn it on first" in house("set_color", device_id=lamp, color="red").text
    house("turn_on", device_id=lamp)
    assert house("set_color", device_id=lamp, color="red").ok
    house("set_thermostat_mode", device_id=heater, mode="off")
    assert "set its mode first" in house("set_thermostat_temperature", device_id=heater, temperature=20).text
    house("set_thermostat_mode", device_id=heater, mode="heat")
    assert house("set_thermostat_temperature", device_id=heater, temperature=20).ok
    house.put(door, state="jammed")
    assert "lock and close these first" in house("arm_security", mode="away").text
    assert "unlock it first" in house("lock_door", device_id=door).text
    house("unlock_door", device_id=door, code=house.codes.door_code)
    house("lock_door", device_id=door)
    assert house("arm_security", mode="away").ok
    assert "disarm it first" in house("arm_security", mode="night").text
    house("disarm_security", code=house.codes.alarm_code)
    assert house("arm_security", mode="night").ok


def test_three_wrong_codes_lock_the_door_code_for_a_day():
    session = Session.open("iot_devices", 0)
    home = session.servers["iot_devices"]
    codes = home.households.one()
    wrong = "000000" if codes.door_code != "000000" else "111111"
    lock = next(d.device_id for d in home.devices if d.kind == "lock" and d.link == "online")
    for tries in (1, 2, 3):
        refused = session.call("unlock_door", {"device_id": lock, "code": wrong})
        assert refused.code == "permission_denied"
        assert f"{tries} of 3" in refused.text
    assert "locked until" in session.call("unlock_door", {"device_id": lock, "code": codes.door_code}).text
    session.advance(days=1)
    assert "locked until" not in session.call("unlock_door", {"device_id": lock, "code": codes.door_code}).text


def test_a_thermometer_in_the_garden_follows_the_weather_and_its_light_sensor_sees_the_open_sky(house):
    house.session.advance(hours=48)
    home = house.server
    shown = {}
    for device in home.devices.where(kind="sensor", room_id="garden"):
        home.devices.update(device.device_id, link="online", battery=90)
        shown[home.sensors.get(device.device_id).measure] = device.device_id
    house.session.advance(hours=48)
    day = (home.today - timedelta(days=1)).isoformat()
    warmth, light = (house("get_sensor_history", device_id=shown[m], day=day).value for m in ("temperature", "illuminance"))
    assert (warmth["lowest"], warmth["highest"]) == (7, 18)
    assert light["highest"] >= 10_000


def test_every_value_is_shown_with_its_tenths():
    session = Session.open("iot_devices", seed=702)
    session.advance(days=3)
    assert all(isinstance(s.value, float) for s in session.servers["iot_devices"].sensors)
    assert not list(load("iot_devices").past(session.servers["iot_devices"]))
