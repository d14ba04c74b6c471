"""A gimbal whose sensors are virtual IIO devices (kernel module airframe_iio): set-up, closed loop, stopped and removed
devices."""
import subprocess, time
from pathlib import Path

from board import Board
from plant import PWM, Plant, iio_pushed, iio_set

board = Board([PWM])
check, until, comes_on = board.check, board.until, board.comes_on
DEVICES = Path("/sys/bus/iio/devices")


def attribute(device, name):
    # Kernel 6.1 ends the name of the clock with a zero byte.
    return (DEVICES / device / name).read_text().strip("\n\0 ")


def is_set_up(device, gyroscope):
    found = {name: attribute(device, name) for name in ("current_timestamp_clock", "sampling_frequency", "buffer/enable")}
    check(found == {"current_timestamp_clock": "monotonic", "sampling_frequency": "500", "buffer/enable": "1"},
          f"{device} has the configured settings: {found}")
    if gyroscope:
        scale, corner = float(attribute(device, "in_anglvel_scale")), attribute(device, "in_anglvel_filter_low_pass_3db_frequency")
        check(abs(scale - 0.001064724) < 1e-9 and corner == "90", f"range of 2000 deg/s, low-pass of 90 Hz: {scale}, {corner}")


def delivers():
    """Checks that every measurement of the device arrives once. The emulated machine misses some of the device's periods."""
    def counts():
        samples = board.status()["imu"]["samples"]
        return time.monotonic(), samples, iio_pushed()

    time.sleep(1)
    first = counts()
    time.sleep(4)
    seconds, samples, pushed = (b - a for a, b in zip(first, counts()))
    # The second device has as many as the first.
    pushed /= len(list(DEVICES.glob("iio:device*")))
    check(abs(samples - pushed) < 0.03 * pushed and pushed > 300 * seconds,
          f"{samples / seconds:.0f} samples per second of {pushed / seconds:.0f} measurements")
    imu = board.status()["imu"]
    faults = {name: count for name, count in imu["faults"].items() if count}
    check(not faults, f"the sensor reports no fault: {faults}")


def stops_and_returns(plant):
    for bits, title in ((1, "the device with the gyroscope"), (2, "the device with the accelerometer")):
        if bits == 2 and not (DEVICES / "iio:device1").exists():
            continue
        iio_set(silent=bits)
        until(lambda: not plant.is_driven, f"{title} stops: the outputs are switched off")
        board.is_named("imu_stale", "imu_missing")
        iio_set(silent=0)
        comes_on(lambda: plant.is_driven, f"{title} measures again: the outputs are switched on without a restart")
    iio_set(present=0)
    until(lambda: not plant.is_driven, "the kernel removes the devices: the outputs are switched off")
    until(lambda: "IIO device" in (board.status()["imu"].get("set_up_failure") or ""), "status says that the device is missing")
    iio_set(present=1)
    comes_on(lambda: plant.is_driven, "the devices return: the outputs are switched on without a restart")
    check(board.status()["imu"].get("set_up_failure") is None, "status no longer reports a failure")


def run(count):
    print(f"-- {count} device{'s' if count > 1 else ''}", flush=True)
    subprocess.run(["modprobe", "airframe_iio", f"devices={count}"], check=True)
    plant = Plant("iio")
    board.start('imu = "iio"\n[hardware.iio]\nrate_hz = 500\nlow_pass_hz = 90\n[motors]\ntype = "servo"\n')
    comes_on(lambda: plant.is_driven, "airframed finds and configures the devices, and switches the outputs on")
    is_set_up("iio:device0", True)
    if count == 2:
        is_set_up("iio:device1", False)
    delivers()
    lines = [c["finding"] for c in board.ctl("doctor")["checks"] if c["name"] == "iio"]
    check(len(lines) == 1 and ("lab_imu" if count == 1 else "lab_accel") in lines[0], f"doctor lists the devices: {lines}")
    board.closes_loop(plant)
    stops_and_returns(plant)
    board.end()
    until(lambda: not plant.is_driven, "the outputs are off at the end")
    plant.stop()
    subprocess.run(["rmmod", "airframe_iio"], check=True)
    board.done()
