"""A conventional cascade controller (attitude P, rate PI, VQF for the attitude), with gains tuned on the gimbal that it
drives."""

import copy
import math
from dataclasses import astuple, dataclass

import numpy as np
from scipy.optimize import minimize
from vqf import VQF

# Limits of the commanded rate, rad/s, and of the attitude error, rad.
MAX_RATE, MAX_ERROR = 3.0, 0.5
# Rest before the motors switch on, s.
REST = 4.0
# Frequencies at which the stability margins are checked, Hz.
FREQUENCIES = np.geomspace(0.02, 450, 500)
# Time constant with which the heading follows the handle's heading, s.
FOLLOW = 0.6


@dataclass
class Gains:
    """attitude: gain, 1/s. rate: gain, 1/s; with servos, prediction time of the handle's motion as a fraction of the loop's
    delay. integral: gain, 1/s². corner: of the low-pass of the rate (with servos, of the handle's rate), Hz. derivative: fraction
    of the measured angular acceleration that the motors oppose, 1."""

    attitude: float
    rate: float
    integral: float
    corner: float
    derivative: float


def product(p, q):
    """The product of two quaternions w x y z."""
    a, b, c, d = p
    w, x, y, z = q
    return (a * w - b * x - c * y - d * z, a * x + b * w + c * z - d * y,
            a * y - b * z + c * w + d * x, a * z + b * y - c * x + d * w)


def turned(q, rate, time):
    """The attitude q after a rotation at this rate (body frame) for this time; for small angles."""
    h = 0.5 * time
    return product(q, (1.0, rate[0] * h, rate[1] * h, rate[2] * h))


def columns(roll, pitch):
    """The axes of the yaw, roll and pitch joints in the camera's frame."""
    cr, sr, cp, sp = math.cos(roll), math.sin(roll), math.cos(pitch), math.sin(pitch)
    return (-sp * cr, sr, cp * cr), (cp, 0.0, sp), (0.0, 1.0, 0.0)


def joint_attitude(yaw, roll, pitch):
    """The camera's attitude relative to the handle."""
    half = [(math.cos(a / 2), math.sin(a / 2)) for a in (yaw, roll, pitch)]
    (cy, sy), (cr, sr), (cp, sp) = half
    return product(product((cy, 0, 0, sy), (cr, sr, 0, 0)), (cp, 0, sp, 0))


def joint_rates(turn, roll, pitch):
    """Joint rates that rotate the camera at this rate, which is in the camera's frame."""
    c, s = math.cos(pitch), math.sin(pitch)
    yaw = (c * turn[2] - s * turn[0]) / math.cos(roll)
    return yaw, c * turn[0] + s * turn[2], turn[1] - math.sin(roll) * yaw


def learnt_bias(imu, rate):
    """Gyroscope bias that VQF estimates during REST, rad/s. Users are told to keep this rest before the motors switch on."""
    imu, vqf = copy.deepcopy(imu), VQF(1 / rate)
    for _ in range(int(REST * rate)):
        vqf.update(*imu.read())
    return vqf.getBiasEstimate()[0]


class Cascade:
    """The controller. If perfect is true, the true attitude and rate replace the sensor and the filter."""

    def __init__(self, drawn, gains, lead, sensor_lag, perfect, follows, bias):
        """lead: delay from the camera's motion to the motors' response, s. sensor_lag: the gyroscope's part of lead. follows:
        whether the heading follows the handle's. bias: gyroscope bias estimated at rest, rad/s."""
        self.drawn, self.gains, self.lead, self.perfect = drawn, gains, 0 if perfect else lead, perfect
        self.sensor_lag, self.follows, self.dt = sensor_lag, follows, 1 / drawn.rate
        # Inertia divided by the motor constant: commanded torque per angular acceleration on this gimbal.
        x, y, z = drawn.inertia[:3]
        yaw, roll, pitch = (joint.constant for joint in drawn.joints)
        self.inertia = (x / roll, y / pitch, z / yaw)
        self.limit = drawn.torque_limit
        self.vqf = VQF(self.dt)
        self.vqf.setBiasEstimate(np.ascontiguousarray(bias), 0.05 * math.pi / 180)
        self.bias, self.tick = [0.0] * 3, 0
        self.share = 1 - math.exp(-2 * math.pi * gains.corner * self.dt)
        self.smooth, self.integral, self.heading = [0.0] * 3, [0.0] * 3, None
        self.angles = [0.0] * 3
        # Delay from a command to the servos' motion, in samples; the gyroscope's lag adds to this delay.
        wait = (drawn.servo.transport + 0.5 / drawn.servo.frame_rate) / self.dt
        self.late, self.between = [[0.0] * 3] * (int(wait) + 2), wait % 1
        self.answer, self.seen = [0.0] * 3, [0.0] * 3

    def step(self, gyro, accel, joints, truth):
        """Motor command and estimated attitude. joints: angles, rad, or None. truth: attitude, rate, joint angles and joint
        rates."""
        if self.perfect:
            attitude, rate, *self.truth = truth
        else:
            self.vqf.update(gyro, accel)
            w, x, y, z = self.vqf.getQuat6D()
            attitude = -x, w, -z, y
            if self.tick % 100 == 0:
                self.bias = self.vqf.getBiasEstimate()[0].tolist()
            rate = [g - b for g, b in zip(gyro.tolist(), self.bias)]
        self.tick += 1
        is_servo = self.drawn.kind == "servo"
        ahead = attitude if is_servo else turned(attitude, rate, self.lead)
        w, x, y, z = ahead
        heading = math.atan2(2 * (w * z - x * y), 1 - 2 * (x * x + z * z))
        if self.heading is None:
            self.heading = heading
        if self.follows:
            self.heading -= (self.answer[0] if is_servo else joints[0]) * self.dt / FOLLOW
        # The set-point is level at this heading. e is the remaining rotation in the camera's frame.
        c, s = math.cos(self.heading / 2), math.sin(self.heading / 2)
        e = product((w, -x, -y, -z), (c, 0, 0, s))
        sign = 2.0 if e[0] >= 0 else -2.0
        error = [max(-MAX_ERROR, min(MAX_ERROR, sign * part)) for part in e[1:]]
        out = self.angle(error, rate) if is_servo else self.moment(error, rate, joints)
        return out, attitude

    def moment(self, error, rate, joints):
        """Joint torques that reduce an attitude error in rad."""
        g, dt, moment = self.gains, self.dt, []
        for i in (0, 1, 2):
            change = self.share * (rate[i] - self.smooth[i])
            self.smooth[i] += change
            lack = max(-MAX_RATE, min(MAX_RATE, g.attitude * error[i])) - self.smooth[i]
            most = 0.8 * self.limit / self.inertia[i]
            self.integral[i] = max(-most, min(most, self.integral[i] + g.integral * lack * dt))
            moment.append((g.rate * lack + self.integral[i] - g.derivative * change / dt) * self.inertia[i])
        _, roll, pitch = joints or (0, 0, 0)
        return [sum(a * m for a, m in zip(axis, moment)) for axis in columns(roll, pitch)]

    def angle(self, error, rate):
        """Servo angles that oppose the error and the handle's rate: the camera's rate minus the rate that the servos cause."""
        g, dt, servo = self.gains, self.dt, self.drawn.servo
        # Estimated servo angles: delayed commands through the servos' lag.
        self.late.append(self.angles)
        if self.perfect:
            self.answer, rates = self.truth
        else:
            self.late.pop(0)
            share, part = 1 - math.exp(-dt / servo.lag), self.between
            goal = [a * part + b * (1 - part) for a, b in zip(*self.late[:2])]
            steps = [share * (a - b) for a, b in zip(goal, self.answer)]
            self.answer = [b + s for b, s in zip(self.answer, steps)]
            share = 1 - math.exp(-dt / self.sensor_lag)
            self.seen = [a + share * (s / dt - a) for a, s in zip(self.seen, steps)]
            rates = self.seen
        _, roll, pitch = self.answer
        axes, wanted = columns(roll, pitch), []
        for i in (0, 1, 2):
            handle = rate[i] - sum(axis[i] * r for axis, r in zip(axes, rates))
            self.smooth[i] += self.share * (handle - self.smooth[i])
            self.integral[i] += g.integral * error[i] * dt
            wanted.append(g.attitude * error[i] + self.integral[i] - self.smooth[i])
        self.angles = [a + s * dt for a, s in zip(self.angles, joint_rates(wanted, roll, pitch))]
        # Prediction time, s: a fraction of the delay of servos, sensor and low-pass.
        wait = g.rate * (servo.delay + self.sensor_lag + 1 / (2 * math.pi * g.corner))
        return [a - f * wait for a, f in zip(self.angles, joint_rates(self.smooth, roll, pitch))]


def opened(gains, is_servo, lead, wait):
    """Magnitude and phase (degrees) of one axis's open loop on a rigid model, at FREQUENCIES.

    lead: time by which the attitude is extrapolated, s. wait: delay from the camera's motion to the motors' response, s.
    """
    s = 2j * math.pi * FREQUENCIES
    if is_servo:
        loop = (gains.attitude + gains.integral / s) / s
    else:
        passed = 1 / (1 + s / (2 * math.pi * gains.corner))
        loop = ((gains.rate + gains.integral / s) * (gains.attitude * (1 + s * lead) + s * passed)
                + gains.derivative * s**2 * passed) / s**2
    loop = loop * np.exp(-s * wait)
    phase = np.unwrap(np.angle(loop)) * 180 / math.pi
    # The phase of two or three integrators starts at -180 or -270 degrees.
    return np.abs(loop), phase - (360 if phase[0] > 0 else 0)


def has_margins(gains, *model, gain=2.0, phase=45.0):
    """Whether the loop has this gain margin, for higher and lower gain, and this phase margin in degrees."""
    size, angle = opened(gains, *model)
    turns = np.flatnonzero(np.diff(np.floor((angle + 180) / 360)) != 0)
    crosses = np.flatnonzero(np.diff(np.sign(size - 1)) != 0)
    return (len(crosses) == 1 and angle[crosses[0]] > phase - 180
            and bool(np.all((size[turns] < 1 / gain) | ((size[turns] > gain) & (turns < crosses[0])))))


def with_margins(gains, *model):
    """These gains, reduced until the loop has the margins."""
    while not has_margins(gains, *model):
        # The outer loops' gains decrease faster, so that the search ends for every initial ratio of gains.
        slower = 1 if model[0] else 0.96
        gains = Gains(gains.attitude * 0.94, gains.rate * slower, gains.integral * 0.85, gains.corner,
                      gains.derivative * 0.96)
    return gains


def first_gains(is_servo, lead, wait, corner):
    """Initial gains for tuning: the stiffest ones below the loop's bandwidth that keep the margins.

    corner: corner frequency of the low-pass, Hz.
    """
    model, fast = (is_servo, lead, wait), 1 / wait
    if is_servo:
        return with_margins(Gains(0.7 * fast, 0.5, fast**2 / 70, corner, 0), *model)

    def gains(x):
        attitude, rate, integral, derivative = np.exp(x)
        return with_margins(Gains(attitude, rate, integral, corner, derivative), *model)

    def yielding(x):
        g = gains(x)
        return -math.log(g.rate * g.attitude + g.integral)

    start = np.log([fast / 10, fast / 2, fast**2 / 100, 0.2])
    return gains(minimize(yielding, start, method="Nelder-Mead", options={"maxfev": 200}).x)


def tuned(cost, is_servo, lead, wait, rate, evaluations=22):
    """Gains with the margins that minimise the cost of a tuning motion (Nelder-Mead). cost: function of Gains. rate: loop rate,
    Hz."""
    model = is_servo, lead, wait
    start = np.log(np.maximum(astuple(first_gains(*model, 18 if is_servo else min(150, 0.3 * rate))), 1e-3))

    def gains(x):
        attitude, speed, integral, corner, derivative = np.exp(x)
        if is_servo:
            speed, derivative = min(speed, 1.5), 0
        return with_margins(Gains(attitude, speed, integral, min(corner, 0.4 * rate), derivative), *model)

    # The loop of servos has no derivative gain.
    used = 4 if is_servo else 5
    pad = np.zeros(5 - used)
    away = np.diag([-0.5, -0.3, -1, 0.5] if is_servo else [0.4, 0.3, -0.7, 0.5, -0.5])
    simplex = start[:used] + np.vstack([np.zeros(used), away])
    found = minimize(lambda x: cost(gains([*x, *pad])), start[:used], method="Nelder-Mead",
                     options={"initial_simplex": simplex, "maxfev": evaluations, "xatol": 0.02, "fatol": 1e-4})
    return gains([*found.x, *pad])
