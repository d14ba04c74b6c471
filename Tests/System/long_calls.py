"""Counts system calls and allocations of the bus threads, for each kind of output: one ioctl for an IMU burst of each device
file, one for a motor update, one pwrite for a PWM channel that has changed, and no allocation after the start. The
counts come from the kernel module airframe_lab and the kernel's histogram of system calls. The test prints one table at the end.
"""
# lab: --bluetooth off --own-time
import glob, os, signal, sys, time

from board import Board
from counting import COUNTER, IOCTL, PWRITE, SLEEP, environment, mallocs, system_calls, trace_system_calls
from plant import ACCEL, GYRO, PWM, Chip, Plant, buffer_of_icm42688p, calls, gpio_chip, gpio_trace, gpio_trace_clear, pwm_channel

HANDLE, POWER, SECONDS = 0x69, 17, 10
BUS, MOTORS, SWITCH = "airframed-bus0", "airframed-bus1", "airframed-power"
board = Board([ACCEL, GYRO, PWM, HANDLE])
check, until, comes_on = board.check, board.until, board.comes_on
table = []


def look():
    """All counts at one instant: airframed is stopped while they are read."""
    board.daemon.send_signal(signal.SIGSTOP)
    time.sleep(0.1)
    counts = counted()
    board.daemon.send_signal(signal.SIGCONT)
    return counts


def counted():
    counts = {f"{place} {n}": count for place in ("bus-1", "spi-0", "spi-1") for n, count in calls(place).items()}
    words = {IOCTL: "ioctl", PWRITE: "pwrite", SLEEP: "sleep"}
    counts |= {f"{name} {words[call]}": count for (name, call), count in system_calls(board).items() if call in words}
    counts |= {f"{name} malloc": count for name, count in mallocs(board).items()}
    return counts | {"pwm": sum(pwm_channel(n)[3] for n in range(3))}


def measured(plant, is_on, amplitude=3):
    """Increase of each count while the motors stabilise the camera on a handle that swings by this number of degrees."""
    comes_on(is_on, "outputs on")
    plant.tell(f"amplitude {amplitude}")
    time.sleep(5)
    before = look()
    comes_on(is_on, "outputs on before the measurement")
    time.sleep(SECONDS)
    after = look()
    found = {name: count - before.get(name, 0) for name, count in after.items()}
    # The bus thread sleeps once a period.
    return found | {"periods": found[f"{BUS} sleep"]}


def row(words, found, bursts, others, updates, threads):
    """`bursts`, `others` (audits, temperature) and `updates` are numbers of transfers that the kernel module counted."""
    ioctls = sum(found.get(f"{name} ioctl", 0) for name in (BUS, MOTORS))
    check(abs(bursts - found["periods"]) <= 0.01 * found["periods"] + 5, f"{words}: {bursts} bursts in {found['periods']} periods")
    check(abs(ioctls - bursts - others - updates) <= 0.01 * ioctls + 5,
          f"{ioctls} ioctls: {bursts} bursts, {updates} motor updates, {others} registers read back")
    allocations = {name: found[f"{name} malloc"] for name in threads}
    check(not any(allocations.values()), f"calls of malloc by each thread: {allocations}")
    table.append((words, found["periods"], bursts, updates, found.get(f"{MOTORS} pwrite", 0), others, sum(allocations.values())))


def shared_bus():
    plant = Plant()
    board.start('[motors]\ntype = "servo"\n', environment(board))
    found = measured(plant, lambda: plant.is_driven)
    # Messages: a burst is a write and a read for each half of a BMI088, a register is a write and a read, an update is one write.
    row("BMI088 and PCA9685 servos, one I2C bus", found, found["bus-1 4"], found.get("bus-1 2", 0), found["bus-1 1"], [BUS])
    check(found["bus-1 1"] <= found["periods"] + 5, "at most one motor update per period, for all three servos")
    board.end()
    plant.stop()


def spi_and_pwm():
    chip = next(p for p in glob.glob("/sys/class/pwm/pwmchip*") if "airframe-lab" in os.path.realpath(p))
    plant = Plant("icm42688p", "spi", "pwm")
    board.start(f'imu = "icm42688p"\nimu_interface = "spi"\nspi_khz = 8000\nmotors = "pwm"\npwm_chip = "{chip}"\n'
                f'gpio_chip = "{gpio_chip()}"\npower_line = {POWER}\n[motors]\ntype = "servo"\n', environment(board))
    found = measured(plant, lambda: plant.is_driven)
    row("ICM-42688-P on SPI, servos at sysfs PWM", found, found["spi-0 2"], found["spi-0 1"], 0, [BUS, MOTORS, SWITCH])
    writes = found.get(f"{MOTORS} pwrite", 0)
    check(0 < writes and abs(writes - found["pwm"]) <= 0.01 * writes + 5, f"{writes} pwrites, {found['pwm']} changes at the PWM chip")
    before, _ = mallocs(board), gpio_trace_clear()
    for _ in range(5):
        board.ctl("mode", "inactive")
        until(lambda: not plant.is_driven, "mode inactive: no pulses")
        board.ctl("mode", "locked")
        comes_on(lambda: plant.is_driven, "mode locked: pulses")
    changes = len(gpio_trace())
    after = mallocs(board)
    check(changes == 10, f"the power line has changed {changes} times in 5 pairs of mode changes")
    check(after[SWITCH] == before[SWITCH] and after[MOTORS] == before[MOTORS],
          f"calls of malloc during the mode changes: {after[SWITCH] - before[SWITCH]} by the power line's thread, {after[MOTORS] - before[MOTORS]} by the motors' thread")
    board.end()
    plant.stop()


def motors_apart():
    own = board.folder / "i2c-motors"
    own.symlink_to("/dev/i2c-1")
    plant = Plant()
    board.start(f'motors = "pca9685"\nmotor_bus = "{own}"\nmotor_channels = [0, 3, 6]\ngpio_chip = "{gpio_chip()}"\n'
                f'power_line = {POWER}\npower_active_low = true\n[motors]\ntype = "field"\n', environment(board))
    found = measured(plant, lambda: board.status().get("enabled"), amplitude=0)
    row("BMI088, nine phases on a separate bus", found, found["bus-1 4"], found.get("bus-1 2", 0), found["bus-1 1"],
        [BUS, MOTORS, SWITCH])
    check(found["bus-1 1"] <= found["periods"] + 5, "at most one motor update per period, for all nine outputs")
    board.end()
    plant.stop()


def handle_and_buffer():
    plant = Plant("icm42688p", "spi", "fifo", "handle")
    buffer_of_icm42688p(Chip("spi-0"))
    board.start('imu = "icm42688p"\nimu_interface = "spi"\nspi_khz = 8000\nimu_fifo = true\nhandle_imu = "mpu6050"\n'
                '[motors]\ntype = "servo"\n', environment(board))
    found = measured(plant, lambda: plant.is_driven)
    allocations = found[f"{BUS} malloc"]
    check(allocations == 0, f"ICM-42688-P with buffer, MPU-6050 on the handle: {allocations} calls of malloc")
    check(found["spi-0 1"] >= 1.9 * found["periods"],
          f"one ioctl reads the buffer's level, one reads the buffer: {found['spi-0 1']} ioctls in {found['periods']} periods")
    board.end()
    plant.stop()


def main():
    if not COUNTER.exists():
        sys.exit(f"{COUNTER} is missing: run `make counter`")
    trace_system_calls()
    for wiring in (shared_bus, spi_and_pwm, motors_apart, handle_and_buffer):
        wiring()
    print(f"\n{'':43}periods  bursts  motor ioctls  pwrites  other ioctls  mallocs")
    for words, *counts in table:
        print(f"  {words:42}" + "".join(f"{count:{width}}" for count, width in zip(counts, (7, 8, 14, 9, 14, 9))))
    board.done()


main()
