"""The closed loop over the kernel's IIO: the gyroscope and the accelerometer are one device, which stops, is removed, and
returns."""
# lab: --bluetooth off --own-time --mips 500
from iio import run

run(1)
