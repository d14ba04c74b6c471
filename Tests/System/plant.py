"""The simulated gimbal of plant.c, and the virtual chips (kernel module airframe_lab) that connect it to airframed."""
import struct, subprocess, tempfile, threading
from pathlib import Path

DEBUGFS = Path("/sys/kernel/debug/airframe_lab")
ACCEL, GYRO, PWM = 0x18, 0x68, 0x40


def set_in(place, **values):
    """Writes to files of the kernel module for a chip, a chip select or a bus."""
    for name, value in values.items():
        (DEBUGFS / place / name).write_text(str(value))


class Chip:
    """A chip of the kernel module: at an I2C address, whose upper byte is the bus if not the first, or at a chip select
    ("spi-0")."""

    def __init__(self, place):
        self.folder = DEBUGFS / (place if isinstance(place, str) else f"i2c-{place:#04x}")
        self.file = open(self.folder / "regs", "r+b", buffering=0)

    def read(self, register, count=1):
        self.file.seek(register)
        return self.file.read(count)

    def write(self, register, data):
        self.file.seek(register)
        self.file.write(bytes(data))

    def fail(self, errno, count=0):
        """Makes all transfers fail with this errno, or the next `count` transfers; errno 0 ends the fault."""
        self.set(fail_count=count)
        self.set(fail=errno)

    def set(self, **values):
        """Writes to the chip's files."""
        set_in(self.folder.name, **values)


def buffer_of_icm42688p(chip):
    """Gives the chip the sensor's FIFO: 2 kB at FIFO_DATA."""
    chip.set(fifo_data=0x30, fifo_level=0x2E, fifo_flush=0x4B, fifo_size=2048)


def pwm_channel(number):
    """State of a channel of the PWM chip: on, period and duty (ns), number of changes."""
    words = (DEBUGFS / "pwm").read_text().split("\n")[number].split()
    return words[0] == "1", int(words[2]), int(words[3]), int(words[4])


def gpio_chip():
    """The device file of the virtual GPIO chip."""
    listing = subprocess.run(["gpiodetect"], capture_output=True, text=True, check=True).stdout
    return "/dev/" + next(line.split()[0] for line in listing.splitlines() if "airframe-lab" in line)


def gpio_trace():
    """Each change of GPIO outputs since `gpio_trace_clear`: (time of CLOCK_MONOTONIC in ns, levels, a bit for each line)."""
    return list(struct.iter_unpack("<QQ", (DEBUGFS / "gpio_trace").read_bytes()))


def gpio_trace_clear():
    (DEBUGFS / "gpio_trace").write_text("0")


def calls(place):
    """Transfers of a bus ("bus-1") or a chip select ("spi-0"): number of messages → number of transfers."""
    return {int(n): int(count) for n, count in map(str.split, (DEBUGFS / place / "calls").read_text().splitlines())}


def gpio_line(number):
    """State of a GPIO line: level, whether it is driven, whether a process has requested it."""
    with open(DEBUGFS / "gpio", "rb", buffering=0) as lines:
        byte = lines.read()[number]
    return byte & 1, bool(byte & 2), bool(byte & 4)


def gpio_set(number, level):
    """Sets the level of an input line."""
    with open(DEBUGFS / "gpio", "r+b", buffering=0) as lines:
        lines.seek(number)
        lines.write(bytes([level]))


def iio_set(**values):
    """Writes to the files of the virtual IIO devices."""
    for name, value in values.items():
        Path("/sys/kernel/debug/airframe_iio", name).write_text(str(value))


def iio_pushed():
    """Number of measurements that the virtual IIO devices have made."""
    return int(Path("/sys/kernel/debug/airframe_iio/pushed").read_text())


class Plant:
    """The running simulation of the gimbal with this sensor; the head of plant.c explains `words`. `history` holds rows (time,
    driven, handle roll, pitch, camera roll, pitch, joints yaw, roll, pitch), degrees."""

    def __init__(self, sensor="bmi088", *words, frame_hz=333.49):
        source, program = Path(__file__).with_name("plant.c"), Path(tempfile.mkdtemp()) / "plant"
        subprocess.run(["gcc", "-O2", "-o", program, source, "-lm"], check=True)
        self.process = subprocess.Popen([program, DEBUGFS, str(frame_hz), sensor, *words], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True, bufsize=1)
        self.history = []
        threading.Thread(target=self.follow, daemon=True).start()

    def follow(self):
        for line in self.process.stdout:
            self.history.append(tuple(float(word) for word in line.split()))

    def tell(self, words):
        self.process.stdin.write(words + "\n")

    @property
    def is_driven(self):
        """Whether the servos receive pulses."""
        return bool(self.history) and self.history[-1][1] == 1

    def stop(self):
        self.process.stdin.close()
        self.process.wait(5)
