"""Shared parts of the MuJoCo benches in this folder: gimbal model, joint friction, IMU, connection to airframed.

World and body frames are north-east-down and forward-right-down, so gravity is +9.81 along z, and no frame conversions are
necessary. The camera hangs on three hinge joints (yaw, roll, pitch from the handle outwards); the handle moves on six
prescribed joints.
"""

import json
import math
import shutil
import socket
import subprocess
import sys
import tempfile
import time

import numpy as np

GRAVITY = 9.81
AXES = ("yaw", "roll", "pitch")
DEGREE = math.pi / 180
# Inertia of the handle's prescribed joints, so large that the camera does not move the handle.
HANDLE_ARMATURE = 1e5

MODEL = """
<mujoco>
  <option timestep="{step}" gravity="0 0 9.81" integrator="Euler"/>
  <compiler angle="radian"/>
  <default><joint armature="0" damping="0"/><geom contype="0" conaffinity="0"/></default>
  <worldbody>
    <body name="handle">
      <joint name="north" type="slide" axis="1 0 0" armature="{heavy}"/>
      <joint name="east" type="slide" axis="0 1 0" armature="{heavy}"/>
      <joint name="down" type="slide" axis="0 0 1" armature="{heavy}"/>
      <joint name="handle_yaw" axis="0 0 1" armature="{heavy}"/>
      <joint name="handle_roll" axis="1 0 0" armature="{heavy}"/>
      <joint name="handle_pitch" axis="0 1 0" armature="{heavy}"/>
      <inertial pos="0 0 0" mass="1" diaginertia="1e-3 1e-3 1e-3"/>
      <site name="handle"/>
      <body name="yaw_arm">
        <joint name="yaw" axis="0 0 1" {yaw}/>
        <inertial pos="0 0 0" mass="1e-3" diaginertia="1e-6 1e-6 1e-6"/>
        <body name="roll_arm">
          <joint name="roll" axis="1 0 0" {roll}/>
          <inertial pos="0 0 0" mass="1e-3" diaginertia="1e-6 1e-6 1e-6"/>
          <body name="camera">
            <joint name="pitch" axis="0 1 0" {pitch}/>
            <inertial pos="{offset}" mass="{mass}" fullinertia="{inertia}"/>
            <site name="camera" quat="{mounting}"/>
          </body>
        </body>
      </body>
    </body>
  </worldbody>
  <sensor>
    <gyro site="camera"/><accelerometer site="camera"/><gyro site="handle"/>
  </sensor>
</mujoco>
"""


def model_text(step, joints, mass, offset, inertia, mounting=(1, 0, 0, 0)):
    """MuJoCo's XML of a gimbal.

    step: time step, s. joints: a dictionary of attributes for each of the three joints. mass: kg. offset: centre of mass
    (camera's frame), m. inertia: about the centre of mass, xx, yy, zz, xy, xz, yz, kg·m². mounting: attitude of the sensor in the
    camera's frame, w x y z.
    """
    def row(values):
        return " ".join(f"{value:.9g}" for value in values)

    texts = (" ".join(f'{key}="{value}"' for key, value in joint.items()) for joint in joints)
    return MODEL.format(step=step, heavy=HANDLE_ARMATURE, mass=mass, offset=row(offset),
                        inertia=row(inertia), mounting=row(mounting), **dict(zip(AXES, texts)))


def waves(random, frequencies, weights, rms, detune):
    """Sines with these weights and this total RMS, as (amplitude, angular rate, phase)."""
    scale = rms / math.sqrt(sum(w * w / 2 for w in weights))
    return [(w * scale, 2 * math.pi * f * (1 + detune * random.uniform(-1, 1)),
             random.uniform(0, 2 * math.pi)) for f, w in zip(frequencies, weights)]


def steps_through(q, dt):
    """Rates and accelerations with which MuJoCo's integrator (v += a dt, then q += v dt) passes through these positions.

    q has one row more than is returned. With the rates of the continuous motion, the handle's position would have an error
    of a dt² / 2 in every step, which gyroscopes do not measure: at 2 kHz, walking would add 0.01° of apparent shake.
    """
    v = np.diff(q, axis=0, prepend=q[:1]) / dt
    return q[:-1], v[:-1], np.diff(v, axis=0) / dt


class LuGre:
    """LuGre friction with exact integration of the bristle deflection over a step (Canudas de Wit et al., IEEE TAC 40, 1995)."""

    def __init__(self, coulomb, stiction, viscous, inertia, dt, breakaway=0.9e-3, stribeck=0.05):
        """coulomb, stiction: N·m. viscous: N·m·s/rad. inertia: moved by the joint, kg·m². dt: step, s. breakaway: creep before
        sliding, rad. stribeck: rad/s."""
        self.coulomb, self.stiction, self.viscous = coulomb, stiction, viscous
        self.dt, self.stribeck, self.z = dt, stribeck, 0.0
        self.stiffness = stiction / breakaway
        self.damping = 2 * 0.3 * math.sqrt(self.stiffness * inertia)

    def torque(self, rate):
        """Torque on the outer part of the joint over the next step, N·m; rate: joint rate, rad/s."""
        if self.stiction <= 0:
            return -self.viscous * rate
        fade = math.exp(-(rate / self.stribeck) ** 2)
        level = self.coulomb + (self.stiction - self.coulomb) * fade
        before = self.z
        if abs(rate) > 1e-12:
            steady = math.copysign(level / self.stiffness, rate)
            self.z = steady + (self.z - steady) * math.exp(
                -abs(rate) * self.stiffness / level * self.dt)
        return -(self.stiffness * self.z + self.damping * fade * (self.z - before) / self.dt
                 + self.viscous * rate)


class IMU:
    """A simulated BMI088 with the errors of Sources/Simulation/IMUModel.swift (data sheet BST-BMI088-DS001)."""

    def __init__(self, seed, rate, dt, ideal=False, gyro_scale=0.005, calibrated=False, corners=(230, 145)):
        """seed: for numpy. rate: samples per second. dt: physics step, s. ideal: no errors. gyro_scale: standard deviation of the
        gyroscope's scale. calibrated: the accelerometer has no bias or scale error, as after a six-position calibration. corners:
        corner frequencies of the low-passes of gyroscope and accelerometer, Hz; None: no low-passes."""
        self.random = np.random.default_rng(seed)
        r = self.random
        self.ideal = ideal
        noise = math.sqrt(rate / 2)
        self.gyro_noise = 0.014 * DEGREE * noise
        self.accel_noise = np.array([160e-6, 160e-6, 190e-6]) * GRAVITY * noise
        self.gyro_bias = r.normal(0, 0.5 * DEGREE, 3)
        self.accel_bias = r.normal(0, 10e-3 * GRAVITY, 3)
        self.gyro_matrix = np.eye(3) + r.normal(0, 0.005, (3, 3))
        self.gyro_matrix[np.diag_indices(3)] = 1 + (self.gyro_matrix.diagonal() - 1) * gyro_scale / 0.005
        self.accel_matrix = np.eye(3) + r.normal(0, 0.0025, (3, 3))
        if calibrated:
            self.accel_bias, self.accel_matrix = np.zeros(3), np.eye(3)
        # Lag of the gyroscope, s.
        self.lag = 1 / (2 * math.pi * corners[0]) if corners else 0
        self.shares = [1 - math.exp(-2 * math.pi * corner * dt) for corner in corners or ()]
        self.gyro = self.accel = None

    def see(self, gyro, accel):
        """Feeds one physics step into the sensor's low-passes; gyro and accel are lists of three numbers."""
        if self.gyro is None or not self.shares:
            self.gyro, self.accel = list(gyro), list(accel)
            return
        g, a, (share, slow) = self.gyro, self.accel, self.shares
        for i in (0, 1, 2):
            g[i] += share * (gyro[i] - g[i])
            a[i] += slow * (accel[i] - a[i])

    def read(self):
        """One sample of gyroscope, rad/s, and accelerometer, m/s²."""
        if self.ideal:
            return np.array(self.gyro), np.array(self.accel)
        gyro = self.gyro_matrix @ self.gyro + self.gyro_bias
        accel = self.accel_matrix @ self.accel + self.accel_bias
        gyro = gyro + self.random.normal(0, self.gyro_noise, 3)
        accel = accel + self.random.normal(0, 1, 3) * self.accel_noise
        lsb = DEGREE / 16.384, GRAVITY / 5460
        return np.round(gyro / lsb[0]) * lsb[0], np.round(accel / lsb[1]) * lsb[1]


def zxy(q):
    """Yaw, roll, pitch of a quaternion w x y z in the order Z-X-Y."""
    w, x, y, z = q
    return (math.atan2(2 * (w * z - x * y), 1 - 2 * (x * x + z * z)),
            math.asin(max(-1, min(1, 2 * (w * x + y * z)))),
            math.atan2(2 * (w * y - x * z), 1 - 2 * (x * x + y * y)))


class Daemon:
    """Connection to airframed: a new process with its own directory, or one that is already running."""

    def __init__(self, program, settings, path=None, state=None):
        """program: airframed to start. settings: KEY=VALUE. path: socket of a running airframed, which replaces program. state:
        directory of the saved calibrations, which remains; None: a temporary one."""
        self.process = self.directory = None
        if path:
            self.path = path
        else:
            self.directory = tempfile.mkdtemp(prefix="airframe-mujoco-")
            self.path = f"{self.directory}/sim.sock"
            settings = [
                "hardware.backend=lockstep", f"hardware.lockstep.socket={self.path}",
                f"diagnostics.socket={self.directory}/diag.sock",
                f"persistence.directory={state or self.directory + '/state'}", "hardware.lockstep.timeout=60", *settings]
            self.log = open(f"{self.directory}/log", "w+")
            self.process = subprocess.Popen(
                [program, *(word for s in settings for word in ("--set", s))],
                stderr=self.log)
        self.socket = socket.socket(socket.AF_UNIX)
        deadline = time.monotonic() + 10
        while True:
            try:
                self.socket.connect(self.path)
                break
            except OSError as error:
                ended = self.process and self.process.poll() is not None
                if ended or time.monotonic() > deadline:
                    sys.exit(f"{self.path}: {error}\n{self.said()}")
                time.sleep(0.02)
        self.replies = self.socket.makefile("rb")

    def ask(self, line):
        self.socket.sendall(json.dumps(line).encode() + b"\n")
        reply = self.replies.readline()
        if not reply:
            sys.exit(f"airframed has closed the connection\n{self.said()}")
        reply = json.loads(reply)
        if "error" in reply:
            sys.exit(f"airframed refused a line: {reply['error']}")
        return reply

    def said(self):
        if not self.process:
            return ""
        self.log.seek(0)
        return self.log.read()

    def close(self):
        self.socket.close()
        if self.process:
            self.process.terminate()
            self.process.wait(10)
            self.log.close()
            shutil.rmtree(self.directory)


def above(signal, rate, corner):
    """The part of a signal above a frequency, without phase shift."""
    # The trend is removed: a drifting heading would act as a step from the end to the beginning.
    x = np.arange(len(signal))
    spectrum = np.fft.rfft(signal - np.polyval(np.polyfit(x, signal, 3), x))
    spectrum[np.fft.rfftfreq(len(signal), 1 / rate) < corner] = 0
    return np.fft.irfft(spectrum, len(signal))
