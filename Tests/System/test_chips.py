"""The closed loop over kernel interfaces: a BMI088 and a PCA9685 on /dev/i2c-1, servos between them (plant.py).
The controller finds the sensor, stabilises the camera on a moving handle, and recovers from bus faults.
"""
# lab: --bluetooth off --own-time
import time

from board import Board
from plant import ACCEL, GYRO, PWM, Chip, Plant, set_in
from stalls import judged

board = Board([ACCEL, GYRO, PWM])
check, until, comes_on = board.check, board.until, board.comes_on


def found():
    """True if the search has found the chips at their addresses."""
    chips = {c["name"]: c["addresses"] for b in board.ctl("hardware")["i2c"] for c in b["chips"]}
    return chips.get("bmi088") == [ACCEL, GYRO] and chips.get("pca9685") == [PWM]


def main():
    plant = Plant()
    board.start('[motors]\ntype = "servo"\n')
    comes_on(lambda: plant.is_driven, "sensor and servo chip are configured, the outputs are on")
    before = Chip(PWM).read(0xFE, 1)[0]
    check(before == 17, f"prescaler for 333 Hz from 25 MHz: {before}, expected 17")

    board.closes_loop(plant)

    def stays_on():
        time.sleep(0.5)
        return plant.is_driven, "the adapter accepts a read only as the last message, as on a Raspberry Pi 4: the outputs stay on"

    set_in("bus-1", read_last=1)
    # After a stall of the machine, the sensor's data are too old, and airframed switches the outputs off for a short time.
    holds, words = judged(stays_on, board.start_motors)
    check(holds is not False, words)
    set_in("bus-1", read_last=0)

    for title, address in (("accelerometer", ACCEL), ("gyroscope", GYRO)):
        chip = Chip(address)
        chip.fail(6)
        until(lambda: not plant.is_driven, f"{title} does not acknowledge: the outputs are switched off")
        board.is_named("imu_stale", "imu_missing")
        chip.fail(0)
        comes_on(lambda: plant.is_driven, f"{title} acknowledges again: the outputs are switched on without a restart")

    chip = Chip(ACCEL)
    chip.write(0x7D, [0])
    until(lambda: chip.read(0x7D, 1)[0] == 4, "airframed configures the chip again after a reset during operation")
    until(lambda: board.status()["imu"]["lost_configurations"] == 1, "counted")
    # The motors can switch off shortly after the reset.
    time.sleep(1)
    comes_on(lambda: plant.is_driven, "the outputs are on after the reset")

    plant.tell("frozen 1")
    until(lambda: not plant.is_driven, "constant sensor data: the outputs are switched off")
    board.is_named("imu_stale", "imu_frozen")
    plant.tell("frozen 0")
    comes_on(lambda: plant.is_driven, "changing sensor data: the outputs are switched on")

    # The search for chips reads the bus only while the motors are off. The registers are those of a PCA9685 after a reset.
    Chip(PWM).write(0x02, [0xE2, 0xE4, 0xE8, 0xE0])
    bus = next(b for b in board.ctl("hardware")["i2c"] if b["path"] == "/dev/i2c-1")
    check(bus["chips"] == [] and "motors are on" in bus["problem"], f"the search for chips does not use {bus['path']} while the motors are on")
    board.ctl("mode", "inactive")
    until(lambda: not plant.is_driven, "motors off")
    until(lambda: found(), "the search finds bmi088 and pca9685", seconds=5)
    proposal = board.ctl("hardware")["proposal"]["lines"]
    check('imu = "bmi088"' in proposal and "imu_address = 0x18" in proposal and 'motors = "none"' in proposal, "proposed")

    board.end()
    until(lambda: not plant.is_driven, "the outputs are off at the end")
    plant.stop()
    board.done()


main()
