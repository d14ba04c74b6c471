#!/usr/bin/env python3
"""A test of airframed's MAVLink link with pymavlink over UDP: a ground station and an autopilot control the gimbal.

    ground_station.py --port UDP_PORT --socket DIAGNOSTICS_SOCKET

pymavlink must decode every frame that airframed sends. The program prints a line for each step. The first failed check ends the
program with a message and exit status 1.
"""
import argparse, json, math, os, socket, sys, time

os.environ["MAVLINK20"] = "1"
from pymavlink import mavutil                                   # noqa: E402
from pymavlink.dialects.v20 import common as m                  # noqa: E402

NAN = float("nan")
LOCK = m.GIMBAL_MANAGER_FLAGS_ROLL_LOCK | m.GIMBAL_MANAGER_FLAGS_PITCH_LOCK | m.GIMBAL_MANAGER_FLAGS_YAW_LOCK
FOLLOW = m.GIMBAL_MANAGER_FLAGS_ROLL_LOCK | m.GIMBAL_MANAGER_FLAGS_PITCH_LOCK | m.GIMBAL_MANAGER_FLAGS_YAW_IN_VEHICLE_FRAME
EARTH, VEHICLE = m.GIMBAL_MANAGER_FLAGS_YAW_IN_EARTH_FRAME, m.GIMBAL_MANAGER_FLAGS_YAW_IN_VEHICLE_FRAME
# MAV_RESULT; this version of pymavlink does not define number 10.
RESULTS = {0: "ACCEPTED", 1: "TEMPORARILY_REJECTED", 2: "DENIED", 3: "UNSUPPORTED", 4: "FAILED", 10: "NOT_IN_CONTROL"}
began = time.monotonic()


def step(text):
    print(f"{time.monotonic() - began:7.2f} s  {text}", flush=True)


def expect(condition, text):
    if not condition:
        sys.exit(f"ground_station.py: failed: {text}")
    step(text)


class Peer:
    """A MAVLink component. link: UDP port of airframed, or a connection of pymavlink."""

    def __init__(self, link, system, component, kind=m.MAV_TYPE_GCS):
        if isinstance(link, int):
            self.port = link
            link = mavutil.mavlink_connection(f"udpout:127.0.0.1:{link}", source_system=system, source_component=component)
        self.link = link
        self.system, self.component, self.kind = system, component, kind
        self.seen, self.last, self.texts = {}, {}, []
        self.bad, self.beat = 0, 0
        self.is_silent = False

    @property
    def mav(self):
        return self.link.mav

    def heartbeat(self):
        if not self.is_silent and time.monotonic() >= self.beat:
            self.beat = time.monotonic() + 1
            self.mav.heartbeat_send(self.kind, m.MAV_AUTOPILOT_INVALID, 0, 0, m.MAV_STATE_ACTIVE)

    def pump(self, seconds=0.0, until=lambda message: False):
        """Receives messages for this time, or until one satisfies the condition."""
        end = time.monotonic() + seconds
        while True:
            for peer in everybody:
                peer.heartbeat()
            # At the end, all messages that arrived during a pause of a busy computer are read, too.
            is_over = time.monotonic() >= end
            message = self.link.recv_match(blocking=not is_over, timeout=None if is_over else 0.02)
            if message is not None:
                name = message.get_type()
                if name == "BAD_DATA" or name.startswith("UNKNOWN"):
                    self.bad += 1
                else:
                    self.seen[name] = self.seen.get(name, 0) + 1
                    self.last[name] = message
                    if name == "STATUSTEXT":
                        self.texts.append(message.text)
                if until(message):
                    return message
            elif is_over:
                return None

    def next(self, name, seconds=5):
        message = self.pump(seconds, lambda x: x.get_type() == name)
        if message is None:
            sys.exit(f"ground_station.py: no {name} within {seconds} s; seen: {self.seen}, texts: {self.texts}")
        return message

    def command(self, number, *params, target=(1, 154), seconds=5, silent_ok=False):
        """Name of the command's result. Every command must be acknowledged, and the acknowledgement addressed to the sender."""
        params = (list(params) + [0] * 7)[:7]
        self.mav.command_long_send(*target, number, 0, *params)
        ack = self.pump(seconds, lambda x: x.get_type() == "COMMAND_ACK" and x.command == number)
        if ack is None:
            if silent_ok:
                return None
            sys.exit(f"ground_station.py: command {number} was not answered")
        if (ack.target_system, ack.target_component) != (self.system, self.component):
            sys.exit(f"ground_station.py: the answer to {number} is for {ack.target_system}/{ack.target_component}")
        return RESULTS[ack.result]

    def take(self):
        return self.command(m.MAV_CMD_DO_GIMBAL_MANAGER_CONFIGURE, -2, -2, -1, -1, 0, 0, 0)

    def point(self, pitch, yaw, flags, pitch_rate=NAN, yaw_rate=NAN):
        return self.command(m.MAV_CMD_DO_GIMBAL_MANAGER_PITCHYAW, pitch, yaw, pitch_rate, yaw_rate, flags, 0, 0)

    def angles(self):
        """Pitch and yaw from the newest status, degrees, in the frame that the status states."""
        w, x, y, z = self.next("GIMBAL_DEVICE_ATTITUDE_STATUS").q
        return (math.degrees(math.asin(max(-1, min(1, 2 * (w * y - z * x))))),
                math.degrees(math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))))

    def arrives(self, pitch, yaw, within=1.0, seconds=15):
        end = time.monotonic() + seconds
        while True:
            now = self.angles()
            if abs(now[0] - pitch) < within and (yaw is None or abs((now[1] - yaw + 180) % 360 - 180) < within):
                return now
            if time.monotonic() > end:
                sys.exit(f"ground_station.py: at {now} where {pitch}, {yaw} was asked for; texts: {self.texts}")


everybody = []


def conversation(port):
    station = Peer(port, 255, 190)
    everybody.append(station)
    station.pump(0.5)

    # ---- discover
    beat = station.next("HEARTBEAT")
    expect((beat.get_srcSystem(), beat.get_srcComponent(), beat.type, beat.autopilot) == (1, 154, m.MAV_TYPE_GIMBAL, m.MAV_AUTOPILOT_INVALID),
           "component 1/154 is a gimbal")
    expect(station.command(m.MAV_CMD_REQUEST_MESSAGE, 280) == "ACCEPTED", "GIMBAL_MANAGER_INFORMATION is requested")
    info = station.next("GIMBAL_MANAGER_INFORMATION")
    expect(info.gimbal_device_id == 1 and info.cap_flags & m.GIMBAL_MANAGER_CAP_FLAGS_HAS_YAW_LOCK and info.pitch_min < info.pitch_max,
           f"manager: device {info.gimbal_device_id}, capabilities 0x{info.cap_flags:x}, pitch {math.degrees(info.pitch_min):.0f} to {math.degrees(info.pitch_max):.0f}")
    expect(station.command(m.MAV_CMD_REQUEST_MESSAGE, 283) == "ACCEPTED", "GIMBAL_DEVICE_INFORMATION is requested")
    device = station.next("GIMBAL_DEVICE_INFORMATION")
    expect(device.vendor_name == "airframe" and device.gimbal_device_id == 1, f"device: {device.vendor_name} {device.model_name}, firmware 0x{device.firmware_version:x}")
    status = station.next("GIMBAL_MANAGER_STATUS")
    expect((status.primary_control_sysid, status.secondary_control_sysid) == (0, 0), "no component is in control")
    expect(station.command(m.MAV_CMD_REQUEST_MESSAGE, 24) == "UNSUPPORTED", "the request of a GPS message is answered with UNSUPPORTED")
    expect(station.command(m.MAV_CMD_DO_SET_SERVO, 1, 1500) == "UNSUPPORTED", "an unknown command is answered with UNSUPPORTED")

    # ---- take control, point, follow
    expect(station.point(-20, 0, LOCK | EARTH) == "NOT_IN_CONTROL", "pointing without control is refused")
    expect(station.take() == "ACCEPTED", "255/190 takes control")
    status = station.next("GIMBAL_MANAGER_STATUS")
    expect((status.primary_control_sysid, status.primary_control_compid) == (255, 190), "GIMBAL_MANAGER_STATUS names 255/190 as primary")
    expect(station.point(-30, 40, LOCK | EARTH) == "ACCEPTED", "the request of pitch -30, yaw 40 from north is accepted")
    step(f"the camera reaches the requested direction: {station.arrives(-30, 40)}")
    expect(station.point(NAN, NAN, LOCK | EARTH, 10, 0) == "ACCEPTED", "the request of a pitch rate of 10 degrees/s is accepted")
    before = station.angles()[0]
    station.pump(0.6)
    after = station.angles()[0]
    expect(3 < after - before < 12, f"the camera turns by {after - before:.1f} degrees in 0.6 s")
    station.pump(2.0)
    stopped = station.angles()[0]
    station.pump(0.5)
    expect(abs(station.angles()[0] - stopped) < 0.5, "the camera stops after the dead-man time, because the rate is not requested again")
    for _ in range(20):
        station.mav.gimbal_manager_set_pitchyaw_send(1, 154, LOCK | EARTH, 1, math.radians(-10), math.radians(-20), NAN, NAN)
        station.pump(0.05)
    step(f"the camera reaches streamed pitch and yaw: {station.arrives(-10, -20)}")
    q = [math.cos(math.radians(10)), 0, math.sin(math.radians(10)), 0]
    station.mav.gimbal_manager_set_attitude_send(1, 154, LOCK | EARTH, 0, q, NAN, NAN, NAN)
    step(f"the camera reaches an attitude that is requested as a quaternion: {station.arrives(20, 0)}")
    station.mav.gimbal_manager_set_manual_control_send(1, 154, LOCK | EARTH, 0, NAN, NAN, -0.5, 0)
    station.pump(1.5)
    now = station.angles()
    expect(now[0] < 15, f"manual control turns the camera down at half speed until the dead-man time has passed: pitch {now[0]:.1f}")
    expect(station.point(-5, 0, FOLLOW) == "ACCEPTED", "the request of pitch -5, yaw 0 relative to the vehicle is accepted")
    step(f"the camera reaches the direction relative to the vehicle: {station.arrives(-5, 0)}")
    flags = station.next("GIMBAL_DEVICE_ATTITUDE_STATUS").flags
    expect(not flags & m.GIMBAL_DEVICE_FLAGS_YAW_LOCK, "the attitude status reports that yaw is not locked")
    expect(station.point(-5, 25, FOLLOW) == "ACCEPTED", "the request of yaw 25 relative to the vehicle is accepted")
    step(f"the camera reaches yaw 25 relative to the vehicle: {station.arrives(-5, 25)}")
    return station


def lose_and_regain(port, station, daemon):
    """Control passes to a secondary component and to a laptop, is released after a timeout, and is taken again."""
    other = Peer(port, 254, 190)
    everybody.append(other)
    other.pump(1.2)
    expect(other.point(0, 0, LOCK | EARTH) == "NOT_IN_CONTROL", "a request of 254/190 is refused, because 255/190 is in control")
    expect(other.take() == "TEMPORARILY_REJECTED", "254/190 cannot take control from 255/190")
    thief = Peer(port, 255, 190)
    expect(thief.command(m.MAV_CMD_DO_GIMBAL_MANAGER_PITCHYAW, 30, 0, NAN, NAN, LOCK | EARTH, 0, 0, seconds=1, silent_ok=True) is None,
           "a command from 255/190 at another address is ignored")
    expect(station.command(m.MAV_CMD_DO_GIMBAL_MANAGER_CONFIGURE, -1, -1, 254, 190) == "ACCEPTED", "255/190 makes 254/190 the secondary component")
    expect(other.point(-15, 0, LOCK | EARTH) == "ACCEPTED", "a request of the secondary 254/190 is accepted")
    other.arrives(-15, None)
    expect(station.command(m.MAV_CMD_DO_GIMBAL_MANAGER_CONFIGURE, -1, -1, 0, 0) == "ACCEPTED", "255/190 removes the secondary component")
    expect(other.point(0, 0, LOCK | EARTH) == "NOT_IN_CONTROL", "a request of 254/190 is refused again")

    daemon.ask("take")
    station.pump(0.5)
    status = station.next("GIMBAL_MANAGER_STATUS")
    expect(status.primary_control_sysid == 0, "a socket client takes control: GIMBAL_MANAGER_STATUS names no component")
    expect(any("lost control" in text for text in "".join(station.texts).split(".")), "STATUSTEXT reports the loss of control")
    expect(station.take() == "TEMPORARILY_REJECTED", "255/190 cannot take control from the socket client")
    daemon.ask("release")
    expect(station.take() == "ACCEPTED", "255/190 takes control after the socket client has released control")

    expect(station.point(NAN, NAN, LOCK | EARTH, 0, 5) == "ACCEPTED", "the request of a rate is accepted; then 255/190 sends no heartbeats")
    station.is_silent = True
    end = time.monotonic() + 9
    while time.monotonic() < end and other.last.get("GIMBAL_MANAGER_STATUS").primary_control_sysid:
        other.pump(0.2)
    expect(other.last["GIMBAL_MANAGER_STATUS"].primary_control_sysid == 0, "airframed releases control after the loss of the heartbeat")
    expect(other.take() == "ACCEPTED", "254/190 takes control")
    station.is_silent = False
    station.pump(0.2)
    expect(station.point(0, 0, LOCK | EARTH) == "NOT_IN_CONTROL", "a request of 255/190 is refused after its return, because 254/190 is in control")
    expect(other.command(m.MAV_CMD_DO_GIMBAL_MANAGER_CONFIGURE, -3, -3, -1, -1) == "ACCEPTED", "254/190 releases control")
    expect(station.take() == "ACCEPTED", "255/190 regains control")
    return other


def old_mount(station):
    expect(station.command(m.MAV_CMD_DO_MOUNT_CONFIGURE, 2) == "ACCEPTED", "old protocol: the configuration of the mount is accepted")
    expect(station.command(m.MAV_CMD_DO_MOUNT_CONTROL, -25, 0, 0, 0, 0, 0, 2) == "ACCEPTED", "old protocol: the request of pitch -25 is accepted")
    step(f"the camera reaches the requested direction: {station.arrives(-25, None)}")
    expect(station.command(m.MAV_CMD_DO_MOUNT_CONTROL, 0, 0, 0, 0, 0, 0, 1) == "ACCEPTED", "old protocol: the request of the neutral attitude is accepted")
    step(f"the camera reaches the requested direction: {station.arrives(0, 0)}")
    expect(station.command(m.MAV_CMD_DO_MOUNT_CONTROL, 0, 0, 0, 0, 0, 0, 4) == "UNSUPPORTED", "old protocol: the request of a geographic location is answered with UNSUPPORTED")


def intervals(station):
    def rate(count):
        """Rate from the median of the intervals, Hz: a pause of a busy computer prolongs some of them."""
        times = [station.next("GIMBAL_DEVICE_ATTITUDE_STATUS").time_boot_ms for _ in range(count)]
        return 1000 / sorted(later - earlier for earlier, later in zip(times, times[1:]))[count // 2]
    expect(station.command(m.MAV_CMD_SET_MESSAGE_INTERVAL, 285, 20000) == "ACCEPTED", "the request of the attitude status at 50 Hz is accepted")
    found = rate(100)
    expect(40 < found < 60, f"the attitude status arrives at {found:.0f} Hz")
    expect(station.command(m.MAV_CMD_GET_MESSAGE_INTERVAL, 285) == "ACCEPTED", "the interval of the attitude status is requested")
    expect(station.next("MESSAGE_INTERVAL").interval_us == 20000, "the interval is 20000 us")
    expect(station.command(m.MAV_CMD_SET_MESSAGE_INTERVAL, 285, 0) == "ACCEPTED", "the request of the default interval is accepted")
    expect(station.command(m.MAV_CMD_SET_MESSAGE_INTERVAL, 30, 100000) == "ACCEPTED", "the request of ATTITUDE at 10 Hz is accepted")
    station.next("ATTITUDE")
    expect(station.command(m.MAV_CMD_SET_MESSAGE_INTERVAL, 30, -1) == "ACCEPTED", "the request to stop ATTITUDE is accepted")
    expect(station.command(m.MAV_CMD_SET_MESSAGE_INTERVAL, 24, 100000) == "UNSUPPORTED", "the interval of a GPS message is answered with UNSUPPORTED")


def parameters(station, daemon):
    def unsaved():
        return daemon.ask("status")["configuration"]["unsaved"]

    def changes():
        return daemon.ask("history")

    station.mav.param_request_list_send(1, 154)
    found = {}
    end = time.monotonic() + 5
    while time.monotonic() < end:
        message = station.next("PARAM_VALUE")
        found[message.param_index] = (message.param_id, message.param_value)
        if len(found) == message.param_count:
            break
    expect(len(found) == station.last["PARAM_VALUE"].param_count and sorted(found) == list(range(len(found))),
           f"{len(found)} parameters: {', '.join(name for name, _ in found.values())}")
    station.mav.param_set_send(1, 154, b"GMB_PIT_RATE", 120, m.MAV_PARAM_TYPE_REAL32)
    expect(station.next("PARAM_VALUE").param_value == 120, "GMB_PIT_RATE is 120")
    station.mav.param_set_send(1, 154, b"GMB_PIT_RATE", -1, m.MAV_PARAM_TYPE_REAL32)
    expect(station.next("PARAM_VALUE").param_value == 120, "the value -1 is refused: GMB_PIT_RATE remains 120")
    station.mav.param_request_read_send(1, 154, b"GMB_PIT_P", -1)
    expect(abs(station.next("PARAM_VALUE").param_value - 1.2) < 1e-6, "GMB_PIT_P is 1.2")
    expect(unsaved() == ["motion.max_rate_dps"], "the change is unsaved until a client saves it")
    before = changes()
    station.mav.param_set_send(1, 154, b"GMB_PIT_RATE", 120, m.MAV_PARAM_TYPE_REAL32)
    expect(station.next("PARAM_VALUE").param_value == 120 and changes() == before, "setting 120 again is not a change, and does not appear in the history")
    stranger = Peer(station.port, 253, 190)
    stranger.mav.param_set_send(1, 154, b"GMB_PIT_RATE", 5, m.MAV_PARAM_TYPE_REAL32)
    expect(stranger.next("PARAM_VALUE").param_value == 120, "a station that is not in control cannot set a parameter")
    expect(stranger.command(m.MAV_CMD_PREFLIGHT_STORAGE, 1) == "NOT_IN_CONTROL", "a station that is not in control cannot save parameters")
    expect(station.command(m.MAV_CMD_PREFLIGHT_STORAGE, 1) == "ACCEPTED" and not unsaved(), "PREFLIGHT_STORAGE saves the parameter")
    station.mav.param_set_send(1, 154, b"GMB_PIT_RATE", 240, m.MAV_PARAM_TYPE_REAL32)
    expect(station.next("PARAM_VALUE").param_value == 240, "GMB_PIT_RATE is 240 after another change")
    expect(station.command(m.MAV_CMD_PREFLIGHT_STORAGE, 1) == "ACCEPTED", "PREFLIGHT_STORAGE saves this change")


def clocks(station):
    ours = 123456789
    station.mav.timesync_send(0, ours)
    answer = station.next("TIMESYNC")
    expect(answer.ts1 == ours and answer.tc1 > 0, "TIMESYNC is answered with the gimbal's time")


def autopilot(port, station, daemon):
    """An autopilot reports the vehicle's heading and rotation; the camera keeps its heading from north."""
    pilot = Peer(port, 1, 1, m.MAV_TYPE_QUADROTOR)
    everybody.append(pilot)
    pilot.pump(0.5)

    def state(heading, target=(1, 154), system=None):
        half = math.radians(heading) / 2
        if system:
            pilot.mav.srcSystem = system
        pilot.mav.autopilot_state_for_gimbal_device_send(*target, 0, [math.cos(half), 0, 0, math.sin(half)], 0, 0, 0, 0, 0, 0, 0, 0, 0)
        pilot.mav.srcSystem = 1

    for _ in range(40):
        state(90)
        pilot.pump(0.05)
    station.pump(0.4)
    status = station.next("GIMBAL_DEVICE_ATTITUDE_STATUS")
    expect(status.flags & m.GIMBAL_DEVICE_FLAGS_ACCEPTS_YAW_IN_EARTH_FRAME and abs(math.degrees(status.delta_yaw) - 90) < 2,
           f"the attitude status contains the heading of a vehicle that points east: delta_yaw {math.degrees(status.delta_yaw):.1f}")
    expect(station.point(0, 100, LOCK | EARTH) == "ACCEPTED", "the request of yaw 100 from north is accepted")
    step(f"the camera reaches 10 degrees right of the vehicle: {station.arrives(0, 10)}")
    # The handle is at rest, and the autopilot's heading drifts: the gimbal's north must follow the autopilot's.
    for i in range(160):
        state(90 + i * 0.05)
        pilot.pump(0.05)
    for _ in range(60):
        state(98)
        pilot.pump(0.05)
    station.pump(0.4)
    now = station.angles()
    expect(abs(now[1] - 2) < 1.0, f"after a drift of north by 8 degrees, the camera is still at yaw 100 from north: {now[1]:.1f} right of the vehicle")
    foreign = daemon.link("mavlink")["foreign"]
    state(0, system=7)
    pilot.mav.srcSystem = 7
    pilot.mav.gimbal_device_set_attitude_send(1, 154, LOCK, [1, 0, 0, 0], NAN, NAN, NAN)
    pilot.mav.srcSystem = 1
    station.pump(0.6)
    expect(daemon.link("mavlink")["foreign"] == foreign + 2, "messages from the autopilot of another vehicle are ignored and counted")
    expect(station.command(m.MAV_CMD_DO_GIMBAL_MANAGER_CONFIGURE, -3, -3, -1, -1) == "ACCEPTED", "255/190 releases control")
    for _ in range(5):
        pilot.mav.gimbal_device_set_attitude_send(1, 154, LOCK | VEHICLE, [math.cos(math.radians(-10)), 0, math.sin(math.radians(-10)), 0], NAN, NAN, NAN)
        pilot.pump(0.1)
    step(f"the autopilot points the gimbal device: {station.arrives(-20, 0)}")
    pilot.mav.gimbal_device_set_attitude_send(1, 154, LOCK | VEHICLE, [NAN] * 4, 0, math.radians(10), 0)
    station.pump(0.8)
    expect(station.angles()[0] > -18, "the autopilot turns the gimbal device by rates until the dead-man time has passed")
    expect(pilot.command(m.MAV_CMD_DO_GIMBAL_MANAGER_CONFIGURE, -3, -3, -1, -1) == "ACCEPTED", "the autopilot releases control")
    pilot.is_silent = True
    return pilot


def rubbish(station, daemon):
    before = daemon.link("mavlink")
    frame = bytearray(m.MAVLink_command_long_message(1, 154, 1000, 0, 0, 0, 0, 0, 0, 0, 0).pack(station.mav))
    frame[-1] ^= 0x55
    station.link.write(bytes(frame))
    station.link.write(b"\xfd\x09garbage that is no frame")
    expect(station.command(m.MAV_CMD_REQUEST_MESSAGE, 283, target=(2, 154), seconds=1, silent_ok=True) is None, "a command for system 2 is not answered")
    expect(station.command(m.MAV_CMD_REQUEST_MESSAGE, 283, target=(1, 1), seconds=1, silent_ok=True) is None, "a command for the autopilot is not answered")
    station.pump(0.5)
    after = daemon.link("mavlink")
    expect(after["bad_checksums"] == before["bad_checksums"] + 1, "a wrong checksum is ignored and counted")
    expect(after["wrong_target"] >= before["wrong_target"] + 2, "wrong targets are ignored and counted")
    expect(after["noise_bytes"] > before["noise_bytes"], "noise is ignored and counted")


def stops(station, daemon):
    expect(station.take() == "ACCEPTED", "255/190 takes control")
    ports = [Peer(station.port, 240 + n, 190) for n in range(12)]
    for peer in ports:
        peer.mav.heartbeat_send(m.MAV_TYPE_GCS, 8, 0, 0, 4)
    expect(station.point(0, 0, LOCK | EARTH) == "ACCEPTED", "255/190 remains connected while twelve other stations connect")
    ports[-1].mav.command_long_send(1, 154, m.MAV_CMD_DO_FLIGHTTERMINATION, 0, 1, 0, 0, 0, 0, 0, 0)
    station.pump(0.5)
    expect(daemon.ask("status")["stopped_by"] == "mavlink client 251/190", "the emergency stop of a station beyond the limit of stations is executed")
    expect(station.command(m.MAV_CMD_COMPONENT_ARM_DISARM, 1, 21196) == "ACCEPTED", "255/190 resets this stop")
    daemon.ask("stop")
    expect(station.command(m.MAV_CMD_COMPONENT_ARM_DISARM, 1, 21196) == "DENIED", "255/190 cannot reset a stop of a socket client")
    daemon.ask("reset_stop")
    expect(station.command(m.MAV_CMD_COMPONENT_ARM_DISARM, 1, 0) == "ACCEPTED" and station.take() == "ACCEPTED", "255/190 takes control after the socket client has reset the stop")
    station.pump(1)
    station.texts.clear()
    expect(station.command(m.MAV_CMD_DO_FLIGHTTERMINATION, 1) == "ACCEPTED", "the request of an emergency stop is accepted")
    emergencies = (m.MAV_STATE_FLIGHT_TERMINATION, m.MAV_STATE_EMERGENCY)
    expect(station.pump(5, lambda x: x.get_type() == "HEARTBEAT" and x.system_status in emergencies), "the heartbeat reports the emergency")
    station.pump(0.5)
    expect("mergency stop" in "".join(station.texts), "STATUSTEXT reports the emergency stop")
    expect(station.point(0, 0, LOCK | EARTH) == "DENIED", "pointing is refused during the emergency stop")
    expect(station.command(m.MAV_CMD_COMPONENT_ARM_DISARM, 1, 0) == "DENIED", "switching the motors on is refused")
    expect(station.command(m.MAV_CMD_COMPONENT_ARM_DISARM, 1, 21196) == "ACCEPTED", "switching on with the force parameter resets the stop")
    expect(station.command(m.MAV_CMD_COMPONENT_ARM_DISARM, 1, 0) == "ACCEPTED", "switching the motors on is accepted after the reset")
    station.pump(0.5)
    expect(daemon.ask("status")["mode"] == "locked", "the mode is locked")


class Daemon:
    """Client of airframed's diagnostics socket."""

    def __init__(self, path):
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(path)
        self.lines = connection.makefile("rw")

    def ask(self, method, **params):
        self.lines.write(json.dumps({"id": 1, "method": method, "params": params}) + "\n")
        self.lines.flush()
        reply = json.loads(self.lines.readline())
        if "result" not in reply:
            sys.exit(f"ground_station.py: {method}: {reply}")
        return reply["result"]

    def link(self, name):
        return next(link for link in self.ask("status")["links"] if link["name"] == name)["counts"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--socket", default="/run/airframe/airframed.sock")
    options = parser.parse_args()
    daemon = Daemon(options.socket)
    station = conversation(options.port)
    intervals(station)
    parameters(station, daemon)
    clocks(station)
    old_mount(station)
    other = lose_and_regain(options.port, station, daemon)
    pilot = autopilot(options.port, station, daemon)
    rubbish(station, daemon)
    stops(station, daemon)
    for peer in (station, other, pilot):
        expect(peer.bad == 0, f"every frame to {peer.system}/{peer.component} was decoded: {sum(peer.seen.values())}")


if __name__ == "__main__":
    main()
