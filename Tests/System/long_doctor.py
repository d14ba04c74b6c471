"""`airframectl doctor` with real device files: first a correct wiring, then devices that are missing, forbidden, in use or wrong.
For each problem, the report must contain the remedy. The test prints one table at the end.
"""
# lab: --bluetooth off --own-time
import os, subprocess

from board import Board
from plant import ACCEL, GYRO, PWM, Chip, Plant, gpio_chip

board = Board([ACCEL, GYRO, PWM])
check, until = board.check, board.until
CHIP = gpio_chip()
SERVOS = '[motors]\ntype = "servo"\n'
POWER = f'gpio_chip = "{CHIP}"\npower_line = 17\n'
table = []


def checks():
    return {c["name"]: c for c in board.ctl("doctor")["checks"]}


def shown(words, found):
    table.append((words, f"{found['name']}: {found['finding']}", found["remedy"]))


def good():
    board.start(POWER + SERVOS)
    until(lambda: board.status().get("enabled"), "outputs on")
    found = checks()
    bad = {name: c for name, c in found.items() if c["level"] == "fail"}
    check(not bad, f"doctor reports no failure: {bad}")
    for name in ("bus", "sensor", "cut-off", "motion"):
        check(found[name]["level"] == "ok", f"{name}: {found[name]['finding']}")
    subprocess.run([*board.control, "doctor"])
    board.end()


def bad(words, hardware, name, remedy, finding="", level="fail", **how):
    """Checks `doctor` for a configuration that cannot work: this check's finding and remedy must contain these words."""
    board.start(hardware, **how)

    def told():
        found = checks().get(name)
        return found if found and found["level"] == level and remedy in found["remedy"] and finding in found["finding"] else None

    until(told, words, every=0.5)
    shown(words, told())
    board.end()


def main():
    plant = Plant()
    good()
    bad("no adapter", 'bus = "/dev/i2c-9"\n' + POWER + SERVOS, "bus", "dtparam=i2c_arm=on")
    bad("no device at the address", "imu_address = 25\n" + POWER + SERVOS, "bus", "No chip answers")
    bad("another chip at the address", 'imu = "mpu6050"\n' + POWER + SERVOS, "sensor", "hardware.linux.imu", "MPU-6050")
    bad("no spidev", 'imu_interface = "spi"\nimu_spi = "/dev/spidev5.0"\n' + POWER + SERVOS, "bus", "dtparam=spi=on")
    bad("no PWM chip", 'motors = "pwm"\npwm_chip = "/sys/class/pwm/pwmchip7"\n' + SERVOS, "bus", "dtoverlay=pwm-2chan")
    bad("no GPIO chip", 'gpio_chip = "/dev/gpiochip9"\npower_line = 17\n' + SERVOS, "bus", "gpiodetect")
    bad("no switch for the motors", SERVOS, "cut-off", "power_line", "cannot be switched off if the bus hangs", level="warn")

    holder = subprocess.Popen(["gpioset", "--mode=signal", os.path.basename(CHIP), "17=0"])
    bad("a GPIO line that another program uses", POWER + SERVOS, "bus", "gpioinfo")
    holder.terminate()
    holder.wait()

    Chip(ACCEL).fail(110)
    bad("SCL held low", POWER + SERVOS, "bus", "held low")
    Chip(ACCEL).fail(0)

    board.folder.chmod(0o777)
    bad("no permission for the bus", SERVOS, "bus", "group i2c", user=65534)
    bad("no permission for the line", POWER + SERVOS, "bus", "group gpio", user=65534)
    plant.stop()
    print()
    for words, found, remedy in table:
        print(f"  {words}\n      {found}\n      {remedy}")
    board.done()


main()
