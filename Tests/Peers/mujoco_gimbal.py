#!/usr/bin/env python3
"""Simulates a camera gimbal in MuJoCo in lockstep with airframed, and measures how steady the camera is.

Physics: a camera on three hinge joints (yaw, roll, pitch from the handle outwards) on a handle whose motion is
prescribed. World and body frames are north-east-down and forward-right-down, so gravity is +9.81 along z, and no
frame conversions are necessary. Friction is LuGre's law, as in Sources/Simulation/JointFriction.swift. MuJoCo simulates
three-body dynamics, imbalance, handle acceleration and sensors.

The program prints these figures for each axis, over the scored part of the run (after the motion has begun), in degrees:
  shake    RMS of the true camera angle above 1 Hz: visible shake
  jitter   RMS of the true camera angle minus its 10 s mean
  horizon  largest of those means; for yaw, the drift of the heading
  hold     RMS of airframed's estimated attitude minus its set-point
"""

import argparse
import json
import math
import os
import sys
import time

import mujoco
import numpy as np

from gimbal_physics import (
    AXES, DEGREE, GRAVITY, HANDLE_ARMATURE, IMU, Daemon, LuGre, above, model_text, zxy)
from handle_motion import handle_motion

# The default simulated gimbal, in kg·m², N·m, N·m·s/rad, N·m/rad and kg.
INERTIA, COULOMB, STICTION, VISCOUS, CABLE, MASS = 2.5e-3, 10e-3, 15e-3, 1e-3, 5e-3, 0.5


def options():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--airframed", default=".build/release/airframed", help="program to start for this run")
    add("--socket", help="connect to an airframed that is already running, instead of starting one")
    add("--set", action="append", default=[], metavar="KEY=VALUE", help="setting of airframed; can be repeated")
    add("--seconds", type=float, default=40, help="simulated time, s")
    add("--still", type=float, default=4, help="time before the motion begins, s")
    add("--score-from", type=float, default=10, help="time at which scoring begins, s")
    add("--rate", type=int, default=1000, help="messages per simulated second")
    add("--substeps", type=int, default=4, help="physics steps per message")
    add("--motion", choices=("still", "handheld", "walking", "running"), default="walking")
    add("--motion-scale", type=float, default=1)
    add("--inertia", type=float, default=1, metavar="FACTOR", help="inertia as a multiple of 2.5e-3 kg·m²")
    add("--friction", type=float, default=1, metavar="FACTOR", help="friction as a multiple of 10/15 mN·m")
    add("--imbalance-mm", type=float, default=5e-3 / GRAVITY / MASS * 1e3,
        help="distance of the centre of mass of 0.5 kg from each axis, mm; the default causes 5 mN·m")
    add("--delay-ms", type=float, default=3, help="delay from the sample to the torque, ms")
    add("--imu", choices=("bmi088", "ideal"), default="bmi088")
    add("--no-encoders", action="store_true", help="send no joint angles")
    add("--joint-rates", action="store_true", help="also send joint rates")
    add("--handle-imu", action="store_true", help="also send the handle's rate")
    add("--motors", choices=("torque", "servo", "field"), default="torque")
    add("--pole-pairs", type=int, default=7, help="pole pairs of motors without encoders")
    add("--push-mnm", type=float, default=0, help="disturbing torque on all three axes for 1 s in every 5 s, mN·m")
    add("--seed", type=int, default=1)
    add("--json", action="store_true", help="print the scores as one line of JSON")
    add("--record", metavar="FILE", help="write time, true and estimated angles, joint angles and torques as CSV")
    return parser.parse_args()


class Gimbal:
    """The simulated gimbal and its sensors."""

    def __init__(self, args):
        self.args = args
        self.dt = 1 / args.rate / args.substeps
        inertia = INERTIA * args.inertia
        self.model = mujoco.MjModel.from_xml_string(model_text(
            step=self.dt, joints=[{"stiffness": CABLE}] * 3, mass=MASS * args.inertia,
            offset=[args.imbalance_mm * 1e-3] * 3, inertia=[inertia] * 3 + [0] * 3))
        self.data = mujoco.MjData(self.model)
        steps = int(round(args.seconds * args.rate)) * args.substeps
        self.motion = handle_motion(
            args.motion, args.seed, steps, self.dt, args.still, args.motion_scale)
        self.friction = [LuGre(COULOMB * args.friction, STICTION * args.friction, VISCOUS, inertia, self.dt)
                         for _ in AXES]
        ideal = args.imu == "ideal"
        self.imu, self.handle_imu = (
            IMU([args.seed, stream], args.rate, self.dt, ideal, corners=None if ideal else (230, 145))
            for stream in (1, 2))
        self.camera = self.model.body("camera").id
        self.step = 0
        self.place()
        mujoco.mj_forward(self.model, self.data)
        self.look()

    def place(self):
        """Sets the handle to its position and rate at this step."""
        q, v, a = (part[self.step] for part in self.motion)
        self.data.qpos[:6], self.data.qvel[:6] = q, v
        self.data.qfrc_applied[:6] = HANDLE_ARMATURE * a

    def look(self):
        sensors = self.data.sensordata.tolist()
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
            # The servo is stiff and well damped; the joint includes its friction.
            return max(-1.0, min(1.0, 30 * (reply["angle"][axis] - q) - 0.5 * v))
        # Open-loop brushless motor: the field pulls the rotor, and the windings damp it.
        pull = 0.25 * reply["power"][axis]
        return pull * math.sin(reply["field"][axis] - self.args.pole_pairs * q) - 2e-3 * v

    def advance(self, reply, pushes):
        """Simulates one sample interval with the outputs of this reply."""
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
    """Simulates the run; returns rows of time, true and estimated angles, joints, torque, enabled."""
    daemon = Daemon(args.airframed, [f"motors.type={args.motors}", *args.set], args.socket)
    gimbal = Gimbal(args)
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
            # In mode locked, the set-point is constant; roll and pitch are level.
            "hold": rms(own - own.mean() if axis == 0 else own)}
    return result


def main():
    args = options()
    if not args.socket and not os.access(args.airframed, os.X_OK):
        sys.exit(f"{args.airframed} does not exist; run `make build`, or give the path with --airframed")
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
          f"{args.imbalance_mm:.2f} mm imbalance, {args.motors} motors, {args.imu}, "
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
