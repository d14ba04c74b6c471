#!/usr/bin/env python3
"""False alarms of airframed on healthy gimbals simulated in MuJoCo.

airframed should report no fault, and should not switch the outputs off once they are on. Gimbals, sensors and motions are those
of pointing.py. The program prints a line for each run in which the outputs went off or the log contains a fault: times at which
the outputs went on and off, s; faults in the log; largest tilt after 12 s, degrees.
"""

import argparse
import math
import os
import re
import sys
from multiprocessing import get_context

import drawn_gimbal
import pointing
from gimbal_physics import DEGREE

# Conditions that are faults.
FAULTS = ("response_reversed", "gyro_contradicted", "imu_missing", "imu_stale", "imu_frozen", "imu_implausible", "imu_time_fault",
          "gravity_mismatch", "control_fault", "motor_stalled", "oscillation", "inertia_not_found", "tuning_stale")


def run(work):
    """Runs one case. Returns its key, its gimbal, the times at which the outputs went on and off, faults with their times, and
    peak tilt."""
    args, seed, kind, motion = work
    case = pointing.Case(args, seed, kind, motion)
    drawn = case.drawn
    physics = case.physics(case.lines, drawn.seed, pointing.STILL)
    daemon = case.daemon(physics)
    # The log is read while airframed writes it.
    log = open(daemon.log.name)
    what = "angle" if kind == "servo" else "torque"
    switches, names, enabled, peak = [], [], False, 0.0
    pattern = re.compile("|".join(FAULTS))
    for line in range(case.lines):
        truth = physics.truth()
        gyro, accel = physics.imu.read()
        ask = {"t": line / drawn.rate, "gyro": gyro.tolist(), "accel": accel.tolist()}
        if kind == "torque":
            ask["joints"] = truth[2]
        reply = daemon.ask(ask)
        if reply["enabled"] != enabled:
            enabled = reply["enabled"]
            switches.append((line / drawn.rate, enabled))
        if line % (drawn.rate // 20) == 0 or line == case.lines - 1:
            for text in log.read().splitlines():
                if found := pattern.search(text):
                    names.append((line / drawn.rate, found.group() + ("-" if "ended" in text or "cleared" in text else ""), text))
        if line > pointing.SCORED * drawn.rate:
            roll, pitch = pointing.tilt(truth[0])
            peak = max(peak, abs(roll), abs(pitch))
        physics.advance(reply[what] if enabled else None)
    daemon.close()
    return case.key, drawn.summary, switches, names, peak / DEGREE


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--airframed", default=".build/release/airframed", metavar="PATH")
    add("--set", action="append", default=[], metavar="KEY=VALUE", help="setting of airframed; can be repeated")
    add("--seeds", default="0:24", metavar="A:B[:STEP]", help="seeds A to B - 1")
    add("--kinds", default=",".join(drawn_gimbal.KINDS), help="kinds of gimbals, separated by commas; default: %(default)s")
    add("--motions", default=",".join(pointing.MOTIONS), help="motions, separated by commas; default: %(default)s")
    add("--data", default="../shared/data/gait", metavar="DIR", help="directory of the recorded walks (.imu)")
    add("--pulses", action="store_true", help="configure airframed with the frequency of the servos' pulses")
    add("--jobs", type=int, default=1, help="number of simultaneous runs")
    add("--log", action="store_true", help="also print the log")
    args = parser.parse_args()
    args.ideal = args.frictionless = False
    if not os.access(args.airframed, os.X_OK):
        sys.exit(f"{args.airframed} does not exist; run `make build`, or give the path with --airframed")
    work = [(args, seed, kind, motion) for seed in range(*map(int, args.seeds.split(":")))
            for kind in args.kinds.split(",") for motion in args.motions.split(",")]
    offs = alarms = 0
    with get_context("fork").Pool(args.jobs) as pool:
        for key, summary, switches, names, peak in pool.imap(run, work):
            went = [t for t, on in switches if not on]
            offs += bool(went)
            alarms += bool(names)
            if went or names or not switches or args.log:
                first = switches[0][0] if switches else math.nan
                print(f"{key:28} on {first:5.2f}  off {' '.join(f'{t:.2f}' for t in went) or '-':12} "
                      f"{' '.join(f'{t:.1f}:{name}' for t, name, _ in names)}  peak {peak:.1f}  {summary}", flush=True)
                if args.log:
                    for t, _, text in names:
                        print(f"    {t:6.2f} {text}", flush=True)
    print(f"{len(work)} runs: the outputs were switched off in {offs}, airframed reported a fault in {alarms}")


if __name__ == "__main__":
    main()
