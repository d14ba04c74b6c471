"""The MPU family over kernel interfaces: an MPU-6050, 6500 and 9250 on I2C, the 6500 on SPI too; each is configured, stabilises
the camera, and is configured again after a reset during operation. The MPU-9250's magnetometer, on the chip's auxiliary I2C bus,
gives a heading.
"""
# lab: --bluetooth off --own-time
import glob, os, time

from board import Board
from plant import PWM, Chip, Plant

CAMERA = 0x68
board = Board([CAMERA, PWM])
check, until, comes_on = board.check, board.until, board.comes_on
PWM_CHIP = next(p for p in glob.glob("/sys/class/pwm/pwmchip*") if "airframe-lab" in os.path.realpath(p))
SPI = f'imu_interface = "spi"\nspi_khz = 1000\nmotors = "pwm"\npwm_chip = "{PWM_CHIP}"\n'


def closes_loop(name, place, wiring, *words):
    chip, plant = Chip(place), Plant(name, *words)
    board.start(f'imu = "{name}"\n{wiring}[motors]\ntype = "servo"\n')
    comes_on(lambda: plant.is_driven, f"{name} at {place if isinstance(place, str) else hex(place)}: configured, outputs on")
    check((chip.read(0x1B)[0], chip.read(0x1C)[0]) == (0x18, 0x18), "airframed has written the ranges 2000 deg/s and 16 g")
    board.closes_loop(plant)
    if name == "mpu9250":
        heading = board.status()["estimator"]["heading_sigma_deg"]
        check(heading is not None and heading < 5, f"the magnetometer supplies the heading, standard deviation {heading:.1f} deg")
    chip.write(0x6B, [0x01])
    chip.write(0x38, [0x00])
    until(lambda: board.status()["imu"]["lost_configurations"] == 1, "status counts a reset of the chip during operation")
    until(lambda: chip.read(0x38) == b"\x01", "configured again")
    time.sleep(1)
    comes_on(lambda: plant.is_driven, "the outputs are on after the reset")
    board.end()
    plant.stop()


def main():
    for name in ("mpu6050", "mpu6500", "mpu9250"):
        closes_loop(name, CAMERA, "")
    closes_loop("mpu6500", "spi-0", SPI, "spi", "pwm")
    board.done()


main()
