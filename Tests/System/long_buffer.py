"""Every sample from the FIFO of an ICM-42688-P over I2C, whose clock is 2 % slow; an AS5600 at each joint, on a separate bus;
servos at /sys/class/pwm. The test checks the closed loop, the estimate of the sensor's clock, and the joint angles against the
simulated gimbal.
"""
# lab: --bluetooth off --own-time
import glob, os, time

from board import Board
from plant import Chip, Plant, buffer_of_icm42688p

IMU, ENCODERS = 0x68, [0xB36, 0xC36, 0xD36]
board = Board([IMU, *ENCODERS])
check, until, comes_on, status = board.check, board.until, board.comes_on, board.status
PWM_CHIP = next(p for p in glob.glob("/sys/class/pwm/pwmchip*") if "airframe-lab" in os.path.realpath(p))


def main():
    buffer_of_icm42688p(Chip(IMU))
    plant = Plant("icm42688p", "fifo", "encoders", "pwm")
    board.start(f'imu = "icm42688p"\nimu_fifo = true\nencoders = "as5600"\nmotors = "pwm"\npwm_chip = "{PWM_CHIP}"\n'
                '[motors]\ntype = "servo"\n')
    comes_on(lambda: plant.is_driven, "sensor and encoders are configured, the outputs are on")
    check(status()["joints"]["source"] == "encoders", "the joint angles come from the encoders")
    board.closes_loop(plant)

    before, began = status()["imu"]["samples"], time.monotonic()
    time.sleep(5)
    imu, took = status()["imu"], time.monotonic() - began
    rate = (imu["samples"] - before) / took
    check(abs(rate - 980) < 30, f"a loop at 100 Hz receives every sample of a chip at 980 Hz: {rate:.0f} per second")
    check(abs(imu["clock_error_ppm"] - 20_000) < 1500, f"the chip's clock is 20,000 ppm slow: airframed has measured {imu['clock_error_ppm']:.0f} ppm")
    check(imu["faults"]["fifo_overflow"] == 0, "no sample was lost")

    joints = status()["joints"]["angle_deg"]
    told = dict(zip(("yaw", "roll", "pitch"), plant.history[-1][6:9]))
    for axis, angle in told.items():
        check(abs(joints[axis] - angle) < 0.5, f"{axis}: the plant is at {angle:.2f} deg, status says {joints[axis]:.2f}")
    Chip(ENCODERS[2]).fail(6)
    until(lambda: not plant.is_driven, "an encoder does not answer: the outputs are switched off")
    board.is_named("encoder_missing")
    Chip(ENCODERS[2]).fail(0)
    comes_on(lambda: plant.is_driven, "the encoder answers again: the outputs are switched on")
    board.end()
    plant.stop()
    board.done()


main()
