#!/usr/bin/env python3
"""An autopilot that checks a gimbal device, as MAVSDK's gimbal_device_tester does: the same turns with the same tolerance, in
follow and lock mode, while the vehicle turns below the gimbal.

    device_conformance.py --port UDP_PORT [--settle SECONDS]

The vehicle's attitude arrives in AUTOPILOT_STATE_FOR_GIMBAL_DEVICE, 20 times a second, together with
GIMBAL_DEVICE_SET_ATTITUDE. The tester's reach is larger than that of many gimbals; --limit-yaw and --limit-pitch reduce it.
Ends with status 1 and a sentence at the first check that fails.
"""
import argparse
import math
import os
import sys
import time

os.environ["MAVLINK20"] = "1"
from pymavlink import mavutil                                   # noqa: E402
from pymavlink.dialects.v20 import common as m                  # noqa: E402

NAN = float("nan")
MARGIN_DEG = 2.0


def quaternion(pitch, yaw):
    """Attitude with these angles, degrees, without roll: w x y z."""
    p, y = math.radians(pitch) / 2, math.radians(yaw) / 2
    return [math.cos(p) * math.cos(y), -math.sin(p) * math.sin(y), math.sin(p) * math.cos(y), math.cos(p) * math.sin(y)]


def angles(q):
    """Pitch and yaw of a quaternion, degrees."""
    w, x, y, z = q
    return (math.degrees(math.asin(max(-1, min(1, 2 * (w * y - z * x))))),
            math.degrees(math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))))


def apart(a, b):
    return abs((a - b + 180) % 360 - 180)


class Tester:
    def __init__(self, options):
        self.options = options
        self.link = mavutil.mavlink_connection(
            f"udpout:127.0.0.1:{options.port}", source_system=1, source_component=1)
        self.vehicle = 0.0
        self.wanted = (0.0, 0.0, False)
        self.status = None
        self.next_send = self.next_beat = 0.0
        self.bad = 0

    def pump(self, seconds, until=lambda message: False):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            now = time.monotonic()
            if now >= self.next_beat:
                self.next_beat = now + 1
                self.link.mav.heartbeat_send(m.MAV_TYPE_QUADROTOR, m.MAV_AUTOPILOT_PX4, 0, 0, m.MAV_STATE_ACTIVE)
            if now >= self.next_send:
                self.next_send = now + 0.05
                self.send()
            message = self.link.recv_match(blocking=True, timeout=0.02)
            if message is None:
                continue
            name = message.get_type()
            if name == "BAD_DATA" or name.startswith("UNKNOWN"):
                self.bad += 1
            if name == "GIMBAL_DEVICE_ATTITUDE_STATUS":
                self.status = message
            if until(message):
                return message
        return None

    def send(self):
        """The vehicle's state, and the attitude for the device."""
        self.link.mav.autopilot_state_for_gimbal_device_send(
            1, 154, int(time.monotonic() * 1e6), quaternion(0, self.vehicle), 0, 0, 0, 0, 0, 0,
            m.ESTIMATOR_ATTITUDE | m.ESTIMATOR_POS_HORIZ_ABS, m.MAV_LANDED_STATE_IN_AIR, 0)
        pitch, yaw, is_locked = self.wanted
        flags = m.GIMBAL_DEVICE_FLAGS_ROLL_LOCK | m.GIMBAL_DEVICE_FLAGS_PITCH_LOCK
        if is_locked:
            flags |= m.GIMBAL_DEVICE_FLAGS_YAW_LOCK
        self.link.mav.gimbal_device_set_attitude_send(1, 154, flags, quaternion(pitch, yaw), NAN, NAN, NAN)

    def fail(self, text):
        sys.exit(f"device_conformance.py: {text}; status: {self.status}")

    def look(self, text, pitch, yaw, is_locked):
        """Turns the camera, waits as long as the tester does, and compares the reported angles."""
        yaw = max(-self.options.limit_yaw, min(self.options.limit_yaw, yaw))
        pitch = max(-self.options.limit_pitch, pitch)
        self.wanted = (pitch, yaw, is_locked)
        self.pump(self.options.settle)
        found = angles(self.status.q)
        if self.status.flags & m.GIMBAL_DEVICE_FLAGS_YAW_IN_VEHICLE_FRAME:
            # The tester predates this flag: it expects every yaw in the earth frame.
            found = (found[0], found[1] + self.vehicle)
        target = yaw if is_locked else yaw + self.vehicle
        if abs(found[0] - pitch) > MARGIN_DEG:
            self.fail(f"{text}: pitch is {found[0]:.1f} degrees instead of {pitch}")
        # Near the vertical, yaw is not defined well.
        if abs(found[0]) < 80 and apart(found[1], target) > MARGIN_DEG:
            self.fail(f"{text}: yaw is {found[1]:.1f} degrees instead of {target}")
        print(f"PASS  {text}: pitch {found[0]:.1f}, yaw {found[1]:.1f} degrees", flush=True)

    def run(self):
        if self.pump(5, lambda x: x.get_type() == "HEARTBEAT" and x.get_srcComponent() == 154) is None:
            self.fail("no device found")
        self.link.mav.command_long_send(1, 154, m.MAV_CMD_REQUEST_MESSAGE, 0, 283, 0, 0, 0, 0, 0, 0)
        device = self.pump(2, lambda x: x.get_type() == "GIMBAL_DEVICE_INFORMATION")
        if device is None:
            self.fail("no gimbal device information received")
        print(f"PASS  information of {device.vendor_name} {device.model_name}", flush=True)
        if self.pump(20, lambda x: self.status is not None and apart(angles(self.status.q)[1], 0) < 1) is None:
            self.fail("yaw does not converge to 0")
        print("PASS  yaw estimator has converged", flush=True)
        follow = [("look forward", 0, 0), ("45 degrees down", -45, 0), ("90 degrees down", -90, 0), ("20 degrees up", 20, 0),
                  ("forward again", 0, 0)]
        for text, pitch, yaw in follow:
            self.look(text, pitch, yaw, False)
        turns = [("right", 0, 90), ("left", 0, -90), ("left and down", -45, -90), ("right and down", -45, 90),
                 ("forward again", 0, 0)]
        for is_locked, heading in [(False, 20.0), (True, -30.0)]:
            self.look("forward, follow", 0, 0, False)
            # The vehicle turns at a rate that vehicles have.
            while abs(self.vehicle - heading) > 0.01:
                self.vehicle += max(-1.5, min(1.5, heading - self.vehicle))
                self.pump(0.05)
            # The simulated handle does not turn, so the device has to take the difference for drift of its own heading.
            begin = time.monotonic()
            if self.pump(20, lambda x: apart(math.degrees(self.status.delta_yaw), heading) < 1) is None:
                self.fail(f"the device does not adopt the vehicle's heading of {heading:.0f} degrees")
            print(f"PASS  heading of the vehicle is known after {time.monotonic() - begin:.1f} s", flush=True)
            for text, pitch, yaw in turns:
                self.look(f"{text}, {'lock' if is_locked else 'follow'}, vehicle at {heading:.0f}", pitch, yaw, is_locked)
        if self.bad:
            self.fail(f"{self.bad} frames could not be decoded")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--settle", type=float, default=2.0, help="time of each turn, s; the tester uses 2 s")
    parser.add_argument("--limit-yaw", type=float, default=90.0)
    parser.add_argument("--limit-pitch", type=float, default=90.0)
    Tester(parser.parse_args()).run()


if __name__ == "__main__":
    main()
