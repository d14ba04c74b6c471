"""The gimbal of plant.c, and the chips of the lab's kernel module that it stands behind."""
import subprocess, tempfile, threading
from pathlib import Path

DEBUGFS = Path("/sys/kernel/debug/airframe_lab")
ACCEL, GYRO, PWM = 0x18, 0x68, 0x40


class Chip:
    """A register file of the module."""

    def __init__(self, address):
        self.folder = DEBUGFS / f"i2c-{address:#04x}"
        self.file = open(self.folder / "regs", "r+b", buffering=0)

    def read(self, register, count=1):
        self.file.seek(register)
        return self.file.read(count)

    def write(self, register, data):
        self.file.seek(register)
        self.file.write(bytes(data))

    def fail(self, errno, count=0):
        """Transfers fail with this errno from now on, or so many of them; 0 ends it."""
        (self.folder / "fail_count").write_text(str(count))
        (self.folder / "fail").write_text(str(errno))


def pwm_channel(number):
    """A channel of the PWM chip: on, period and duty (ns), how often it was changed."""
    words = (DEBUGFS / "pwm").read_text().split("\n")[number].split()
    return words[0] == "1", int(words[2]), int(words[3]), int(words[4])


def gpio_chip():
    """The device file of the lab's GPIO chip."""
    listing = subprocess.run(["gpiodetect"], capture_output=True, text=True, check=True).stdout
    return "/dev/" + next(line.split()[0] for line in listing.splitlines() if "airframe-lab" in line)


def gpio_line(number):
    """A GPIO line: level, whether it is driven, whether somebody has taken it."""
    with open(DEBUGFS / "gpio", "rb", buffering=0) as lines:
        byte = lines.read()[number]
    return byte & 1, bool(byte & 2), bool(byte & 4)


class Plant:
    """The running plant. `history` holds rows (time, driven, handle roll, pitch, camera roll, pitch), degrees."""

    def __init__(self, frame_hz=333.49, layout="bmi088", pwm=False):
        source, program = Path(__file__).with_name("plant.c"), Path(tempfile.mkdtemp()) / "plant"
        subprocess.run(["gcc", "-O2", "-o", program, source, "-lm"], check=True)
        words = [program, DEBUGFS, str(frame_hz), layout, *(["pwm"] if pwm else [])]
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, bufsize=1)
        self.history = []
        threading.Thread(target=self.follow, daemon=True).start()

    def follow(self):
        for line in self.process.stdout:
            self.history.append(tuple(float(word) for word in line.split()))

    def tell(self, words):
        self.process.stdin.write(words + "\n")

    @property
    def is_driven(self):
        """Whether the servos get pulses."""
        return bool(self.history) and self.history[-1][1] == 1

    def stop(self):
        self.process.stdin.close()
        self.process.wait(5)
