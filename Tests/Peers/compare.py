"""Compares the estimator with VQF, offline VQF and RIANN on the same logs, and prints tables.

    compare.py --data DIR --sample DIR --bin DIR --work DIR [--rounds N] [--gate] [--before BIN]

--data: recorded trials; --sample: trials that are scored if --data has none; --bin: optimised airframectl and airframe-bench;
--work: folder for logs and results; --before: folder with another build's programs, whose CPU time is compared. Each estimator is
scored at its own best prediction time. With --gate the exit status is 1 if a figure misses its limit, otherwise 0.
"""

import argparse
import concurrent.futures
import pathlib
import shutil
import statistics
import subprocess

import numpy as np
import riann
from vqf import VQF, offlineVQF

from trial import Trial, carried_forward

# Trials used for development: half of the BROAD trials here, of each kind of motion. Reported figures come from the others.
DEVELOPMENT = ("broad_02", "broad_07", "broad_16", "broad_24", "broad_30")
# Prediction times of the estimates, s. Each estimator's best one is chosen on the development trials of each scenario.
LEADS = np.arange(-12, 10.25, 0.5) * 1e-3
# Scenario of airframe-bench, scored figure, title, limit, whether RIANN takes part. Without a limit, VQF's figure is the limit.
ROWS = [
    ("recorded", "inclination", "6D, as recorded (286 Hz)", 0.42, True),
    ("recorded", "total", "9D total, as recorded", 2.3, False),
    ("mean-of-3", "inclination", "6D, 95 Hz, means of 3", None, False),
    ("every-6th", "inclination", "6D, 48 Hz, every 6th", None, False),
    ("second", "inclination", "6D, poorer sensor, 95 Hz", None, True),
    ("lever", "inclination", "6D, 1 m from the pivot", None, True),
    ("cut-off", "inclination", "6D, fastest 0.7 % cut off", None, True),
    ("swung", "inclination", "6D, all three, 95 Hz", None, True),
    ("motion-0", "inclination", "6D, started in motion", 0.60, False),
    ("motion-1", "inclination", "6D, in motion, bias +1 deg/s", 0.60, False),
    ("motion-3", "inclination", "6D, in motion, bias +3 deg/s", 1.05, False),
    ("gyro-scale", "inclination", "6D, gyro scale +1 %", None, False),
    ("accel-offset", "inclination", "6D, accel +0.2 m/s2 on x", None, False),
    ("accel-sines", "inclination", "6D, accel +5 m/s2 sines", None, False),
    ("rest-1", "bias_time", "bias from rest, +1 deg/s: s", 2.0, False),
    ("rest-3", "bias_time", "bias from rest, +3 deg/s: s", 2.0, False),
]
PEERS = ["VQF", "offline VQF", "RIANN"]
COLUMNS = [*PEERS, "ours"]


def peers(trial, figure, with_riann):
    """Attitude and bias from each peer with its default settings."""
    period = 1 / trial.rate
    mag = trial.mag if figure == "total" else None
    key = "quat6D" if mag is None else "quat9D"
    filtered = VQF(period).updateBatch(trial.gyro, trial.accel, mag)
    smoothed = offlineVQF(trial.gyro, trial.accel, mag, period)
    result = {"VQF": (filtered[key], filtered["bias"]),
              "offline VQF": (smoothed[key], smoothed["bias"])}
    if with_riann:
        network = pathlib.Path(riann.__file__).parent / "riann.onnx"
        attitude = riann.RIANN(str(network)).predict(
            trial.accel.astype(np.float32), trial.gyro.astype(np.float32), trial.rate)
        result["RIANN"] = (np.asarray(attitude, dtype=float), np.zeros_like(trial.gyro))
    return result


def ours(trial, figure, airframectl, directory):
    """Attitude and bias from `airframectl replay` with its default settings."""
    output = directory / f"{trial.path.parent.name}-{trial.path.stem}-{figure}.csv"
    command = [airframectl, "replay", trial.path, "--output", output]
    if figure == "total":
        command.append("--magnetometer")
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    rows = np.loadtxt(output, delimiter=",", skiprows=1)
    output.unlink()
    return rows[:, 1:5], rows[:, 5:8]


def figures(job):
    """The figure of each estimator at each prediction time, or the time until its bias estimate has converged."""
    path, figure, with_riann, airframectl, directory = job
    trial = Trial(path)
    estimates = peers(trial, figure, with_riann)
    estimates["ours"] = ours(trial, figure, airframectl, directory)
    if figure == "bias_time":
        return {name: [trial.bias_time(bias)] for name, (_, bias) in estimates.items()
                if name != "offline VQF"}
    score = {"inclination": trial.inclination, "total": trial.total}[figure]
    return {name: [score(carried_forward(attitude, trial.gyro - bias, lead)) for lead in LEADS]
            for name, (attitude, bias) in estimates.items()}


def cost(arguments, log):
    """CPU time in ns of this estimator, VQF and another build: medians of alternating rounds, and this estimator's ratio to
    each."""
    def once(*command):
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        return float(done.stdout.split()[-1])

    times = {"ours": [], "VQF": [], "before": []}
    for _ in range(arguments.rounds):
        times["ours"].append(once(arguments.bin / "airframe-bench", "--cost", log))
        times["VQF"].append(once(arguments.work / "vqf_cost", log))
        if arguments.before:
            times["before"].append(once(arguments.before / "airframe-bench", "--cost", log))
    return {name: (statistics.median(values),
                   statistics.median(a / b for a, b in zip(times["ours"], values)))
            for name, values in times.items() if values}


def line(name, cells, *rest):
    def text(value):
        if value is None:
            return "-"
        return value if isinstance(value, str) else f"{value:.3f}" if value < 100 else f"{value:.0f}"

    print(f"{name:<29}" + "".join(f"{text(c):>12}" for c in cells) + "".join(f"  {r}" for r in rest))


def wins_of_ours(scores, best):
    """Number of trials in which this estimator is better than each peer; "-" if the peer does not take part."""
    return " ".join(str(sum(s["ours"][best["ours"]] < s[c][best[c]] for s in scores)) if c in best else "-"
                    for c in PEERS)


def table(name, figure, must, paths, scores, judged):
    """Prints the figures at every estimator's best prediction time; returns whether the limit is missed."""
    known = [c for c in COLUMNS if c in scores[0]]
    developed = [path.stem.startswith(DEVELOPMENT) for path in paths]
    found = [s for s, d in zip(scores, developed) if d] or scores
    best = {c: int(np.argmin(np.mean([s[c] for s in found], axis=0))) for c in known}
    middle = statistics.median if figure == "bias_time" else statistics.fmean
    result = {}
    for title, wanted in [("development", True), ("report", False)]:
        part = [s for s, d in zip(scores, developed) if d == wanted]
        if not part:
            continue
        cells = {c: middle(s[c][best[c]] for s in part) for c in known}
        wins = wins_of_ours(part, best)
        bar = cells["VQF"] if must is None else must
        word = "sample" if not judged else "pass" if cells["ours"] <= bar else "MISS"
        line(f"{name}" if wanted else "  report", [cells.get(c) for c in COLUMNS],
             f"{wins} of {len(part)}", f"<= {bar:.3f} {word}" if not wanted else "")
        result[title] = (cells, wins, len(part), word)
    if figure != "bias_time":
        line("  lead, ms; without lead, deg",
             [f"{LEADS[best[c]] * 1e3:.1f}; "
              f"{np.mean([s[c][int(np.argmin(abs(LEADS)))] for s in scores]):.3f}"
              if c in known else None for c in COLUMNS])
    return "report" in result and result["report"][3] == "MISS"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--sample", type=pathlib.Path, required=True)
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--before", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--gate", action="store_true")
    arguments = parser.parse_args()

    judged = any(arguments.data.glob("*.imu"))
    data = arguments.data if judged else arguments.sample
    if not judged:
        print(f"note: no recorded trials (*.imu) in {arguments.data}; give their directory with IMU_DATA=DIR.")
        print(f"note: the committed sample in {data} is scored instead, without limits.\n")
    logs = arguments.work / "logs"
    shutil.rmtree(logs, ignore_errors=True)
    subprocess.run(
        [arguments.bin / "airframe-bench", "--data", data, "--export", logs], check=True,
        stdout=subprocess.DEVNULL)

    print(f"Trials of {data}. Mean of their RMS errors, deg; bias: median time until the error stays")
    print("< 0.1 deg/s. Development: " + " ".join(DEVELOPMENT) + "; the others report. Each estimator at its")
    print("own best lead, found on the development trials; one set of default parameters. Scenarios other than")
    print("'as recorded' are derived from the same trials. Wins: trials in which ours is better than VQF, than")
    print("offline VQF (which uses the whole recording) and than RIANN.\n")
    line("", COLUMNS, "wins", "bar")
    missed = 0
    each = {}
    with concurrent.futures.ProcessPoolExecutor() as pool:
        for scenario, figure, name, must, with_riann in ROWS:
            paths = sorted((logs / scenario).glob("*.imu"))
            scores = list(pool.map(figures, [
                (path, figure, with_riann, arguments.bin / "airframectl", arguments.work)
                for path in paths]))
            each[name] = (paths, scores)
            missed += table(name, figure, must, paths, scores, judged)

    print("\nEach trial, 6D inclination, each estimator at its best lead")
    for scenario, figure, name, _, with_riann in ROWS:
        if not with_riann:
            continue
        paths, scores = each[name]
        found = [s for p, s in zip(paths, scores) if p.stem.startswith(DEVELOPMENT)] or scores
        best = {c: int(np.argmin(np.mean([s[c] for s in found], axis=0))) for c in COLUMNS}
        print(name)
        for path, s in zip(paths, scores):
            developed = path.stem.startswith(DEVELOPMENT)
            line("  " + path.stem[:27], [s[c][best[c]] for c in COLUMNS], "development" if developed else "report")
        print(f"  wins of ours: {wins_of_ours(scores, best)} of {len(scores)}")

    log = sorted((logs / "recorded").glob("*.imu"))[0]
    costs = cost(arguments, log)
    # The CPU time does not depend on the trial, so it is judged on the sample, too.
    ratio = costs["VQF"][1]
    missed += ratio > 1
    print(f"\none 6D update, ns of CPU: ours {costs['ours'][0]:.1f}, VQF's C++ core {costs['VQF'][0]:.1f}, "
          f"ratio {ratio:.2f} (<= 1 {'pass' if ratio <= 1 else 'MISS'})")
    if "before" in costs:
        print(f"the build before {costs['before'][0]:.1f}, ratio {costs['before'][1]:.2f}")
    shutil.rmtree(logs)
    return 1 if arguments.gate and missed else 0


if __name__ == "__main__":
    raise SystemExit(main())
