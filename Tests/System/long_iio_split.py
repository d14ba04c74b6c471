"""The closed loop over the kernel's IIO: the gyroscope and the accelerometer are two devices with their own clocks. Devices stop,
are removed, and return.
"""
# lab: --bluetooth off --own-time --mips 500
from iio import run

run(2)
