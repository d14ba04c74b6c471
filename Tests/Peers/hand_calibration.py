"""Calibrates the sensor of a simulated camera with airframed, as a person does who turns the camera by hand."""

import json
import math
import socket
import sys
import time

import numpy as np

from gimbal_physics import GRAVITY

# Faces of the camera: rotation from the upright pose, camera frame, as axis and angle, rad.
FACES = [((1, 0, 0), angle) for angle in (0, math.pi / 2, math.pi, -math.pi / 2)] + [((0, 1, 0), angle) for angle in (math.pi / 2, -math.pi / 2)]
# Half turns about the vertical on three sides, with the rotations between the sides, camera frame, rad.
TURNS = [(0, 0, 3.0), (1.57, 0, 0), (0, 3.2, 0), (0, 0, -1.57), (-3.1, 0, 0), (0, -1.57, 0), (0, 0, -3.0)]
# Duration of a pose and of a turn, s.
POSE, TURN = 2.5, 2.0


def quaternion(vector):
    """Quaternion w x y z of a rotation vector."""
    angle = math.sqrt(sum(v * v for v in vector))
    scale = math.sin(angle / 2) / angle if angle > 1e-12 else 0.5
    return np.array([math.cos(angle / 2), *(v * scale for v in vector)])


def product(a, b):
    return np.array([a[0] * b[0] - a[1:] @ b[1:], *(a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:]))])


def up(q):
    """Specific force at rest, camera frame (x forward, y right, z down), m/s²."""
    w, x, y, z = q
    return [-GRAVITY * 2 * (x * z - w * y), -GRAVITY * 2 * (y * z + w * x), -GRAVITY * (w * w - x * x - y * y + z * z)]


class Camera:
    """A camera in a hand, without motors, that supplies samples to airframed in lockstep."""

    def __init__(self, daemon, imu, rate, substeps, encoders):
        self.daemon, self.imu, self.rate, self.substeps, self.encoders = daemon, imu, rate, substeps, encoders
        self.line, self.began = 0, time.monotonic()
        self.attitude = np.array([1.0, 0, 0, 0])
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(f"{daemon.directory}/diag.sock")
        self.replies = self.socket.makefile("rb")

    def ask(self, action, what):
        params = {"action": action} | ({"what": what} if what else {})
        self.socket.sendall(json.dumps({"id": 1, "method": "calibrate", "params": params}).encode() + b"\n")
        reply = json.loads(self.replies.readline())
        if "error" in reply:
            sys.exit(f"calibrate {action}: {reply['error']}")
        return reply["result"]

    def sample(self, rate):
        force = up(self.attitude)
        for _ in range(self.substeps):
            self.imu.see(list(rate), force)
        gyro, accel = self.imu.read()
        line = {"t": self.line / self.rate, "gyro": gyro.tolist(), "accel": accel.tolist()}
        if self.encoders:
            line["joints"] = [0.0, 0.0, 0.0]
        self.daemon.ask(line)
        self.line += 1
        # airframed reads its telemetry in real time, so the samples must not be much faster.
        ahead = self.line / self.rate / 4 - (time.monotonic() - self.began)
        if ahead > 0.01:
            time.sleep(ahead)

    def rest(self, seconds):
        for _ in range(int(seconds * self.rate)):
            self.sample((0.0, 0.0, 0.0))

    def turn(self, vector):
        count, vector = int(TURN * self.rate), np.array(vector, dtype=float)
        for k in range(count):
            share = (k + 0.5) / count
            rate = vector * (6 * share * (1 - share) / TURN)
            self.attitude = product(self.attitude, quaternion(rate / self.rate))
            self.sample(rate)

    def ended(self, what):
        deadline = time.monotonic() + 10
        while (report := self.ask("status", None))["state"] in ("waiting", "collecting") and time.monotonic() < deadline:
            self.rest(0.1)
        if report["state"] != "done":
            sys.exit(f"calibrate {what}: {report}")
        return report["sentence"]


def calibrate(daemon, imu, rate, substeps, encoders):
    """Calibrates accelerometer and gyroscope's matrix; returns airframed's sentence about the result. The results are in the
    daemon's state directory."""
    camera = Camera(daemon, imu, rate, substeps, encoders)
    camera.rest(3)
    camera.ask("start", "accelerometer")
    for axis, angle in FACES:
        camera.attitude = quaternion([a * angle for a in axis])
        camera.rest(POSE)
    camera.ended("accelerometer")
    camera.attitude = np.array([1.0, 0, 0, 0])
    camera.rest(1)
    camera.ask("start", "gyro_matrix")
    camera.rest(POSE + 1)
    for vector in TURNS:
        camera.turn(vector)
        camera.rest(POSE)
    return camera.ended("gyro_matrix")
