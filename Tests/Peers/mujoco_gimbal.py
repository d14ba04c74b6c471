#!/usr/bin/env python3
"""A camera gimbal in MuJoCo that airframed drives in lockstep, and how steady the camera is.

Physics: a camera on three hinge joints (yaw, roll, pitch from the handle outwards) on a handle whose motion is
prescribed. World and body frames are north-east-down and forward-right-down, so that gravity is +9.81 along z and no
frame needs converting. Friction is LuGre's law, as in Sources/Simulation/JointFriction.swift, with MuJoCo doing the rest:
three-body dynamics, imbalance, handle acceleration, sensors.

Printed, for each axis, over the scored part of the run (after the motion has begun), in degrees:
  shake    RMS of the true camera angle above 1 Hz: what a viewer sees
  jitter   RMS of the true camera angle less its 10 s mean
  horizon  largest of those means; for yaw, how far the heading wandered
  hold     RMS of airframed's own attitude against its set-point
"""

import argparse
import json
import math
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time

import mujoco
import numpy as np

GRAVITY = 9.81
AXES = ("yaw", "roll", "pitch")
DEGREE = math.pi / 180
# The project's default plant: kg·m², N·m, N·m·s/rad, N·m/rad, kg.
INERTIA, COULOMB, STICTION, VISCOUS, CABLE, MASS = 2.5e-3, 10e-3, 15e-3, 1e-3, 5e-3, 0.5
# Prescribed joints of the handle: heavy enough that the camera does not move it.
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
        <joint name="yaw" axis="0 0 1" stiffness="{cable}"/>
        <inertial pos="0 0 0" mass="1e-3" diaginertia="1e-6 1e-6 1e-6"/>
        <body name="roll_arm">
          <joint name="roll" axis="1 0 0" stiffness="{cable}"/>
          <inertial pos="0 0 0" mass="1e-3" diaginertia="1e-6 1e-6 1e-6"/>
          <body name="camera">
            <joint name="pitch" axis="0 1 0" stiffness="{cable}"/>
            <inertial pos="{offset} {offset} {offset}" mass="{mass}" diaginertia="{inertia} {inertia} {inertia}"/>
            <site name="camera"/>
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


def options():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--airframed", default=".build/release/airframed", help="started for this run")
    add("--socket", help="connect to an airframed that runs already, instead")
    add("--set", action="append", default=[], metavar="KEY=VALUE", help="for airframed")
    add("--seconds", type=float, default=40, help="simulated time")
    add("--still", type=float, default=4, help="seconds before the motion begins")
    add("--score-from", type=float, default=10, help="scored from here, s")
    add("--rate", type=int, default=1000, help="lines per simulated second")
    add("--substeps", type=int, default=4, help="physics steps per line")
    add("--motion", choices=("still", "handheld", "walking", "running"), default="walking")
    add("--motion-scale", type=float, default=1)
    add("--inertia", type=float, default=1, metavar="FACTOR", help="of 2.5e-3 kg·m²")
    add("--friction", type=float, default=1, metavar="FACTOR", help="of 10/15 mN·m")
    add("--imbalance-mm", type=float, default=5e-3 / GRAVITY / MASS * 1e3,
        help="centre of mass off each axis of 0.5 kg; the default is 5 mN·m")
    add("--delay-ms", type=float, default=3, help="from the sample to the torque")
    add("--imu", choices=("bmi088", "ideal"), default="bmi088")
    add("--no-encoders", action="store_true", help="no joint angles on the line")
    add("--joint-rates", action="store_true", help="joint rates on the line")
    add("--handle-imu", action="store_true", help="the handle's rate on the line")
    add("--motors", choices=("torque", "servo", "field"), default="torque")
    add("--pole-pairs", type=int, default=7, help="of field motors")
    add("--push-mnm", type=float, default=0, help="moment on all three axes for 1 s in every 5")
    add("--seed", type=int, default=1)
    add("--json", action="store_true", help="the scores as one line of JSON")
    add("--record", metavar="FILE", help="t, true and estimated angles, joints, torques as CSV")
    return parser.parse_args()


def waves(random, frequencies, weights, rms, detune):
    """Sines with these weights and this RMS in all: amplitude, angular rate, phase."""
    scale = rms / math.sqrt(sum(w * w / 2 for w in weights))
    return [(w * scale, 2 * math.pi * f * (1 + detune * random.uniform(-1, 1)),
             random.uniform(0, 2 * math.pi)) for f, w in zip(frequencies, weights)]


def handle_motion(args, times):
    """Positions, rates and accelerations of the handle's six joints at these times."""
    random = np.random.default_rng([args.seed, 0xBA5E])
    none = [([], [])] * 6
    if args.motion == "handheld":
        # Standing: physiological tremor has a hump at 8...12 Hz.
        f = [0.5, 0.83, 1.3, 2.1, 3.4, 5.3, 8.7, 12.0]
        shape, tilt, push = [1, .8, .55, .3, .15, .08, .06, .04], 0.6 * DEGREE, 0.2
        channels = [(f, shape, push)] * 3 + [(f, shape, tilt)] * 3
        detune = 0.05
    elif args.motion in ("walking", "running"):
        # The step and its harmonics; half its frequency is the stride from left to right.
        step, tilt, force = (2.0, 3 * DEGREE, 1.5) if args.motion == "walking" else (2.8, 5 * DEGREE, 6.0)
        f = [step / 2, step, 2 * step, 3 * step]
        channels = [
            (f, [.2, 1, .4, .2], 0.4 * force), (f, [1, .3, .2, .1], 0.333 * force),
            (f, [.1, 1, .5, .3], 0.854 * force), (f, [1, .6, .15, .05], tilt),
            (f, [.7, 1, .25, .1], tilt), (f, [.2, 1, .3, .12], tilt)]
        detune = 0
    else:
        channels, detune = [], 0
    q = np.zeros((len(times) + 1, 6))
    instants = np.append(times, 2 * times[-1] - times[-2])
    for axis, (f, shape, rms) in enumerate(channels):
        for amplitude, rate, phase in waves(random, f, shape, rms * args.motion_scale, detune):
            # What is given for the first three is an acceleration; as a sine its position is it over rate².
            size = amplitude / rate**2 if axis < 3 else amplitude
            q[:, axis] += size * np.sin(rate * instants + phase)
    # Grown from rest over two seconds by a smooth gain.
    x = np.clip((instants - args.still) / 2, 0, 1)
    q *= (10 * x**3 - 15 * x**4 + 6 * x**5)[:, None]
    # Rates and accelerations with which MuJoCo's integrator (v += a dt, then q += v dt) passes through these positions. With
    # those of the continuous motion the handle would slip by a dt² / 2 in every step, unseen by any gyroscope: at 2 kHz
    # the walking camera would seem to shake by 0.01°.
    dt = times[1] - times[0]
    v = np.diff(q, axis=0, prepend=q[:1]) / dt
    return q[:-1], v[:-1], np.diff(v, axis=0) / dt


class Friction:
    """LuGre with the bristles integrated exactly over a step (Canudas de Wit et al., IEEE TAC 40, 1995)."""

    def __init__(self, args, inertia, dt):
        self.coulomb, self.stiction = COULOMB * args.friction, STICTION * args.friction
        self.viscous, self.dt, self.z = VISCOUS, dt, 0.0
        self.stiffness = self.stiction / 0.9e-3
        self.damping = 2 * 0.3 * math.sqrt(self.stiffness * inertia)

    def torque(self, rate):
        if self.stiction <= 0:
            return -self.viscous * rate
        fade = math.exp(-(rate / 0.05) ** 2)
        level = self.coulomb + (self.stiction - self.coulomb) * fade
        before = self.z
        if abs(rate) > 1e-12:
            steady = math.copysign(level / self.stiffness, rate)
            self.z = steady + (self.z - steady) * math.exp(
                -abs(rate) * self.stiffness / level * self.dt)
        return -(self.stiffness * self.z + self.damping * fade * (self.z - before) / self.dt
                 + self.viscous * rate)


class IMU:
    """What a BMI088 says: the figures of Sources/Simulation/IMUModel.swift (data sheet BST-BMI088-DS001)."""

    def __init__(self, args, dt, stream):
        self.random = np.random.default_rng([args.seed, stream])
        r = self.random
        self.ideal = args.imu == "ideal"
        noise = math.sqrt(args.rate / 2)
        self.gyro_noise = 0.014 * DEGREE * noise
        self.accel_noise = np.array([160e-6, 160e-6, 190e-6]) * GRAVITY * noise
        self.gyro_bias = r.normal(0, 0.5 * DEGREE, 3)
        self.accel_bias = r.normal(0, 10e-3 * GRAVITY, 3)
        self.gyro_matrix = np.eye(3) + r.normal(0, 0.005, (3, 3))
        self.accel_matrix = np.eye(3) + r.normal(0, 0.0025, (3, 3))
        self.gyro_share = 1 - math.exp(-2 * math.pi * 230 * dt)
        self.accel_share = 1 - math.exp(-2 * math.pi * 145 * dt)
        self.gyro = self.accel = None

    def see(self, gyro, accel):
        """Every physics step: the sensor's own low-pass."""
        if self.gyro is None or self.ideal:
            self.gyro, self.accel = gyro.copy(), accel.copy()
        self.gyro += self.gyro_share * (gyro - self.gyro)
        self.accel += self.accel_share * (accel - self.accel)

    def read(self):
        if self.ideal:
            return self.gyro, self.accel
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
    """airframed with a directory of its own, or one that runs already."""

    def __init__(self, args):
        self.process = self.directory = None
        if args.socket:
            self.path = args.socket
        else:
            self.directory = tempfile.mkdtemp(prefix="airframe-mujoco-")
            self.path = f"{self.directory}/sim.sock"
            settings = [
                "hardware.backend=lockstep", f"hardware.lockstep.socket={self.path}",
                f"diagnostics.socket={self.directory}/diag.sock",
                f"persistence.directory={self.directory}/state", f"motors.type={args.motors}",
                "hardware.lockstep.timeout=60", *args.set]
            self.log = open(f"{self.directory}/log", "w+")
            self.process = subprocess.Popen(
                [args.airframed, *(word for s in settings for word in ("--set", s))],
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


class Gimbal:
    """The physics and its sensors."""

    def __init__(self, args):
        self.args = args
        self.dt = 1 / args.rate / args.substeps
        inertia = INERTIA * args.inertia
        self.model = mujoco.MjModel.from_xml_string(MODEL.format(
            step=self.dt, heavy=HANDLE_ARMATURE, cable=CABLE, offset=args.imbalance_mm * 1e-3,
            mass=MASS * args.inertia, inertia=inertia))
        self.data = mujoco.MjData(self.model)
        steps = int(round(args.seconds * args.rate)) * args.substeps
        self.motion = handle_motion(args, np.arange(steps + 1) * self.dt)
        self.friction = [Friction(args, inertia, self.dt) for _ in AXES]
        self.imu, self.handle_imu = IMU(args, self.dt, 1), IMU(args, self.dt, 2)
        self.camera = self.model.body("camera").id
        self.step = 0
        self.place()
        mujoco.mj_forward(self.model, self.data)
        self.look()

    def place(self):
        """The handle where its motion is now."""
        q, v, a = (part[self.step] for part in self.motion)
        self.data.qpos[:6], self.data.qvel[:6] = q, v
        self.data.qfrc_applied[:6] = HANDLE_ARMATURE * a

    def look(self):
        sensors = self.data.sensordata
        self.imu.see(sensors[0:3], sensors[3:6])
        self.handle_imu.see(sensors[6:9], sensors[3:6])

    def line(self, t):
        gyro, accel = self.imu.read()
        line = {"t": t, "gyro": gyro.tolist(), "accel": accel.tolist()}
        if not self.args.no_encoders:
            line["joints"] = self.joints
        if self.args.joint_rates:
            line["joint_rates"] = self.data.qvel[6:].tolist()
        if self.args.handle_imu:
            line["base_gyro"] = self.handle_imu.read()[0].tolist()
        return line

    @property
    def joints(self):
        return self.data.qpos[6:].tolist()

    def motor_torque(self, reply, axis):
        if not reply["enabled"]:
            return 0.0
        q, v = self.data.qpos[6 + axis], self.data.qvel[6 + axis]
        if self.args.motors == "torque":
            return max(-0.25, min(0.25, reply["torque"][axis]))
        if self.args.motors == "servo":
            # Stiff and well damped; its own friction is in the joint.
            return max(-1.0, min(1.0, 30 * (reply["angle"][axis] - q) - 0.5 * v))
        # Open-loop brushless: the rotor is pulled to the field, and its windings brake it.
        pull = 0.25 * reply["power"][axis]
        return pull * math.sin(reply["field"][axis] - self.args.pole_pairs * q) - 2e-3 * v

    def advance(self, reply, pushes):
        """One line's worth of physics under this reply."""
        data = self.data
        self.data.xfrc_applied[self.camera, 3:] = self.args.push_mnm * 1e-3 if pushes else 0
        for _ in range(self.args.substeps):
            self.place()
            for axis in range(3):
                data.qfrc_applied[6 + axis] = (
                    self.motor_torque(reply, axis)
                    + self.friction[axis].torque(data.qvel[6 + axis]))
            mujoco.mj_step(self.model, data)
            self.look()
            self.step += 1


def run(args):
    """Lets the gimbal and airframed live through the run; rows of t, true, estimated, joints, torque, enabled."""
    daemon, gimbal = Daemon(args), Gimbal(args)
    delay = int(round(args.delay_ms * 1e-3 * args.rate))
    pending, rows = [], []
    began = time.monotonic()
    for tick in range(int(round(args.seconds * args.rate))):
        t = tick / args.rate
        true = zxy(gimbal.data.xquat[gimbal.camera])
        pending.append(daemon.ask(gimbal.line(t)))
        rows.append((t, *true, *zxy(pending[-1]["attitude"]), *gimbal.joints,
                     *pending[-1]["torque"], pending[-1]["enabled"]))
        reply = pending.pop(0) if len(pending) > delay else {"enabled": False}
        gimbal.advance(reply, args.push_mnm and t % 5 >= 4)
    elapsed = time.monotonic() - began
    daemon.close()
    return np.array(rows, dtype=float), elapsed


def above(signal, rate, corner):
    """The part of a signal above a frequency, without phase."""
    # A heading that drifts must not look like a step from the end to the beginning.
    x = np.arange(len(signal))
    spectrum = np.fft.rfft(signal - np.polyval(np.polyfit(x, signal, 3), x))
    spectrum[np.fft.rfftfreq(len(signal), 1 / rate) < corner] = 0
    return np.fft.irfft(spectrum, len(signal))


def score(args, rows):
    scored = rows[rows[:, 0] >= args.score_from]
    enabled = scored[:, 13].mean() if len(scored) else 0
    result = {"enabled": enabled}
    if not len(scored):
        return result
    length = min(len(scored), 10 * args.rate)
    pieces = [scored[i:i + length] for i in range(0, len(scored) - length + 1, length)]
    rms = lambda x: float(np.sqrt(np.mean(np.square(x))))
    for axis, name in enumerate(AXES):
        true = [np.unwrap(piece[:, 1 + axis]) / DEGREE for piece in pieces]
        own = np.unwrap(scored[:, 4 + axis]) / DEGREE
        means = [piece.mean() for piece in true]
        result[name] = {
            "shake": rms([rms(above(piece, args.rate, 1)) for piece in true]),
            "jitter": rms([rms(piece - piece.mean()) for piece in true]),
            "horizon": max(means, key=abs) if axis else means[-1] - means[0],
            # Locked: the set-point stands still; roll and pitch are level.
            "hold": rms(own - own.mean() if axis == 0 else own)}
    return result


def main():
    args = options()
    if not args.socket and not os.access(args.airframed, os.X_OK):
        sys.exit(f"{args.airframed} is not there: make build, or name it with --airframed")
    rows, elapsed = run(args)
    result = score(args, rows)
    result["speed"] = args.seconds / elapsed
    if args.record:
        names = ["t"] + [f"{kind}_{axis}" for kind in ("true", "own", "joint", "torque") for axis in AXES]
        np.savetxt(args.record, rows, delimiter=",", header=",".join(names + ["enabled"]), comments="")
    if args.json:
        print(json.dumps(result))
        return
    print(f"{args.motion}, inertia x{args.inertia:g}, friction x{args.friction:g}, "
          f"{args.imbalance_mm:.2f} mm off balance, {args.motors} motors, {args.imu}, "
          f"{'no ' if args.no_encoders else ''}encoders, seed {args.seed}")
    print(f"{'degrees':8}{'shake':>10}{'jitter':>10}{'horizon':>10}{'hold':>10}")
    for name in AXES:
        values = result.get(name, {})
        print(f"{name:8}" + "".join(
            f"{values.get(key, math.nan):10.4f}" for key in ("shake", "jitter", "horizon", "hold")))
    print(f"motors on {100 * result['enabled']:.0f} % of the scored time; "
          f"{result['speed']:.1f} x real time, physics included")


if __name__ == "__main__":
    main()
