"""The closed loop over kernel interfaces: a BMI088 and a PCA9685 on /dev/i2c-1, servos between them (plant.py).
The controller finds the sensor, holds the camera against a moving handle, and survives what a bus can do to it.
"""
# lab: --bluetooth off
import json, os, signal, subprocess, sys, tempfile, time
from pathlib import Path

from plant import ACCEL, GYRO, PWM, Chip, Plant

BIN = Path(os.environ["BIN"])
FOLDER = Path(tempfile.mkdtemp())
SOCKET = FOLDER / "airframed.sock"
CONFIGURATION = f"""
[hardware]
backend = "linux"
[hardware.linux]
imu_self_test = false
[loop]
rate_hz = 100
lock_memory = false
[imu]
timeout_ms = 250
[motors]
type = "servo"
[servo]
delay_ms = 15
lag_ms = 20
tracker_bandwidth = 15
[diagnostics]
socket = "{SOCKET}"
[persistence]
directory = "{FOLDER}/state"
"""
checks = 0


def ctl(*arguments):
    done = subprocess.run([BIN / "airframectl", "--socket", SOCKET, "--json", *arguments], capture_output=True, text=True)
    return json.loads(done.stdout) if done.stdout else {"error": done.stderr}


def status():
    return ctl("status")


def check(holds, words):
    global checks
    checks += 1
    print(f"  {'ok  ' if holds else 'FAIL'} {words}", flush=True)
    if not holds:
        print(json.dumps(status(), indent=1)[:6000])
        print((FOLDER / "log").read_text()[-3000:])
        sys.exit(1)


def until(condition, seconds, words):
    began = time.monotonic()
    while time.monotonic() - began < seconds:
        if condition():
            return check(True, f"{words}: {time.monotonic() - began:.2f} s")
        time.sleep(0.02)
    check(False, f"{words}: not within {seconds} s")


def rms(values):
    values = list(values)
    mean = sum(values) / len(values)
    return (sum((v - mean) ** 2 for v in values) / len(values)) ** 0.5


def names():
    return {c["name"] for c in status()["inhibitions"]}


def main():
    subprocess.run(["modprobe", "airframe_lab", "bus=1", "chips=0x18,0x68,0x40"], check=True)
    (FOLDER / "airframed.toml").write_text(CONFIGURATION)
    (FOLDER / "state").mkdir()
    plant = Plant()
    with open(FOLDER / "log", "w") as log:
        daemon = subprocess.Popen([BIN / "airframed", "--config", FOLDER / "airframed.toml"], stdout=log, stderr=log)
    until(SOCKET.exists, 30, "the daemon answers")
    until(lambda: plant.is_driven, 60, "sensor and servo chip brought up, outputs on")
    before = Chip(PWM).read(0xFE, 1)[0]
    check(before == 17, f"prescaler for 333 Hz from 25 MHz is 17: {before}")

    plant.tell("amplitude 10")
    time.sleep(5)
    start = len(plant.history)
    time.sleep(20)
    rows = plant.history[start:]
    for column, name in ((2, "roll"), (3, "pitch")):
        handle, camera = rms(r[column] for r in rows), rms(r[column + 2] for r in rows)
        check(camera < handle / 3, f"{name}: handle {handle:.2f} deg RMS, camera {camera:.2f}")
    plant.tell("amplitude 0")
    time.sleep(1)

    for title, address in (("accelerometer", ACCEL), ("gyroscope", GYRO)):
        chip = Chip(address)
        chip.fail(6)
        until(lambda: not plant.is_driven, 5, f"{title} does not acknowledge: outputs off")
        check(names() & {"imu_stale", "imu_missing"}, f"named: {sorted(names())}")
        chip.fail(0)
        until(lambda: plant.is_driven, 30, f"{title} is back: outputs on without a restart")

    chip = Chip(ACCEL)
    chip.write(0x7D, [0])
    until(lambda: chip.read(0x7D, 1)[0] == 4, 5, "a reset in flight: configured again")
    until(lambda: plant.is_driven, 30, "outputs on after it")
    check(status()["imu"]["lost_configurations"] == 1, "counted")

    plant.tell("frozen 1")
    until(lambda: not plant.is_driven, 5, "data that stand still: outputs off")
    plant.tell("frozen 0")
    until(lambda: plant.is_driven, 30, "data that move again: outputs on")

    began = time.monotonic()
    daemon.send_signal(signal.SIGTERM)
    check(daemon.wait(60) == 0, f"SIGTERM ends it: {time.monotonic() - began:.2f} s")
    until(lambda: not plant.is_driven, 1, "outputs off at the end")
    plant.stop()
    print(f"  {checks} checks", flush=True)


main()
