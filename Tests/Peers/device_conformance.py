#!/usr/bin/env python3
"""An autopilot that checks a gimbal device like MAVSDK's gimbal_device_tester: the same turns in the same time, in follow
and lock mode, while the vehicle turns below the gimbal, and the same rates.

    device_conformance.py --port UDP_PORT [--settle SECONDS] [--pace FACTOR]

The vehicle's attitude arrives in AUTOPILOT_STATE_FOR_GIMBAL_DEVICE, 20 times a second, together with
GIMBAL_DEVICE_SET_ATTITUDE. The tolerance of angles is 2 degrees; the tester's is 5 degrees. --limit-yaw and --limit-pitch set the reach:
the tester uses 60 degrees for a device without limits of yaw. --pace shortens the turns at a constant rate.
The first failed check ends the program with a message and exit status 1.
Source of the checks: MAVSDK, examples/gimbal_device_tester/gimbal_device_tester.cpp, commit cf3f6f3.
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
# Tolerance while the camera turns at a constant rate; the same as in gimbal_device_tester.
MOVING_MARGIN_DEG = 5.0
# Time for which the angles must be within the tolerance, s. The tester checks the angles once, after 2 s.
STEADY_S = 0.3


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
        # Rates of pitch and yaw, degrees per second; NaN without rates.
        self.rates = (NAN, NAN)
        self.status = None
        self.next_send = self.next_beat = 0.0
        self.bad = 0
        # Sum of the pauses of a busy computer since the last step that passed, s.
        self.paused = 0.0

    def pump(self, seconds, until=lambda message: False):
        last = time.monotonic()
        end = last + seconds
        while (now := time.monotonic()) < end:
            if now - last > 0.1:
                self.paused += now - last
            last = now
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
        if now - last > 0.1:
            self.paused += now - last
        return None

    def send(self):
        """Sends the vehicle's state, and the attitude for the device."""
        self.link.mav.autopilot_state_for_gimbal_device_send(
            1, 154, int(time.monotonic() * 1e6), quaternion(0, self.vehicle), 0, 0, 0, 0, 0, 0,
            m.ESTIMATOR_ATTITUDE | m.ESTIMATOR_POS_HORIZ_ABS, m.MAV_LANDED_STATE_IN_AIR, 0)
        pitch, yaw, is_locked = self.wanted
        flags = m.GIMBAL_DEVICE_FLAGS_ROLL_LOCK | m.GIMBAL_DEVICE_FLAGS_PITCH_LOCK
        if is_locked:
            flags |= m.GIMBAL_DEVICE_FLAGS_YAW_LOCK
        q = [NAN] * 4 if math.isnan(pitch) else quaternion(pitch, yaw)
        roll_rate = NAN if math.isnan(self.rates[0]) else 0.0
        self.link.mav.gimbal_device_set_attitude_send(
            1, 154, flags, q, roll_rate, math.radians(self.rates[0]), math.radians(self.rates[1]))

    def fail(self, text):
        sys.exit(f"device_conformance.py: {text}; status: {self.status}")

    def passes(self, text):
        print(f"PASS  {text}", flush=True)
        self.paused = 0.0

    def found(self):
        """Reported pitch and yaw of the camera, degrees; yaw in the earth frame."""
        pitch, yaw = angles(self.status.q)
        if self.status.flags & m.GIMBAL_DEVICE_FLAGS_YAW_IN_VEHICLE_FRAME:
            # The tester predates this flag: it expects every yaw in the earth frame.
            yaw += self.vehicle
        return pitch, yaw

    def look(self, text, pitch, yaw, is_locked):
        """Turns the camera; the reported angles must reach the requested ones in the tester's time, and stay there."""
        yaw = max(-self.options.limit_yaw, min(self.options.limit_yaw, yaw))
        pitch = max(-self.options.limit_pitch, pitch)
        self.wanted, self.rates = (pitch, yaw, is_locked), (NAN, NAN)
        target = yaw if is_locked else yaw + self.vehicle
        begin = time.monotonic()
        since = None
        while True:
            self.pump(0.02)
            now, found = time.monotonic(), self.found()
            # Yaw is poorly defined if the camera points nearly up or down.
            is_there = abs(found[0] - pitch) <= MARGIN_DEG and (
                abs(found[0]) >= 80 or apart(found[1], target) <= MARGIN_DEG)
            since = (since or now) if is_there else None
            if since and now - since >= STEADY_S:
                break
            # A pause can also switch the motors off for a short time.
            late = 2 + self.paused if self.paused else 0
            if now - begin - late >= self.options.settle and not is_there:
                self.fail(f"{text}: pitch is {found[0]:.1f} degrees instead of {pitch}, yaw {found[1]:.1f} instead of {target}")
        self.passes(f"{text}: pitch {found[0]:.1f}, yaw {found[1]:.1f} degrees after {since - begin:.1f} s")

    def turn(self, text, pitch_rate, yaw_rate, seconds, attempts=5):
        """Turns the camera at constant rates, then stops it. If the computer paused during a turn that fails, the turn is repeated."""
        seconds *= self.options.pace
        begin = self.found()
        self.wanted, self.rates = (NAN, NAN, False), (pitch_rate, yaw_rate)
        self.pump(seconds)
        found = self.found()
        for name, index, rate in [("pitch", 0, pitch_rate), ("yaw", 1, yaw_rate)]:
            expected = begin[index] + rate * seconds
            if apart(found[index], expected) > MOVING_MARGIN_DEG:
                if self.paused and attempts > 1:
                    print(f"repeated: {text}, because the computer paused for {self.paused:.1f} s", flush=True)
                    self.look("begin of the turn", begin[0], begin[1] - self.vehicle, False)
                    return self.turn(text, pitch_rate, yaw_rate, seconds / self.options.pace, attempts - 1)
                self.fail(f"{text}: {name} is {found[index]:.1f} degrees instead of {expected:.1f}")
        self.rates = (0.0, 0.0)
        self.pump(0.5)
        self.passes(f"{text}: pitch {found[0]:.1f}, yaw {found[1]:.1f} degrees")

    def tilt(self, text, rate, pitch, begin, attempts=5):
        """Turns to an angle at a given rate; after half of the time, the camera must have made half of the turn. If the computer paused
        during a turn that fails, the turn is repeated."""
        seconds = abs((pitch - begin) / rate)
        self.wanted, self.rates = (pitch, 0.0, False), (rate, 0.0)
        for share in (0.5, 1.0):
            self.pump(seconds / 2)
            found, expected = self.found()[0], begin + share * (pitch - begin)
            if abs(found - expected) > MOVING_MARGIN_DEG:
                if self.paused and attempts > 1:
                    print(f"repeated: {text}, because the computer paused for {self.paused:.1f} s", flush=True)
                    self.look("begin of the turn", begin, 0, False)
                    return self.tilt(text, rate, pitch, begin, attempts - 1)
                self.fail(f"{text}: pitch is {found:.1f} degrees instead of {expected} after {share * seconds:.1f} s")
        self.passes(f"{text}: pitch {found:.1f} degrees")

    def run_rates(self):
        self.look("forward first", 0, 0, False)
        self.turn("down with 10 degrees per second", -10, 0, 5)
        self.turn("up with 20 degrees per second", 20, 0, 2.5)
        self.look("forward first", 0, 0, False)
        self.turn("right with 5 degrees per second", 0, 5, 5)
        self.turn("left with 10 degrees per second", 0, -10, 5)
        self.look("forward first", 0, 0, False)
        self.tilt("down to 20 degrees with 10 degrees per second", -10, -20, 0)
        self.tilt("forward with 10 degrees per second", 10, 0, -20)

    def run(self):
        beat = self.pump(5, lambda x: x.get_type() == "HEARTBEAT" and x.get_srcComponent() == 154)
        if beat is None:
            self.fail("no device found")
        if beat.type != m.MAV_TYPE_GIMBAL or beat.get_srcSystem() != 1:
            self.fail(f"the heartbeat is {beat} of system {beat.get_srcSystem()}")
        self.link.mav.command_long_send(1, 154, m.MAV_CMD_REQUEST_MESSAGE, 0, 283, 0, 0, 0, 0, 0, 0)
        device = self.pump(2, lambda x: x.get_type() == "GIMBAL_DEVICE_INFORMATION")
        if device is None:
            self.fail("no gimbal device information received")
        print(f"PASS  information of {device.vendor_name} {device.model_name}", flush=True)
        if self.pump(20, lambda x: self.status is not None and apart(angles(self.status.q)[1], 0) < 1) is None:
            self.fail("yaw does not converge to 0")
        print("PASS  yaw estimator has converged", flush=True)
        if (self.status.target_system, self.status.target_component) != (0, 0):
            self.fail("the attitude status is not addressed to all systems")
        follow = [("look forward", 0, 0), ("45 degrees down", -45, 0), ("90 degrees down", -90, 0), ("20 degrees up", 20, 0),
                  ("forward again", 0, 0)]
        for text, pitch, yaw in follow:
            self.look(text, pitch, yaw, False)
        turns = [("right", 0, 90), ("left", 0, -90), ("left and down", -45, -90), ("right and down", -45, 90),
                 ("forward again", 0, 0)]
        for is_locked, heading in [(False, 20.0), (True, -30.0)]:
            self.look("forward, follow", 0, 0, False)
            # The vehicle turns at a realistic rate.
            while abs(self.vehicle - heading) > 0.01:
                self.vehicle += max(-1.5, min(1.5, heading - self.vehicle))
                self.pump(0.05)
            # The simulated handle does not turn, so the device must treat the difference as drift of its own heading.
            begin = time.monotonic()
            if self.pump(20, lambda x: apart(math.degrees(self.status.delta_yaw), heading) < 1) is None:
                self.fail(f"the device does not adopt the vehicle's heading of {heading:.0f} degrees")
            print(f"PASS  heading of the vehicle is known after {time.monotonic() - begin:.1f} s", flush=True)
            for text, pitch, yaw in turns:
                self.look(f"{text}, {'lock' if is_locked else 'follow'}, vehicle at {heading:.0f}", pitch, yaw, is_locked)
        self.run_rates()
        if self.bad:
            self.fail(f"{self.bad} frames could not be decoded")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--settle", type=float, default=2.0, help="time of each turn, s; MAVSDK's tester uses 2 s")
    parser.add_argument("--pace", type=float, default=1.0, help="factor of the time of turns at a constant rate")
    parser.add_argument("--limit-yaw", type=float, default=60.0)
    parser.add_argument("--limit-pitch", type=float, default=90.0)
    Tester(parser.parse_args()).run()


if __name__ == "__main__":
    main()
