"""A recorded trial, and the errors of an attitude estimate compared with the trial's optical reference.

Definitions: BROAD benchmark (Laidig et al. 2021, doi 10.3390/data6070072). The error quaternion is
estimate * conj(reference), in the earth frame; only moving samples with a reference count.
"""

import numpy as np

RECORD = np.dtype(
    [("t", "<f8"), ("gyro", "<f4", 3), ("accel", "<f4", 3), ("mag", "<f4", 3),
     ("reference", "<f4", 4), ("moving", "<f4")])
HEADER_BYTES = 64


class Trial:
    """One `.imu` file (format: Sources/Recording/IMULog.swift)."""

    def __init__(self, path):
        data = path.read_bytes()
        if data[:4] != b"IMU1":
            raise SystemExit(f"{path} is not an IMU log")
        self.path = path
        self.rate = float(np.frombuffer(data, "<f8", 1, 16)[0])
        self.records = np.frombuffer(data, RECORD, offset=HEADER_BYTES)
        self.gyro = np.ascontiguousarray(self.records["gyro"], dtype=float)
        self.accel = np.ascontiguousarray(self.records["accel"], dtype=float)
        self.mag = np.ascontiguousarray(self.records["mag"], dtype=float)
        reference = self.records["reference"].astype(float)
        self.scored = (self.records["moving"] > 0.5) & np.isfinite(reference).all(axis=1)
        self.reference = unit(reference[self.scored])

    def error(self, attitude):
        """Error quaternions of the scored samples."""
        return product(unit(attitude[self.scored]), self.reference * [1, -1, -1, -1])

    def inclination(self, attitude):
        """RMS angle between the estimated and the true vertical, degrees."""
        e = self.error(attitude)
        return rms(2 * np.arccos(np.clip(np.hypot(e[:, 0], e[:, 3]), 0, 1)))

    def total(self, attitude):
        """RMS angle of the whole error, degrees."""
        return rms(2 * np.arccos(np.clip(np.abs(self.error(attitude)[:, 0]), 0, 1)))

    def bias_time(self, bias, tolerance=0.1):
        """Seconds until the bias error stays below the tolerance (deg/s); inf if it never does. The true bias is the mean rate of
        each rest of 2 s or more, with linear interpolation between rests."""
        t = self.records["t"]
        resting = np.r_[False, self.records["moving"] < 0.5, False]
        edges = np.flatnonzero(resting[1:] != resting[:-1])
        times, means = [], []
        for first, end in zip(edges[::2], edges[1::2]):
            if t[end - 1] - t[first] >= 2:
                times.append((t[first] + t[end - 1]) / 2)
                means.append(self.gyro[first:end].mean(axis=0))
        means = np.array(means)
        truth = np.stack([np.interp(t, times, means[:, axis]) for axis in range(3)], axis=1)
        error = np.degrees(np.linalg.norm(bias - truth, axis=1))
        late = np.flatnonzero(~(error < tolerance))
        if len(late) == 0:
            return 0.0
        return float("inf") if late[-1] == len(t) - 1 else float(t[late[-1] + 1] - t[0])


def unit(q):
    return q / np.linalg.norm(q, axis=1)[:, None]


def rms(angles):
    return float(np.degrees(np.sqrt(np.mean(angles**2))))


def product(a, b):
    """Hamilton product of corresponding rows."""
    scalar = a[:, :1] * b[:, :1] - np.sum(a[:, 1:] * b[:, 1:], axis=1, keepdims=True)
    vector = a[:, :1] * b[:, 1:] + b[:, :1] * a[:, 1:] + np.cross(a[:, 1:], b[:, 1:])
    return np.hstack([scalar, vector])


def carried_forward(attitude, rate, seconds):
    """Attitude extrapolated with a constant rate (sensor axes, rad/s)."""
    turn = rate * seconds
    angle = np.linalg.norm(turn, axis=1)[:, None]
    # sinc is sin(pi x) / (pi x).
    vector = 0.5 * turn * np.sinc(angle / (2 * np.pi))
    return product(attitude, np.hstack([np.cos(angle / 2), vector]))
