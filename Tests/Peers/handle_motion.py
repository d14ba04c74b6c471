"""Motions of a gimbal's handle: carried by a standing, walking or running person, or a recorded walk.

Positions are those of six joints: north, east, down in m, and yaw, roll, pitch in rad, in the order Z-X-Y.
"""

import math
import re
from pathlib import Path

import numpy as np

from gimbal_physics import DEGREE, GRAVITY, steps_through, waves

GAIT_TABLES = Path(__file__).parents[2] / "Sources/Simulation/Gait.swift"
# Record format of `.imu` files; see shared/data/imu/README.md.
RECORD = np.dtype([("t", "<f8"), ("gyro", "<f4", 3), ("accel", "<f4", 3), ("mag", "<f4", 3),
                   ("reference", "<f4", 4), ("moving", "<f4")])
# Time of rest that is played before a recorded walk's first step, s.
LEAD = 1.5


def handle_motion(kind, seed, steps, dt, still, scale=1.0, recording=None):
    """Positions, rates and accelerations of the handle's joints at the beginning of each step.

    kind: still, handheld, walking, running or recorded. dt: s. still: seconds of rest before the motion. recording: path of an
    `.imu` file with the axes x forward, y left, z up.
    """
    random = np.random.default_rng([seed, 0xBA5E])
    times = np.arange(steps + 2) * dt - still
    if kind == "recorded":
        return steps_through(recorded(recording, times), dt)
    q = np.zeros((len(times), 6))
    if kind == "handheld":
        # A standing person: physiological tremor has a peak at 8...12 Hz.
        f = [0.5, 0.83, 1.3, 2.1, 3.4, 5.3, 8.7, 12.0]
        for axis in range(6):
            rms = 0.2 if axis < 3 else 0.6 * DEGREE
            for size, rate, phase in waves(random, f, [1, .8, .55, .3, .15, .08, .06, .04], rms, 0.05):
                # The first three axes have accelerations; the position of a sine is its acceleration / rate².
                q[:, axis] += (size / rate**2 if axis < 3 else size) * np.sin(rate * times + phase)
    elif kind in ("walking", "running"):
        q = gait(random, kind == "running", times)
    # The motion starts from rest, and reaches its full size after 2 s.
    return steps_through(q * scale * smooth(times / 2)[:, None], dt)


def smooth(x):
    """Smooth step from 0 at x = 0 to 1 at x = 1, with continuous first and second derivatives."""
    x = np.clip(x, 0, 1)
    return x**3 * (10 + x * (6 * x - 15))


def gait(random, runs, times):
    """A walking or running person with the statistics of recorded gait; method and tables are from Sources/Simulation/Gait.swift.

    Each harmonic of the stride has a periodic part, and a part at a neighbouring frequency that does not repeat with the stride.
    The pace varies by 1.3 % RMS. The course has a corner of 60° every 12 s, and no stops.
    """
    text = GAIT_TABLES.read_text()

    def table(name):
        body = re.search(rf"static let {name}: \[\[Double\]\] = \[(.*?)\n    \]", text, re.S)[1]
        return np.array(re.findall(r"[\d.]+", body), float).reshape(-1, 3)

    def constant(name):
        return float(re.search(rf"static let {name} = ([\d.]+)", text)[1])

    stride = random.uniform(0.69, 0.74) if runs else random.uniform(1, 1.2)
    turning, shaking = (1.6, 2.15) if runs else (1, 1)
    sizes = np.hstack([table("push") * shaking, table("rate") * DEGREE * turning])
    lost = 1 - np.hstack([table("pushShare"), table("rateShare")])
    lost[:, :3] *= constant("pushLoss")
    lost[:2, 3:] *= constant("slowLoss")
    lost[2:, 3:] *= constant("rateLoss")
    ahead = times.copy()
    for share in (0.09, 0.17, 0.26, 0.37, 0.48):
        rate = 2 * math.pi * share * random.uniform(0.85, 1.15) / stride
        ahead += constant("paceVariation") * math.sqrt(2 / 5) / rate * np.sin(
            rate * times + random.uniform(0, 2 * math.pi))
    phase = 2 * math.pi / stride * ahead
    strike = random.uniform(-0.25, 0.25, 6)
    away = np.array([0.14, -0.23, 0.34, -0.45]) + random.uniform(-0.04, 0.04, 4)
    q = np.zeros((len(times), 6))
    for i in range(len(sizes)):
        for is_back in (True, False):
            order = i + 1 if is_back else i + 1 + away[i % 4]
            start = random.uniform(0, 2 * math.pi, 6) if i < 4 or not is_back else order * strike
            size = sizes[i] * np.sqrt(2 * (1 - lost[i] if is_back else lost[i]))
            rate = 2 * math.pi / stride * order
            # Converts accelerations and rates to positions.
            size = size / np.array([rate**2] * 3 + [rate] * 3)
            q += size * np.cos(order * phase[:, None] - start)
    # The tables have the order roll, pitch, yaw; q has yaw, roll, pitch.
    q[:, 3:] = q[:, [5, 3, 4]]
    for corner in range(math.ceil(times[-1] / 12)):
        q[:, 3] += (-1) ** corner * math.pi / 3 * smooth((times - 12 * corner - 6) / 1.2)
    return q


def read_imu(path):
    """Samples per second, and angular rate, specific force and moving flag of each sample, with x forward, y right, z down."""
    raw = Path(path).read_bytes()
    rows = np.frombuffer(raw[64:], RECORD)
    turn = np.array([1, -1, -1.0])
    return float(np.frombuffer(raw[16:24])[0]), rows["gyro"] * turn, rows["accel"] * turn, rows["moving"]


def recorded(path, times):
    """The handle of a recorded walk, at rest before time 0; valid until `recorded_seconds`.

    Attitude: an acausal orientation filter over the whole recording (offline VQF). Position: the specific force, rotated by that
    attitude and integrated twice; a high-pass at 0.1 Hz removes the drift. Splines of the fifth degree interpolate between the
    samples, so that rates and accelerations have no steps.
    """
    from scipy.interpolate import make_interp_spline
    from vqf import offlineVQF

    hz, gyro, accel, moving = read_imu(path)
    calm = min(range(0, len(gyro) - int(hz), 10), key=lambda i: gyro[i:i + int(hz)].std(0).sum())
    up = np.array([1, -1, -1.0])
    turned = offlineVQF(np.ascontiguousarray((gyro - gyro[calm:calm + int(hz)].mean(0)) * up),
                        np.ascontiguousarray(accel * up), None, 1 / hz)["quat6D"]
    # Converts both the earth frame and the body frame from z up to z down.
    w, x, y, z = (turned * [1, 1, -1, -1]).T
    angles = np.unwrap(np.stack([
        np.arctan2(2 * (w * z - x * y), 1 - 2 * (x * x + z * z)), np.arcsin(2 * (w * x + y * z)),
        np.arctan2(2 * (w * y - x * z), 1 - 2 * (x * x + y * y))], 1), axis=0)
    u = np.stack([x, y, z], 1)
    cross = np.cross(u, accel)
    force = accel + 2 * (w[:, None] * cross + np.cross(u, cross))
    force *= GRAVITY / np.linalg.norm(accel[calm:calm + int(hz)].mean(0))
    begin = first_sample(moving, hz)
    angles, force = angles[begin:], force[begin:] + [0, 0, GRAVITY]
    clock = np.arange(len(angles)) / hz
    grown = smooth(clock / 0.7)[:, None]
    angles = angles[:1] + (angles - angles[:1]) * grown - [angles[0, 0], 0, 0]
    # Zeros double the length, so that the end of the signal does not wrap to its beginning.
    fade = grown * smooth((clock[-1] - clock) / 0.7)[:, None]
    spectrum = np.fft.rfft(force * fade, 2 * len(force), axis=0)
    f = np.fft.rfftfreq(2 * len(force), 1 / hz)
    passed = (f / 0.1) ** 4 / (1 + (f / 0.1) ** 4)
    f[0] = 1
    spectrum *= (-passed / (2 * math.pi * f) ** 2)[:, None]
    positions = np.fft.irfft(spectrum, axis=0)[:len(force)]
    positions = (positions - positions[0]) * grown
    return make_interp_spline(clock, np.hstack([positions, angles]), k=5)(np.clip(times, 0, clock[-1]))


def first_sample(moving, hz):
    """Index of the first sample of a recorded walk that is played."""
    return max(0, int(np.flatnonzero(moving)[0] - LEAD * hz))


def recorded_seconds(path):
    """Length of a recorded walk that can be played, s; without its last second, which is distorted."""
    hz, gyro, _, moving = read_imu(path)
    return (len(gyro) - first_sample(moving, hz)) / hz - 1
