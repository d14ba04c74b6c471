"""The estimator and VQF side by side on the same logs; prints one table.

    compare.py --data DIR --sample DIR --bin DIR --work DIR [--rounds N] [--gate]

--data: recorded trials; --sample: scored where there are none; --bin: airframectl and airframe-bench, optimised; --work: for logs and results.
Exit status: 0 also where a figure misses its bar; --gate makes that 1.
"""

import argparse
import concurrent.futures
import pathlib
import shutil
import statistics
import subprocess

import numpy as np
from vqf import VQF

from trial import Trial, carried_forward

# Scenario of the bench, what of it is scored, must, aim; None for must: not worse than VQF here.
ROWS = [
    ("recorded", "inclination", "6D inclination, deg", 0.63, 0.58),
    ("recorded", "total", "9D total, deg", 1.57, 1.45),
    ("motion-0", "inclination", "6D, started in motion, deg", 0.83, 0.78),
    ("motion-1", "inclination", "6D, in motion, bias +1 deg/s", 1.05, 0.85),
    ("motion-3", "inclination", "6D, in motion, bias +3 deg/s", 1.60, 1.05),
    ("rest-1", "bias_time", "bias from rest, +1 deg/s: s", 2.0, 1.5),
    ("rest-3", "bias_time", "bias from rest, +3 deg/s: s", 2.0, 1.5),
    ("every-6th", "inclination", "6D, every 6th sample, deg", None, None),
    ("gyro-scale", "inclination", "6D, gyro scale +1 %, deg", None, None),
    ("accel-offset", "inclination", "6D, accel +0.2 m/s2 on x, deg", None, None),
    ("accel-sines", "inclination", "6D, accel +5 m/s2 sines, deg", None, None),
]
COLUMNS = ["VQF", "VQF wide", "VQF +3ms", "ours 0ms", "ours"]
# The delay that `imu.filter_delay_ms` stands for: found on these recordings, so VQF is shown with it, too.
LEAD_SECONDS = 0.003


def vqf_figures(trial, figure):
    """VQF as it comes, with a wide prior, and as it comes with its attitude carried forward."""
    period = 1 / trial.rate
    if figure == "total":
        out = VQF(period).updateBatch(trial.gyro, trial.accel, trial.mag)
        wide = VQF(period, biasSigmaInit=2.0, biasClip=5.0).updateBatch(
            trial.gyro, trial.accel, trial.mag)
        key, score = "quat9D", trial.total
    else:
        out = VQF(period).updateBatch(trial.gyro, trial.accel)
        wide = VQF(period, biasSigmaInit=2.0, biasClip=5.0).updateBatch(trial.gyro, trial.accel)
        key, score = "quat6D", trial.inclination
    if figure == "bias_time":
        return {"VQF": trial.bias_time(out["bias"]), "VQF wide": trial.bias_time(wide["bias"])}
    ahead = carried_forward(out[key], trial.gyro - out["bias"], LEAD_SECONDS)
    return {"VQF": score(out[key]), "VQF wide": score(wide[key]), "VQF +3ms": score(ahead)}


def our_figures(trial, figure, airframectl, directory):
    """The default, and the same without the sensor's delay."""
    result = {}
    for column, options in [("ours", []), ("ours 0ms", ["--set", "imu.filter_delay_ms=0"])]:
        if figure == "bias_time" and column != "ours":
            continue
        output = directory / f"{trial.path.stem}-{figure}-{column.replace(' ', '-')}.csv"
        command = [airframectl, "replay", trial.path, "--output", output, *options]
        if figure == "total":
            command.append("--magnetometer")
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        rows = np.loadtxt(output, delimiter=",", skiprows=1)
        output.unlink()
        score = {"inclination": trial.inclination, "total": trial.total}.get(figure)
        result[column] = score(rows[:, 1:5]) if score else trial.bias_time(rows[:, 5:8])
    return result


def figures(job):
    path, figure, airframectl, directory = job
    trial = Trial(path)
    return vqf_figures(trial, figure) | our_figures(trial, figure, airframectl, directory)


def cost(arguments, log):
    """Medians of alternating rounds, ns of CPU time: ours, VQF's, and the ratio of each pair."""
    def once(*command):
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        return float(done.stdout.split()[-1])

    ours, theirs = [], []
    for _ in range(arguments.rounds):
        ours.append(once(arguments.bin / "airframe-bench", "--cost", log))
        theirs.append(once(arguments.work / "vqf_cost", log))
    ratio = statistics.median(a / b for a, b in zip(ours, theirs))
    return statistics.median(ours), statistics.median(theirs), ratio


def verdict(value, must, aim, judged):
    if not judged:
        return "sample"
    if aim is not None and value <= aim:
        return "aim"
    return "pass" if value <= must else "MISS"


def line(name, cells, must, aim, result):
    def text(value):
        if value is None:
            return "-"
        return value if isinstance(value, str) else f"{value:.3f}" if value < 100 else f"{value:.0f}"

    print(f"{name:<31}" + "".join(f"{text(c):>10}" for c in [*cells, must, aim]) + f"  {result}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--sample", type=pathlib.Path, required=True)
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--gate", action="store_true")
    arguments = parser.parse_args()

    judged = any(arguments.data.glob("*.imu"))
    data = arguments.data if judged else arguments.sample
    if not judged:
        print(f"note: no recorded trials (*.imu) in {arguments.data}; name them with IMU_DATA=DIR.")
        print(f"note: the committed sample in {data} is scored instead, and not judged.\n")
    logs = arguments.work / "logs"
    shutil.rmtree(logs, ignore_errors=True)
    subprocess.run(
        [arguments.bin / "airframe-bench", "--data", data, "--export", logs], check=True,
        stdout=subprocess.DEVNULL)

    trials = len(list(data.glob("*.imu")))
    print(f"{trials} trials of {data}; attitude: mean of their RMS errors; bias: median time until the")
    print("error stays < 0.1 deg/s. One set of default parameters. 'wide': biasSigmaInit 2, biasClip 5;")
    print("'+3ms': attitude carried forward by the delay that ours assumes; '0ms': ours without it.\n")
    line("figure", COLUMNS, "must", "aim", "result")
    missed = 0
    with concurrent.futures.ProcessPoolExecutor() as pool:
        for scenario, figure, name, must, aim in ROWS:
            jobs = [(path, figure, arguments.bin / "airframectl", arguments.work)
                    for path in sorted((logs / scenario).glob("*.imu"))]
            scores = list(pool.map(figures, jobs))
            middle = statistics.median if figure == "bias_time" else statistics.fmean
            cells = {column: middle(s[column] for s in scores)
                     for column in COLUMNS if column in scores[0]}
            bar = cells["VQF"] if must is None else must
            result = verdict(cells["ours"], bar, aim, judged)
            if figure == "bias_time":
                reached = sum(np.isfinite(s["ours"]) for s in scores)
                slowest = max(s["ours"] for s in scores)
                result += f" ({reached} of {len(scores)} trials; slowest {slowest:.2f} s)"
            missed += "MISS" in result
            line(name, [cells.get(c) for c in COLUMNS], bar, aim, result)

    log = sorted((logs / "recorded").glob("*.imu"))[0]
    ours, theirs, ratio = cost(arguments, log)
    # The cost does not depend on the trial: this one is judged on the sample, too.
    result = verdict(ratio, 1.0, 0.5, True)
    missed += result == "MISS"
    line("one 6D update, ns of CPU", [theirs, None, None, None, ours], None, None, "")
    line("  as a ratio to VQF's C++ core", [1.0, None, None, None, ratio], 1.0, 0.5, result)
    shutil.rmtree(logs)
    return 1 if arguments.gate and missed else 0


if __name__ == "__main__":
    raise SystemExit(main())
