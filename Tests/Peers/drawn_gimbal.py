"""Random gimbals, with the ranges of Sources/Simulation/DrawnGimbal.swift, and their physics in MuJoCo."""

import math
from collections import deque
from dataclasses import dataclass

import mujoco
import numpy as np

from gimbal_physics import DEGREE, GRAVITY, HANDLE_ARMATURE, IMU, LuGre, model_text

KINDS = ("torque", "no-encoders", "servo")
LAWS = ("dry", "lugre", "dahl")
# Lag of the motors' current loop, s.
CURRENT_LAG = 0.5e-3
POLE_PAIRS = 7


@dataclass
class Joint:
    """Friction, cable spring and motor of one joint, in N·m, N·m·s/rad, rad/s, rad and N·m/rad."""

    law: str
    coulomb: float
    stiction: float
    viscous: float
    stribeck: float
    asymmetry: float
    breakaway: float
    bend: float
    cable: float
    constant: float
    cogging: tuple[float, float, float]
    phase: float


@dataclass
class Servo:
    """A hobby servo: pulses per second; delay without lag and pulse wait, s; lag, s; largest rate, rad/s; dead band, rad."""

    frame_rate: float
    transport: float
    lag: float
    max_rate: float
    dead_band: float

    @property
    def delay(self):
        """Mean delay from a command to the movement, s."""
        return self.transport + self.lag + 0.5 / self.frame_rate


@dataclass
class Drawn:
    """Properties of one random gimbal."""

    seed: int
    kind: str
    size: float
    rate: int
    torque_limit: float
    inertia: np.ndarray
    mass: float
    offset: np.ndarray
    joints: list[Joint]
    delay: float
    mounting: np.ndarray
    gyro_scale: float
    servo: Servo

    @property
    def summary(self):
        """The properties in one line of text."""
        text = f"{self.kind} {self.rate} Hz, inertia x {self.size:.2f}"
        if self.kind == "servo":
            return text + f", pulses {self.servo.frame_rate:.0f} Hz, delay {self.servo.delay * 1e3:.0f} ms"
        friction = "/".join(f"{joint.coulomb * 1e3:.0f}" for joint in self.joints)
        return (f"{text}, {self.joints[0].law} {friction} mN·m, off balance "
                f"{self.mass * np.linalg.norm(self.offset) * GRAVITY * 1e3:.0f} mN·m, motors x "
                f"{self.joints[0].constant:.2f}, delay {self.delay * 1e3:.1f} ms")


def draw(seed, kind):
    """The gimbal of a seed. Gimbals of different kinds from the same seed have the same properties."""
    r = np.random.default_rng([seed, 0xD4A3])

    def logarithmic(low, high, count=None):
        return np.exp(r.uniform(math.log(low), math.log(high), count))

    rate = int(logarithmic(200, 1000))
    size = float(logarithmic(0.05, 5))
    limit = 0.25 * max(1, math.sqrt(size))
    diagonal = logarithmic(0.6, 1.6, 3) * 2.5e-3 * size
    for i in range(3):
        # A rigid body's moment of inertia is at most the sum of the other two.
        diagonal[i] = min(diagonal[i], 0.9 * (diagonal.sum() - diagonal[i]))
    x, y, z = diagonal
    products = r.uniform(-0.12, 0.12, 3) * np.sqrt([x * y, x * z, y * z])
    law, friction, constant = LAWS[seed % 3], logarithmic(1e-3, 60e-3), logarithmic(0.7, 1.4)
    cogging = logarithmic(0.002, 0.03) * limit
    joints = []
    for _ in range(3):
        coulomb = float(np.clip(friction * logarithmic(0.6, 1.6), 1e-3, 60e-3))
        joints.append(Joint(
            law, coulomb, coulomb * r.uniform(1, 1.7), float(logarithmic(0.2e-3, 3e-3)),
            float(logarithmic(0.01, 0.2)), r.uniform(-0.2, 0.2), float(logarithmic(0.2e-3, 3e-3)),
            r.uniform(0.5, 1.5), float(logarithmic(1e-3, 30e-3)), constant * r.uniform(0.95, 1.05),
            tuple(cogging * r.uniform(0, 1, 3)), r.uniform(-math.pi, math.pi)))
    mass = 0.5 * size**0.6
    direction = r.normal(size=3)
    moment = direction / np.linalg.norm(direction) * mass * r.uniform(0, 0.010)
    # The imbalance is limited so that the motors can hold it at twice gravity in addition to the joints' friction.
    carried = (0.7 * limit * min(j.constant for j in joints) - 1.2 * max(j.stiction for j in joints)) / (2 * GRAVITY)
    moment *= min(1, max(0, carried) / max(np.linalg.norm(moment), 1e-9))
    turn = r.normal(size=3)
    turn *= r.uniform(0, 5) * DEGREE / np.linalg.norm(turn)
    mounting = np.array([1, *(turn / 2)])
    servo = Servo(float(logarithmic(50, 333)), r.uniform(5.5e-3, 13.5e-3), 4e-3 * logarithmic(0.7, 1.5),
                  600 * DEGREE, 0.2 * DEGREE * logarithmic(0.5, 2))
    return Drawn(seed, kind, size, rate, limit, np.concatenate([diagonal, products]), mass, moment / mass, joints,
                 r.uniform(3e-3, 7e-3), mounting / np.linalg.norm(mounting), 0.012, servo)


class Dahl:
    """Dahl's friction law with a bend exponent, the Stribeck effect and direction-dependent friction.

    Source: P. Dahl, "A Solid Friction Model", Aerospace Corporation TOR-0158(3107-18)-1 (1968).
    """

    def __init__(self, joint, dt):
        self.joint, self.dt, self.force = joint, dt, 0.0

    def torque(self, rate):
        """Torque on the outer part of the joint over the next step, N·m; rate: joint rate, rad/s."""
        j = self.joint
        level = j.coulomb + (j.stiction - j.coulomb) * math.exp(-(rate / j.stribeck) ** 2)
        level *= 1 + j.asymmetry if rate > 0 else 1 - j.asymmetry
        left = 1 - self.force / level if rate > 0 else 1 + self.force / level
        force = self.force + j.stiction / j.breakaway * max(left, 0) ** j.bend * rate * self.dt
        self.force = max(-level, min(level, force))
        return -self.force


class Physics:
    """A random gimbal on a moving handle, with its sensor, its motors and their delay."""

    def __init__(self, drawn, motion, dt, substeps, seed, transport=True, ideal=False, frictionless=False):
        """motion: positions, rates and accelerations at every step of dt s. substeps: physics steps per sample. seed: for the
        sensor. transport: whether outputs are delayed. ideal: the sensor's only errors are its filters. frictionless: there is no
        friction and no cogging, to measure their effect."""
        self.drawn, self.dt, self.substeps = drawn, dt, substeps
        self.is_servo = drawn.kind == "servo"
        joints = []
        for joint, limit in zip(drawn.joints, (None, 1.2, 2.4)):
            text = {"stiffness": joint.cable, "damping": 0 if frictionless else joint.viscous}
            if self.is_servo:
                text = {"armature": HANDLE_ARMATURE}
            elif joint.law == "dry" and not frictionless:
                text |= {"frictionloss": joint.coulomb, "solreffriction": "0.002 1", "solimpfriction": "0.99 0.99 0.001"}
            if limit:
                text |= {"range": f"-{limit} {limit}", "limited": "true"}
            joints.append(text)
        offset, mass = drawn.offset, drawn.mass
        about = np.diag(drawn.inertia[:3])
        about[[0, 1, 0, 2, 1, 2], [1, 0, 2, 0, 2, 1]] = np.repeat(drawn.inertia[3:], 2)
        about -= mass * (offset @ offset * np.eye(3) - np.outer(offset, offset))
        self.model = mujoco.MjModel.from_xml_string(model_text(
            dt, joints, mass, offset, [*about.diagonal(), about[0, 1], about[0, 2], about[1, 2]], drawn.mounting))
        self.data = data = mujoco.MjData(self.model)
        self.camera = self.model.body("camera").id
        self.motion = [np.ascontiguousarray(motion[0]), np.ascontiguousarray(motion[1]), motion[2] * HANDLE_ARMATURE]
        self.friction = None
        if not self.is_servo and not frictionless:
            laws = {"dry": lambda j, i: None, "dahl": lambda j, i: Dahl(j, dt),
                    "lugre": lambda j, i: LuGre(j.coulomb, j.stiction, 0, i, dt, j.breakaway, j.stribeck)}
            self.friction = [laws[j.law](j, i) for j, i in zip(drawn.joints, drawn.inertia[[2, 0, 1]])]
            self.cogging = [(j.cogging, j.phase) for j in drawn.joints]
        # The chip's low-pass filters with the highest corners that suit the sampling rate, Hz.
        corners = (230, 145) if drawn.rate >= 460 else (116, 80)
        self.imu = IMU([seed, 7], drawn.rate, dt, ideal, drawn.gyro_scale, True, corners)
        late = drawn.servo.transport if self.is_servo else drawn.delay - self.imu.lag - CURRENT_LAG - dt
        self.queue = deque([[0.0] * 3] * (round(late / dt) if transport else 0))
        self.torque, self.command, self.frame = [0.0] * 3, [0.0] * 3, -1
        self.driving = [False] * 3
        self.step = 0
        data.qpos[:6], data.qvel[:6] = self.motion[0][0], self.motion[1][0]
        mujoco.mj_forward(self.model, data)
        seen = data.sensordata.tolist()
        self.imu.see(seen[:3], seen[3:6])

    @property
    def lag(self):
        """Delay from an output to the torque, without the hold time of the output, s."""
        return (len(self.queue) + 1) * self.dt + (0 if self.is_servo else CURRENT_LAG)

    @property
    def lead(self):
        """Delay from the camera's motion to the torque that responds to it, s."""
        return self.lag + self.imu.lag

    def attitude(self):
        """The sensor's true attitude, w x y z. It differs from the camera's by the mounting error, which airframed cannot
        measure."""
        result = np.empty(4)
        mujoco.mju_mulQuat(result, self.data.xquat[self.camera], self.drawn.mounting)
        return result.tolist()

    def truth(self):
        """True attitude and rate of the sensor, angles and rates of the joints."""
        data = self.data
        return self.attitude(), data.sensordata[:3].tolist(), data.qpos[6:].tolist(), data.qvel[6:].tolist()

    def advance(self, output):
        """Simulates one sample interval with this output: torques, N·m, or servo angles, rad; None if the outputs are off."""
        data, imu, queue, substeps = self.data, self.imu, self.queue, self.substeps
        q_handle, v_handle, f_handle = data.qpos[:6], data.qvel[:6], data.qfrc_applied[:6]
        q_joint, v_joint, f_joint = data.qpos[6:], data.qvel[6:], data.qfrc_applied[6:]
        sensors, (q, v, f) = data.sensordata, self.motion
        share = self.dt / (CURRENT_LAG + self.dt)
        if output is not None and not self.is_servo:
            limit = self.drawn.torque_limit
            output = [max(-limit, min(limit, o)) * j.constant for o, j in zip(output, self.drawn.joints)]
        for step in range(self.step, self.step + substeps):
            queue.append(output)
            wanted = queue.popleft()
            q_handle[:], v_handle[:], f_handle[:] = q[step], v[step], f[step]
            if self.is_servo:
                f_joint[:] = self.servo(step, wanted, q_joint.tolist(), v_joint.tolist())
            else:
                torque = self.torque
                goal = wanted or (0.0, 0.0, 0.0)
                for i in (0, 1, 2):
                    torque[i] += share * (goal[i] - torque[i])
                f_joint[:] = self.passive(q_joint.tolist(), v_joint.tolist()) if self.friction else torque
            mujoco.mj_step(self.model, data)
            seen = sensors.tolist()
            imu.see(seen[:3], seen[3:6])
        self.step += substeps

    def passive(self, angles, rates):
        """Torque of motor, friction and cogging at each joint, N·m."""
        result = []
        for torque, law, (pull, phase), angle, rate in zip(self.torque, self.friction, self.cogging, angles, rates):
            e = angle * POLE_PAIRS + phase
            torque -= pull[0] * math.sin(e) + pull[1] * math.sin(2 * e) + pull[2] * math.sin(6 * e)
            result.append(torque + law.torque(rate) if law else torque)
        return result

    def servo(self, step, wanted, angles, rates):
        """Joint torques that give the joints the motion of servos, as in Sources/Simulation/ServoModel.swift."""
        servo, dt = self.drawn.servo, self.dt
        pulse = int(step * dt * servo.frame_rate)
        if pulse != self.frame:
            self.frame, self.command = pulse, wanted
        result = []
        for i in (0, 1, 2):
            rate = 0.0
            if self.command is not None:
                error = max(-1.6, min(1.6, self.command[i])) - angles[i]
                if abs(error) > servo.dead_band:
                    self.driving[i] = True
                elif abs(error) < servo.dead_band / 10:
                    self.driving[i] = False
                if self.driving[i]:
                    rate = max(-servo.max_rate, min(servo.max_rate, error / servo.lag))
            result.append((rate - rates[i]) / dt * HANDLE_ARMATURE)
        return result
