"""Faults of buses, sensors and adapters: over I2C, over SPI, and with a sensor's FIFO and encoders at the joints. For each fault,
the test records when the motors' power is off, the condition in `status` and the counter; the motors must switch on again
automatically. After a sensor's fault, the power must be off within 65 ms: the timeout, 25 ms for the brake, and four periods.
"""
# lab: --bluetooth off --own-time
import glob, os

from board import Board
from faults import POWER, Fault, FaultTable
from plant import ACCEL, GYRO, PWM, Chip, Plant, buffer_of_icm42688p, gpio_chip, set_in

ENCODERS = [0xB36, 0xC36, 0xD36]
board = Board([ACCEL, GYRO, PWM, *ENCODERS])
table = FaultTable(board)
check, until = board.check, board.until
PWM_CHIP = next(p for p in glob.glob("/sys/class/pwm/pwmchip*") if "airframe-lab" in os.path.realpath(p))
STALE = {"imu_stale", "imu_missing"}
# Four periods of the loop: the machine sometimes wakes one or two periods late.
TIMEOUT_MS, RATE = 20, 200


def hardware(text):
    return f'gpio_chip = "{gpio_chip()}"\npower_line = {POWER}\n{text}[motors]\ntype = "servo"\n'


def transfers(chip, words=""):
    """Faults that every chip can have."""
    def now(**values):
        return lambda: chip.set(**values)

    return [
        Fault(f"one transfer fails{words}", lambda: chip.fail(6, 1), lambda: None, counted="failed_transfer", is_bridged=True),
        Fault(f"no acknowledge{words}", now(fail=6), now(fail=0), STALE, "outage"),
        Fault(f"short read{words}", now(cut=1), now(cut=0), STALE, "outage"),
    ]


def identity(chip, register, right, reset):
    """Simulates another chip at the same address, which is not configured either."""
    def exchange():
        chip.write(register, [0x12])
        chip.write(*reset)

    return Fault("wrong WHO_AM_I", exchange, lambda: chip.write(register, [right]), STALE, "lost_configuration")


def over_i2c():
    plant, accel, gyro = Plant(), Chip(ACCEL), Chip(GYRO)
    board.start(hardware(""), timeout_ms=TIMEOUT_MS, rate=RATE)

    def hang(us):
        return lambda: accel.set(delay_us=us)

    def bus(level):
        return lambda: set_in("bus-1", present=level)

    table.run("BMI088, I2C", [
        *transfers(accel, ", accelerometer"),
        *transfers(gyro, ", gyroscope")[1:],
        Fault("SCL held low", lambda: accel.fail(110), lambda: accel.fail(0), STALE, "outage"),
        Fault("transfers hang for 2 s", hang(2_000_000), hang(0), STALE | {"bus_error"}, "imu_stale"),
        Fault("data do not change", lambda: plant.tell("frozen 1"), lambda: plant.tell("frozen 0"), STALE, "stall"),
        Fault("reset, accelerometer", lambda: accel.write(0x7D, [0]), None, (), "lost_configuration"),
        Fault("reset, gyroscope", lambda: gyro.write(0x10, [0x80]), None, (), "lost_configuration"),
        identity(accel, 0x00, 0x1E, (0x7D, [0])),
        Fault("adapter removed", bus(0), bus(1), STALE, "outage"),
    ])
    board.end()
    plant.stop()


def over_spi():
    chip, plant = Chip("spi-0"), Plant("icm42688p", "spi", "pwm")
    board.start(hardware(f'imu = "icm42688p"\nimu_interface = "spi"\nspi_khz = 8000\nmotors = "pwm"\npwm_chip = "{PWM_CHIP}"\n'),
                timeout_ms=TIMEOUT_MS, rate=RATE)

    def line(level):
        return lambda: chip.set(floating=level)

    def here(level):
        return lambda: chip.set(present=level)

    table.run("ICM-42688-P, SPI", [
        *transfers(chip)[:1],
        Fault("transfers fail", lambda: chip.fail(5), lambda: chip.fail(0), STALE, "outage"),
        # spidev does not report a short message: it returns the previous content of its buffer. Samples count as frozen after 40 ms.
        Fault("short read", lambda: chip.set(cut=1), lambda: chip.set(cut=0), STALE | {"imu_frozen"}, "lost_configuration", limit_ms=85),
        Fault("all bits read 1", line(0x1FF), line(0), STALE, "lost_configuration"),
        Fault("all bits read 0", line(0x100), line(0), STALE, "lost_configuration"),
        Fault("data do not change", lambda: plant.tell("frozen 1"), lambda: plant.tell("frozen 0"), {"imu_frozen"}, "imu_frozen",
              limit_ms=85),
        Fault("reset", lambda: chip.write(0x4E, [0]), None, (), "lost_configuration"),
        identity(chip, 0x75, 0x47, (0x4E, [0])),
        Fault("chip select removed", here(0), here(1), STALE, "outage"),
    ])
    board.end()
    plant.stop()


def by_the_buffer():
    # The bus of the BMI088's gyroscope, which has the same address.
    chip, yaw = Chip(GYRO), Chip(ENCODERS[0])
    buffer_of_icm42688p(chip)
    plant = Plant("icm42688p", "fifo", "encoders", "pwm")
    board.start(hardware(f'imu = "icm42688p"\nimu_fifo = true\nencoders = "as5600"\nmotors = "pwm"\npwm_chip = "{PWM_CHIP}"\n'),
                timeout_ms=TIMEOUT_MS, rate=RATE)

    def hang_once():
        chip.set(delay_us=300_000)
        until(lambda: board.status()["imu"]["faults"]["fifo_overflow"] > 0, "the buffer has overflowed")
        chip.set(delay_us=0)

    table.run("ICM-42688-P, buffer", [
        *transfers(chip),
        Fault("buffer overflows", hang_once, None, (), "fifo_overflow"),
        Fault("reset", lambda: chip.write(0x4E, [0]), None, (), "lost_configuration"),
        Fault("encoder does not answer", lambda: yaw.fail(6), lambda: yaw.fail(0), {"encoder_missing"}, "yaw_no_answer", limit_ms=250),
        Fault("encoder without a magnet", lambda: yaw.set(floating=0x100), lambda: yaw.set(floating=0), {"encoder_missing"},
              "yaw_no_magnet", limit_ms=250),
    ])
    board.end()
    plant.stop()


def main():
    for wiring in (over_i2c, over_spi, by_the_buffer):
        wiring()
    print(f"\n  In this test imu.timeout_ms is {TIMEOUT_MS} ms; the loop runs at {RATE} Hz.")
    table.show()
    board.done()


main()
