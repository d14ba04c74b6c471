"""The closed loop without I2C: a sensor on SPI (spidev), servos at /sys/class/pwm. A BMI088 with its two chip selects, then an
ICM-42688-P, and SPI faults: the line is not driven, transfers fail or end early, the chip select is removed.
"""
# lab: --bluetooth off --own-time
import glob, os

from board import Board
from plant import Chip, Plant

board = Board([0x68])
check, until, comes_on = board.check, board.until, board.comes_on
PWM_CHIP = next(p for p in glob.glob("/sys/class/pwm/pwmchip*") if "airframe-lab" in os.path.realpath(p))
WIRING = f'imu_interface = "spi"\nspi_khz = 8000\nmotors = "pwm"\npwm_chip = "{PWM_CHIP}"\n[motors]\ntype = "servo"\n'


def bmi088():
    Chip("spi-0").set(dummies=1)
    plant = Plant("bmi088", "spi", "pwm")
    board.start(WIRING)
    comes_on(lambda: plant.is_driven, "both sensors of a BMI088 are configured, the outputs are on")
    board.closes_loop(plant)
    board.end()
    plant.stop()
    Chip("spi-0").set(dummies=0)


def icm42688p():
    chip, plant = Chip("spi-0"), Plant("icm42688p", "spi", "pwm")
    board.start('imu = "icm42688p"\n' + WIRING)
    comes_on(lambda: plant.is_driven, "an ICM-42688-P is configured, the outputs are on")
    check(chip.read(0x4E) == b"\x0f", "airframed has written the configuration")

    for words, fault in (("all bits read 1", {"floating": 0x1FF}), ("all bits read 0", {"floating": 0x100}),
                         ("transfers fail", {"fail": 5}), ("transfers end early", {"cut": 1})):
        chip.set(**fault)
        until(lambda: not plant.is_driven, f"{words}: the outputs are switched off")
        board.is_named("imu_stale", "imu_missing")
        chip.set(**dict.fromkeys(fault, 0))
        comes_on(lambda: plant.is_driven, "the sensor answers again: the outputs are switched on without a restart")

    chip.set(present=0)
    until(lambda: not plant.is_driven, "the chip select is removed: the outputs are switched off")
    until(lambda: "No such file" in (board.status()["faults"]["last_error"] or ""), "named")
    print(f"       {board.status()['faults']['last_error']}: {board.status()['faults']['remedy']}", flush=True)
    chip.set(present=1)
    comes_on(lambda: plant.is_driven, "the chip select returns: the outputs are switched on without a restart")
    board.end()
    plant.stop()


def main():
    bmi088()
    icm42688p()
    board.done()


main()
