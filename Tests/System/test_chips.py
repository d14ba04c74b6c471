"""The closed loop over kernel interfaces: a BMI088 and a PCA9685 on /dev/i2c-1, servos between them (plant.py).
The controller finds the sensor, holds the camera against a moving handle, and survives what a bus can do to it.
"""
# lab: --bluetooth off
import json, os, signal, subprocess, tempfile, time
from pathlib import Path

from checks import Checks
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


def ctl(*arguments):
    done = subprocess.run([BIN / "airframectl", "--socket", SOCKET, "--json", *arguments], capture_output=True, text=True)
    return json.loads(done.stdout) if done.stdout else {"error": done.stderr}


def status():
    return ctl("status")


def explain():
    print(json.dumps(status(), indent=1)[:7000])
    print((FOLDER / "log").read_text()[-3000:])


def recover():
    ctl("stop", "--reset")
    ctl("mode", "locked")


check = Checks(explain, recover)





def names():
    return {c["name"] for c in status()["inhibitions"]}


def main():
    subprocess.run(["modprobe", "airframe_lab", "bus=1", "chips=0x18,0x68,0x40"], check=True)
    (FOLDER / "airframed.toml").write_text(CONFIGURATION)
    (FOLDER / "state").mkdir()
    plant = Plant()
    with open(FOLDER / "log", "w") as log:
        daemon = subprocess.Popen([BIN / "airframed", "--config", FOLDER / "airframed.toml"], stdout=log, stderr=log)
    check.until(SOCKET.exists, "the daemon answers")
    check.until(lambda: plant.is_driven, "sensor and servo chip brought up, outputs on")
    before = Chip(PWM).read(0xFE, 1)[0]
    check(before == 17, f"prescaler for 333 Hz from 25 MHz is 17: {before}")

    check.closes_loop(plant)

    for title, address in (("accelerometer", ACCEL), ("gyroscope", GYRO)):
        chip = Chip(address)
        chip.fail(6)
        check.until(lambda: not plant.is_driven, f"{title} does not acknowledge: outputs off")
        check(names() & {"imu_stale", "imu_missing"}, f"named: {sorted(names())}")
        chip.fail(0)
        check.until(lambda: plant.is_driven, f"{title} is back: outputs on without a restart")

    chip = Chip(ACCEL)
    chip.write(0x7D, [0])
    check.until(lambda: chip.read(0x7D, 1)[0] == 4, "a reset in flight: configured again")
    check.until(lambda: plant.is_driven, "outputs on after it")
    check(status()["imu"]["lost_configurations"] == 1, "counted")

    plant.tell("frozen 1")
    check.until(lambda: not plant.is_driven, "data that stand still: outputs off")
    plant.tell("frozen 0")
    check.until(lambda: plant.is_driven, "data that move again: outputs on")

    began = time.monotonic()
    daemon.send_signal(signal.SIGTERM)
    check(daemon.wait(60) == 0, f"SIGTERM ends it: {time.monotonic() - began:.2f} s")
    check.until(lambda: not plant.is_driven, "outputs off at the end")
    plant.stop()
    print(f"  {check.count} checks", flush=True)


main()
