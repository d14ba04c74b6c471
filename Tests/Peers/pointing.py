#!/usr/bin/env python3
"""Compares airframed's stabilisation in MuJoCo with a cascade controller (with VQF) that is tuned for each gimbal.

The properties of a gimbal are random numbers from a seed. Three controllers run on each gimbal, with the same sensor noise and
the same motion of the handle: airframed, configured with the kind of motors, their torque by the data sheet and the loop's rate;
a cascade (attitude P, rate PI) whose gains are tuned on this gimbal with another seed's motion; the same cascade with the true
attitude and rate and without delay.

The scores are figures of the true attitude after SCORED s, in degrees; of roll and pitch, the larger figure:
  hold    RMS from level
  shake   RMS above 1 Hz
  p-p     peak to peak above 1 Hz over the worst 10 s
  noise   RMS of the motors' torque above 50 Hz, the worst joint, mN·m
  est     RMS of the angle between the true and the estimated vertical; est>1: RMS of the tilt error above 1 Hz
"""

import argparse
import ast
import copy
import hashlib
import json
import math
import os
import statistics
import sys
import tempfile
import time
from dataclasses import asdict
from multiprocessing import get_context
from pathlib import Path

import numpy as np

import cascade
import drawn_gimbal
from gimbal_physics import DEGREE, Daemon, above
from hand_calibration import calibrate
from handle_motion import GAIT_TABLES, handle_motion, recorded_seconds

STILL, SCORED, SECONDS = 8.0, 12.0, 28.0
MOTIONS = ("still", "handheld", "walking", "recorded")
# Motions with turns: the camera's heading follows the handle's if the handle's motion can be measured.
TURNING = ("walking", "recorded")
# Tuning run: time of rest, begin of the scored part, length, s.
TUNING_STILL, TUNING_SCORED, TUNING_SECONDS = 0.5, 2.0, 7.0
HERE = Path(__file__).parent


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--airframed", default=".build/release/airframed", metavar="PATH")
    add("--set", action="append", default=[], metavar="KEY=VALUE", help="setting of airframed; can be repeated")
    add("--seeds", default="0:12", metavar="A:B", help="seeds A to B - 1")
    add("--kinds", default=",".join(drawn_gimbal.KINDS), help="kinds of gimbals, separated by commas; default: %(default)s")
    add("--motions", default="still,handheld,recorded", help=f"motions, separated by commas: {','.join(MOTIONS)}")
    add("--data", default="../shared/data/gait", metavar="DIR", help="directory of the recorded walks (.imu)")
    add("--cache", metavar="FILE", help="file that stores the cascade's gains and scores; the next run then simulates only airframed")
    add("--json", metavar="FILE", help="write all scores as JSON")
    add("--jobs", type=int, default=1, help="number of simultaneous runs")
    add("--pulses", action="store_true", help="configure airframed with the frequency of the servos' pulses")
    add("--ideal", action="store_true", help="sensor with filters but without errors, for all controllers; shows the effect of the estimation error")
    add("--calibrate", action="store_true", help="airframed calibrates the gyroscope's matrix first; the cascade knows the true matrix")
    add("--frictionless", action="store_true", help="no friction and no cogging, for all controllers")
    add("--record", metavar="FILE", help="write time, true and estimated tilt, and torques of the last run of airframed as CSV")
    return parser.parse_args()


def recordings(directory):
    return sorted(Path(directory).glob("*.imu"))


def motion_of(motion, seed, steps, dt, still, walks):
    """The handle's motion; a recorded walk is chosen by the seed."""
    return handle_motion(motion, seed, steps, dt, still, recording=walks and walks[seed % len(walks)])


def steps_of(drawn):
    """Physics steps per sample, and the step, s. The rate is 2 kHz, or 4 kHz if friction is stiff compared with the inertia."""
    stiffest = max(j.stiction / j.breakaway for j in drawn.joints) / drawn.inertia[:3].min()
    rate = 2000 if drawn.kind == "servo" or math.sqrt(stiffest) < 500 else 4000
    substeps = math.ceil(rate / drawn.rate)
    return substeps, 1 / drawn.rate / substeps


def play(physics, lines, control):
    """Simulates a controller; returns rows of true roll and pitch, estimated roll and pitch, outputs of three joints, whether
    on."""
    rows = []
    encoders = physics.drawn.kind == "torque"
    for line in range(lines):
        truth = physics.truth()
        gyro, accel = physics.imu.read()
        output, own = control(line, gyro, accel, truth[2] if encoders else None, truth)
        rows.append((*tilt(truth[0]), *tilt(own), *(output or (0, 0, 0)), output is not None))
        physics.advance(output)
    return np.array(rows, dtype=float)


def tilt(q):
    """Roll and pitch of an attitude in the order Z-X-Y, rad."""
    w, x, y, z = q
    return (math.asin(max(-1, min(1, 2 * (w * x + y * z)))), math.atan2(2 * (w * y - x * z), 1 - 2 * (x * x + y * y)))


def rms(x):
    return float(np.sqrt(np.mean(np.square(x))))


def score(rows, drawn, begin):
    """The scores of a run after the time begin, s."""
    rate = drawn.rate
    rows = rows[int(begin * rate):]
    true, own = rows[:, :2] / DEGREE, rows[:, 2:4] / DEGREE
    high = np.array([above(angle, rate, 1) for angle in true.T])
    error = own - true
    window = min(len(rows), 10 * rate)
    result = {
        "hold": max(rms(angle) for angle in true.T), "shake": max(map(rms, high)),
        "p-p": max(np.ptp(angle[i:i + window]) for angle in high for i in range(0, len(rows) - window + 1, rate // 2)),
        "est": rms(np.hypot(*error.T)), "est>1": max(rms(above(angle, rate, 1)) for angle in error.T),
        "noise": 0.0, "on": float(rows[:, 7].mean())}
    if drawn.kind != "servo":
        result["noise"] = max(rms(above(torque * joint.constant, rate, 50)) * 1e3
                              for torque, joint in zip(rows[:, 4:7].T, drawn.joints))
    return {key: float(value) for key, value in result.items()}


class Case:
    """One gimbal with one motion of the handle."""

    def __init__(self, args, seed, kind, motion):
        self.args, self.motion = args, motion
        self.drawn = drawn_gimbal.draw(seed, kind)
        self.substeps, self.dt = steps_of(self.drawn)
        self.walks = recordings(args.data) if motion == "recorded" else None
        seconds = SECONDS
        if self.walks:
            seconds = min(seconds, STILL + recorded_seconds(self.walks[seed % len(self.walks)]))
        self.lines = int(seconds * self.drawn.rate)
        self.follows = motion in TURNING and kind != "no-encoders"
        self.key = f"{kind}/{seed}/{motion}" + "/ideal" * args.ideal + "/frictionless" * args.frictionless
        self.key += "/calibrated" * args.calibrate

    def physics(self, lines, seed, still, transport=True):
        motion = motion_of(self.motion, seed, lines * self.substeps, self.dt, still, self.walks)
        return drawn_gimbal.Physics(self.drawn, motion, self.dt, self.substeps, seed, transport,
                                    self.args.ideal, self.args.frictionless)

    def cascade(self, physics, gains, bias, perfect=False):
        matrix = np.linalg.inv(physics.imu.gyro_matrix) if self.args.calibrate and not self.args.ideal else np.eye(3)
        controller = cascade.Cascade(self.drawn, gains, physics.lead, physics.imu.lag, perfect, self.follows, matrix @ bias)
        return lambda line, gyro, *what: controller.step(matrix @ gyro, *what)

    def peers(self):
        """Gains and scores of the tuned cascade, and scores of the cascade with the true attitude."""
        drawn, is_servo = self.drawn, self.drawn.kind == "servo"
        # Oscillations of servos grow slowly, so their tuning run is longer.
        lines = int(TUNING_SECONDS * (2 if is_servo else 1) * drawn.rate)
        other = drawn.seed + 1001
        motion = motion_of(self.motion, other, lines * self.substeps, self.dt, TUNING_STILL, self.walks)

        def practice():
            return drawn_gimbal.Physics(drawn, motion, self.dt, self.substeps, other, True,
                                        self.args.ideal, self.args.frictionless)

        bias = cascade.learnt_bias(practice().imu, drawn.rate)

        def cost(gains):
            physics = practice()
            found = score(play(physics, lines, self.cascade(physics, gains, bias)), drawn, TUNING_SCORED)
            # Torque noise above a twentieth of the torque limit is unacceptable hum.
            hum = max(0, found["noise"] * 1e-3 / drawn.torque_limit - 0.05)
            return found["hold"] + found["shake"] + 10 * hum

        physics = self.physics(self.lines, drawn.seed, STILL)
        held = 0.5 / drawn.rate
        wait = (drawn.servo.delay if is_servo else physics.lead) + held
        gains = cascade.tuned(cost, is_servo, physics.lead, wait, drawn.rate)
        if is_servo:
            gains = self.proven(gains, wait)
        bias = cascade.learnt_bias(physics.imu, drawn.rate)
        rows = play(physics, self.lines, self.cascade(physics, gains, bias))
        result = {"gains": asdict(gains), "cascade": score(rows, drawn, SCORED)}
        physics = self.physics(self.lines, drawn.seed, STILL, transport=False)
        wait = (drawn.servo.lag + 0.5 / drawn.servo.frame_rate if is_servo else physics.lag) + held
        gains = cascade.first_gains(is_servo, 0, wait, 1e4)
        rows = play(physics, self.lines, self.cascade(physics, gains, bias, perfect=True))
        return result | {"perfect": score(rows, drawn, SCORED)}

    def proven(self, tuned, wait):
        """The best of these gains, lower gains and rules of thumb, in a third motion as long as the scored one. A loop with
        servos can begin to oscillate late, because the margins do not include the servos' pulses and dead band."""
        def cost(gains):
            physics = self.physics(self.lines, self.drawn.seed + 2002, STILL)
            bias = cascade.learnt_bias(physics.imu, self.drawn.rate)
            found = score(play(physics, self.lines, self.cascade(physics, gains, bias)), self.drawn, SCORED)
            return found["hold"] + found["shake"]

        rules = [cascade.first_gains(True, 0, wait, corner) for corner in (8, 12, 18)]
        return min((cascade.Gains(gains.attitude * 0.75**k, gains.rate * 0.95**k, gains.integral * 0.5**k,
                                  gains.corner * 0.9**k, 0)
                    for gains, slower in [(tuned, range(5)), *((rule, range(0, 4, 2)) for rule in rules)]
                    for k in slower), key=cost)

    def daemon(self, physics, state=None):
        """airframed, configured with properties that an owner can know; state: directory of the saved calibrations."""
        drawn = self.drawn
        is_servo = drawn.kind == "servo"
        limits = ", ".join([f"{drawn.torque_limit:.3f}"] * 3)
        return Daemon(self.args.airframed, [
            f"motors.type={'servo' if is_servo else 'torque'}", f"loop.rate_hz={drawn.rate}",
            f"motors.torque_limit_nm=[{limits}]", f"imu.filter_delay_ms={physics.imu.lag * 1e3:.3f}",
            *([f"servo.frame_hz={drawn.servo.frame_rate:.1f}"] if is_servo and self.args.pulses else []),
            *(["mode.boot=pan_follow"] if self.follows else []), *self.args.set], state=state)

    def airframed(self):
        """Runs airframed; returns its scores."""
        drawn = self.drawn
        physics = self.physics(self.lines, drawn.seed, STILL)
        with tempfile.TemporaryDirectory(prefix="airframe-state-") as state:
            if self.args.calibrate:
                daemon = self.daemon(physics, state)
                calibrate(daemon, copy.deepcopy(physics.imu), drawn.rate, self.substeps, drawn.kind == "torque")
                daemon.close()
            return self.stabilised(physics, self.daemon(physics, state))

    def stabilised(self, physics, daemon):
        """Runs airframed with the gimbal; returns its scores."""
        drawn = self.drawn
        what = "angle" if drawn.kind == "servo" else "torque"

        def control(line, gyro, accel, joints, truth):
            ask = {"t": line / drawn.rate, "gyro": gyro.tolist(), "accel": accel.tolist()}
            if joints:
                ask["joints"] = joints
            reply = daemon.ask(ask)
            return reply[what] if reply["enabled"] else None, reply["attitude"]

        rows = play(physics, self.lines, control)
        daemon.close()
        if self.args.record:
            np.savetxt(self.args.record, np.column_stack([np.arange(len(rows)) / drawn.rate, rows]), delimiter=",",
                       header="t,roll,pitch,own_roll,own_pitch,yaw_out,roll_out,pitch_out,on", comments="")
        return score(rows, drawn, SCORED)


def fingerprint():
    """Hash of the inputs of the cascade's scores: code without comments, and the tables of people's gait."""
    digest = hashlib.sha1(GAIT_TABLES.read_bytes())
    for name in ("gimbal_physics.py", "handle_motion.py", "drawn_gimbal.py", "cascade.py"):
        tree = ast.parse((HERE / name).read_text())
        for node in ast.walk(tree):
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node) is not None:
                node.body.pop(0)
        digest.update(ast.dump(tree).encode())
    return digest.hexdigest()[:12]


def run(work):
    """Runs one case. Returns its key, its gimbal, and all scores; peers with cached scores are not run again."""
    args, seed, kind, motion, peers = work
    case = Case(args, seed, kind, motion)
    began = time.monotonic()
    result = {"airframed": case.airframed()}
    middle = time.monotonic()
    result |= peers or case.peers()
    return case.key, case.drawn.summary, result, middle - began, time.monotonic() - middle


def ratio(result, figure):
    return result["airframed"][figure] / result["cascade"][figure]


HEAD = (f"{'':26}{'hold':>8}{'casc.':>8}{'ceil.':>8}{'x':>6} {'shake':>8}{'casc.':>8}{'ceil.':>8}{'x':>6}"
        f" {'p-p':>7}{'casc.':>7} {'noise':>6}{'casc.':>6} {'est':>7}{'est>1':>7}{'casc.':>7}{'>1':>7}")


def show(key, summary, result):
    own, other, best = (result[name] for name in ("airframed", "cascade", "perfect"))
    text = f"{key:26}"
    for figure in ("hold", "shake"):
        text += (f"{own[figure]:8.4f}{other[figure]:8.4f}{best[figure]:8.4f}{ratio(result, figure):6.2f} ")
    text += f"{own['p-p']:7.3f}{other['p-p']:7.3f} {own['noise']:6.1f}{other['noise']:6.1f} "
    text += f"{own['est']:7.4f}{own['est>1']:7.4f}{other['est']:7.4f}{other['est>1']:7.4f}  {summary}"
    print(text + (f"  OFF {100 - 100 * own['on']:.0f} %" if own["on"] < 1 else ""), flush=True)


def summarize(results, kinds, motions):
    """Prints counts and medians of the ratios, for each kind and motion and in total."""
    print(f"\n{'airframed / cascade':26}{'':8}{'runs':>6}{'median':>8}{'least':>8}{'most':>8}{'better':>8}{'worse':>7}"
          f"{'<= 0.5':>8}   medians: airframed, cascade, ceiling")
    groups = [(f"{kind}, {motion}", f"{kind}/", f"/{motion}") for kind in kinds for motion in motions]
    for name, kind, motion in [*groups, ("all", "", "")]:
        chosen = [r for key, r in results.items() if key.startswith(kind) and motion in key]
        for figure in ("hold", "shake"):
            if chosen:
                ratios = [ratio(result, figure) for result in chosen]
                medians = [statistics.median(r[who][figure] for r in chosen) for who in ("airframed", "cascade", "perfect")]
                print(f"{name if figure == 'hold' else '':26}{figure:8}{len(ratios):6}{statistics.median(ratios):8.2f}"
                      f"{min(ratios):8.2f}{max(ratios):8.2f}{sum(r < 1 for r in ratios):8}{sum(r >= 1 for r in ratios):7}"
                      f"{sum(r <= 0.5 for r in ratios):8}   " + " ".join(f"{m:.4f}" for m in medians))


def main():
    args = options()
    if not os.access(args.airframed, os.X_OK):
        sys.exit(f"{args.airframed} does not exist; run `make build`, or give the path with --airframed")
    kinds, motions = args.kinds.split(","), args.motions.split(",")
    if unknown := set(kinds) - set(drawn_gimbal.KINDS) | set(motions) - set(MOTIONS):
        sys.exit(f"unknown: {', '.join(unknown)}")
    if "recorded" in motions and not recordings(args.data):
        print(f"not measured: recorded walks, because {args.data} (GAIT_DATA) contains no .imu file")
        motions.remove("recorded")
    seeds = range(*map(int, args.seeds.split(":")))
    mark, cache = fingerprint(), {}
    if args.cache and Path(args.cache).exists():
        kept = json.loads(Path(args.cache).read_text())
        cache = kept["peers"] if kept["of"] == mark else {}
    work = []
    for seed in seeds:
        for kind in kinds:
            for motion in motions:
                work.append((args, seed, kind, motion, cache.get(Case(args, seed, kind, motion).key)))
    print("degrees, mN·m; casc.: cascade; ceil.: ideal cascade with the true attitude and rate, without delay; x: airframed / cascade\n" + HEAD)
    results, times = {}, np.zeros(2)
    with get_context("fork").Pool(args.jobs) as pool:
        for key, summary, result, *spent in pool.imap(run, work):
            results[key] = result
            times += spent
            show(key, summary, result)
            if args.cache:
                cache[key] = {name: result[name] for name in ("gains", "cascade", "perfect")}
                Path(args.cache).write_text(json.dumps({"of": mark, "peers": cache}))
    summarize(results, kinds, motions)
    print(f"\n{len(results)} runs; time per run, s: airframed {times[0] / len(results):.1f}, its peers {times[1] / len(results):.1f}")
    if args.json:
        Path(args.json).write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
