"""The simulated servos and motor board of servos.cpp, and the serial line to airframed."""
import subprocess, tempfile, threading
from pathlib import Path

from plant import DEBUGFS

HERE = Path(__file__).resolve().parent
KINDS = ("feetech", "dynamixel", "dynamixel-current", "board")
# Kinds whose motors turn the joints of drives.c by torque.
TORQUE_KINDS = ("dynamixel-current", "board")


def settings(kind, line, count=3, rate=250):
    """Settings of airframed: lines below [hardware.linux], then other tables."""
    common = f'motor_port = "{line}"\nencoders = "drives"\n'
    supply = "[supply]\nlow_v = 7.0\nempty_v = 6.4\n"
    if kind == "board":
        return (f'motors = "board"\nmotor_baud = 921600\n{common}[motors]\ntype = "torque"\n'
                f'torque_limit_nm = [0.3, 0.3, 0.3]\n{supply}')
    if kind == "dynamixel-current":
        # DYNAMIXEL XL330-M288: 0.52 N·m at 1.47 A, steps of 1 mA (ROBOTIS e-Manual).
        return (f'motors = "bus_servo"\nservo_protocol = "dynamixel2"\nmotor_baud = 1000000\nservo_id = [1, 2, 3]\n'
                f'servo_nm_per_a = 0.354\nservo_current_step_ma = 1\nencoder_zero_deg = [180, 180, 180]\n{common}'
                f'[motors]\ntype = "torque"\ntorque_limit_nm = [0.3, 0.3, 0.3]\n{supply}')
    protocol = "feetech" if kind == "feetech" else "dynamixel2"
    ids = "[1, 2, 3]" if count == 3 else "[1, -1, 2]"
    roll = "[-60, 60]" if count == 3 else "[-1, 1]"
    return (f'motors = "bus_servo"\nservo_protocol = "{protocol}"\nmotor_baud = 1000000\nservo_id = {ids}\n'
            f'encoder_zero_deg = [180, 180, 180]\n{common}[motors]\ntype = "servo"\n{supply}'
            f'[joints]\nrange_deg = [[-120, 120], {roll}, [-100, 100]]\n[retract]\njoints_deg = [0, 0, -60]\n')


# Properties of the simulated servo in servos.cpp; its delay is one exchange on the line.
SERVO = "frame_hz = {rate}\ndelay_ms = 5\nlag_ms = 20\nmax_rate_dps = [340, 340, 340]\ndead_band_deg = 0.05\n"


def build():
    program = Path(tempfile.mkdtemp()) / "servos"
    models = HERE.parent / "MotorModels"
    subprocess.run(["g++", "-O2", "-I", models / "include", "-I", HERE.parent.parent / "etc/boards/firmware", "-o", program,
                    HERE / "servos.cpp", models / "MotorModels.cpp"], check=True)
    return program


class Motors:
    """The running simulation. `history` holds rows (time, motors that are on, handle roll and pitch, camera yaw, roll and pitch,
    joints yaw, roll and pitch in degrees, requests, bytes received and sent, times of the fault and of the last motor off in
    ns)."""

    def __init__(self, program, kind, count=3, memory=None):
        self.line = Path(tempfile.mkdtemp()) / "line"
        self.count = count
        words = (["torque", self.line, kind.split("-")[0], memory] if kind in TORQUE_KINDS
                 else ["head", self.line, kind, str(count), DEBUGFS])
        self.process = subprocess.Popen([program, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        self.history = []
        threading.Thread(target=self.follow, daemon=True).start()

    def follow(self):
        for line in self.process.stdout:
            self.history.append(tuple(float(word) for word in line.split()))

    def tell(self, words):
        self.process.stdin.write(words + "\n")

    @property
    def last(self):
        return self.history[-1] if self.history else (0,) * 15

    @property
    def are_on(self):
        return self.last[1] == self.count

    @property
    def are_off(self):
        return bool(self.history) and self.last[1] == 0

    @property
    def reaction_ms(self):
        """Time from the fault until the last motor is off, ms."""
        return (self.last[14] - self.last[13]) * 1e-6

    def stop(self):
        self.process.stdin.close()
        self.process.wait(10)
