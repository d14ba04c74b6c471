"""The loop's thread never waits for a bus: with drives on CAN, servos on a serial line and an IIO sensor, it makes no system call
but those with which it sleeps and wakes other threads, and allocates no memory. The counts come from the kernel's histogram.
"""
# lab: --bluetooth off --own-time --mips 500
import signal, subprocess, sys, time

from board import Board
from counting import COUNTER, FUTEX, RESTART, SLEEP, environment, mallocs, system_calls, trace_system_calls
from drives import Drives, bring_up, settings as drive_settings
from drives import build as build_drives
from plant import ACCEL, GYRO, PWM, Plant
from servos import SERVO, Motors, settings as servo_settings
from servos import build as build_servos

LOOP, BUS, MOTORS, SECONDS = "airframed-loop", "airframed-bus0", "airframed-bus1", 5
board = Board([ACCEL, GYRO, PWM])
check, until, comes_on = board.check, board.until, board.comes_on


def counted():
    """System calls and allocations at one instant: airframed is stopped while they are read."""
    board.daemon.send_signal(signal.SIGSTOP)
    time.sleep(0.1)
    counts = system_calls(board), mallocs(board)
    board.daemon.send_signal(signal.SIGCONT)
    return counts


def loop_only_sleeps(words, is_on, bus_calls):
    """`bus_calls`: threads that must make system calls for the buses meanwhile."""
    comes_on(is_on, f"{words}: outputs on")
    time.sleep(2)
    first, allocated = counted()
    time.sleep(SECONDS)
    last, allocations = counted()
    made = {key: count - first.get(key, 0) for key, count in last.items() if count > first.get(key, 0)}
    loop = {call: count for (name, call), count in made.items() if name == LOOP}
    others = {name: sum(count for (thread, call), count in made.items() if thread == name and call not in (FUTEX, SLEEP))
              for name in bus_calls}
    check(sum(loop.values()) > 50 * SECONDS, f"the loop's thread has run: {loop}")
    check(set(loop) <= {FUTEX, SLEEP, RESTART}, f"it only slept and woke others; calls by number: {loop}")
    check(all(count > 100 for count in others.values()), f"the threads of the buses made the calls: {others}")
    check(allocations[LOOP] == allocated[LOOP], f"the loop's thread allocated {allocations[LOOP] - allocated[LOOP]} times")


def can():
    bring_up()
    drives = Drives(build_drives(), "odrive")
    board.start(drive_settings("odrive"), environment(board), rate=500, timeout_ms=100)
    loop_only_sleeps("ODrives on a CAN bus", lambda: drives.are_on, [BUS, MOTORS])
    board.end()
    drives.stop()


def serial():
    servos = Motors(build_servos(), "feetech", count=2)
    until(lambda: servos.line.exists(), "the line exists")
    board.start(servo_settings("feetech", servos.line, count=2), environment(board), rate=250, timeout_ms=100, servo=SERVO.format(rate=250))
    loop_only_sleeps("servos on a serial line", lambda: servos.are_on, [BUS, MOTORS])
    board.end()
    servos.stop()


def kernel_sensor():
    subprocess.run(["modprobe", "airframe_iio", "devices=1"], check=True)
    plant = Plant("iio")
    board.start('imu = "iio"\n[hardware.iio]\nrate_hz = 500\nlow_pass_hz = 90\n[motors]\ntype = "servo"\n', environment(board))
    loop_only_sleeps("a sensor with a kernel driver", lambda: plant.is_driven, [BUS])
    board.end()
    plant.stop()
    subprocess.run(["rmmod", "airframe_iio"], check=True)


def main():
    if not COUNTER.exists():
        sys.exit(f"there is no {COUNTER}: make counter")
    trace_system_calls()
    for wiring in (can, serial, kernel_sensor):
        wiring()
    board.done()


main()
