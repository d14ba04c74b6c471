"""Starts airframed with the virtual chips of the test machine, and checks its behaviour. Each check prints a line; the
first failed check ends the test.
"""
import json, os, signal, socket, subprocess, sys, tempfile, time
from pathlib import Path

from stalls import METER, TOO_LONG, judged

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(os.environ.get("BIN", Path(__file__).resolve().parents[2] / ".build/release"))
# Settings that suit the speed of the emulated machine, and the servos of the simulated gimbal (plant.c).
COMMON = """
[loop]
rate_hz = 100
lock_memory = false
[control]
find_inertia = false
[servo]
delay_ms = 15
lag_ms = 20
tracker_bandwidth = 28
"""


def rms(values):
    """RMS deviation from the mean."""
    values = list(values)
    mean = sum(values) / len(values)
    return (sum((v - mean) ** 2 for v in values) / len(values)) ** 0.5


class Board:
    def __init__(self, chips):
        """Loads the kernel module airframe_lab with chips at these I2C addresses; the upper byte of an address is the bus, if not
        the first."""
        subprocess.run(["modprobe", "airframe_lab", "bus=1", "chips=" + ",".join(map(hex, chips))], check=True)
        self.folder = Path(tempfile.mkdtemp())
        self.socket = self.folder / "airframed.sock"
        self.control = [BIN / "airframectl", "--socket", self.socket]
        self.count, self.daemon = 0, None

    # ---- the program

    def start(self, hardware, environment={}, timeout_ms=250, rate=100, user=None, servo=""):
        """`hardware`: lines below [hardware.linux], optionally with further tables. `servo`: replaces the lines below [servo].
        `timeout_ms`: must exceed the occasional stalls of the virtual machine, which last tens of ms without --own-time."""
        common = COMMON.replace("rate_hz = 100", f"rate_hz = {rate}")
        if servo:
            common = common[:common.index("[servo]")] + "[servo]\n" + servo
        self.run(f'[hardware]\nbackend = "linux"\n[hardware.linux]\nimu_self_test = false\n{hardware}{common}[imu]\ntimeout_ms = {timeout_ms}\n',
                 environment, user)

    def start_profile(self, name, **connections):
        """Starts airframed with a profile of etc/boards and these values in [hardware.linux]. The machine has neither a power
        switch for the motors nor a sensor with a self-test, and cannot lock its memory."""
        lines = (ROOT / f"etc/boards/{name}.toml").read_text().splitlines()
        kept = [line for line in lines if not line.startswith(("gpio_chip", "power_line", *connections))]
        text = "\n".join(kept) + "\n"
        others = "".join(f'{key} = "{value}"\n' for key, value in connections.items())
        text = text.replace("[hardware.linux]\n", f"[hardware.linux]\n{others}imu_self_test = false\n")
        self.run(text.replace("[loop]\n", "[loop]\nlock_memory = false\n") + "[imu]\ntimeout_ms = 100\n")

    def run(self, settings, environment={}, user=None):
        """Starts airframed with these settings, and with its files in the folder of the test."""
        file = self.folder / "airframed.toml"
        file.write_text(settings + f'[diagnostics]\nsocket = "{self.socket}"\n[persistence]\ndirectory = "{self.folder}/state"\n')
        (self.folder / "state").mkdir(exist_ok=True)
        self.socket.unlink(missing_ok=True)
        with open(self.folder / "log", "a") as log:
            self.daemon = subprocess.Popen([BIN / "airframed", "--config", file], stdout=log, stderr=log,
                                           env=os.environ | environment, user=user)
        self.until(self.socket.exists, "airframed answers")

    def end(self):
        began = time.monotonic()
        self.daemon.send_signal(signal.SIGTERM)
        self.check(self.daemon.wait(60) == 0, f"SIGTERM ends airframed: {time.monotonic() - began:.2f} s")

    def ctl(self, *arguments):
        done = subprocess.run([*self.control, "--json", *arguments], capture_output=True, text=True)
        return json.loads(done.stdout) if done.stdout else {"error": done.stderr}

    def ask(self, method, **params):
        """Sends a request on the socket; returns the time of the request, ns. Unlike `ctl`, this method does not start a
        program."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
            client.connect(str(self.socket))
            asked = time.monotonic_ns()
            client.sendall(json.dumps({"id": 1, "method": method, "params": params}).encode() + b"\n")
            answer = client.makefile().readline()
        if '"error"' in answer:
            self.check(False, f"{method}: {answer}")
        return asked

    def status(self):
        return self.ctl("status")

    def noticed(self, name, begin, seconds=5):
        """Waits until the present conditions contain `name` after `begin()` was called; returns the time until the client has the
        message, ms. A subscription answers faster than `status`, which the emulated machine needs tens of milliseconds to write."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
            client.connect(str(self.socket))
            client.settimeout(seconds)
            client.sendall(b'{"id":1,"method":"subscribe","params":{"names":["conditions"],"rate":200}}\n')
            messages = client.makefile()
            messages.readline()
            began = time.monotonic_ns()
            begin()
            while time.monotonic_ns() - began < seconds * 1e9:
                if name in messages.readline():
                    return (time.monotonic_ns() - began) * 1e-6
        self.check(False, f"{name} is not among the conditions")

    def names(self, kind="inhibitions"):
        """Names of the conditions that keep the outputs off, or of the notices."""
        return {c["name"] for c in self.status()[kind]}

    # ---- checks

    def check(self, holds, words):
        self.count += 1
        print(f"  {'ok  ' if holds else 'FAIL'} {words}", flush=True)
        if not holds:
            print(json.dumps(self.status(), indent=1)[:7000])
            print((self.folder / "log").read_text()[-3000:])
            sys.exit(1)

    def until(self, condition, words, seconds=60, every=0.02):
        """Waits until the condition is true. The machine is emulated and slow, so the time limit only detects a hang."""
        began = time.monotonic()
        while time.monotonic() - began < seconds:
            if condition():
                return self.check(True, f"{words}: {time.monotonic() - began:.2f} s")
            time.sleep(every)
        self.check(False, f"{words}: not within {seconds} s")

    def is_named(self, *conditions):
        """Waits until one of these conditions keeps the outputs off. `status` is some milliseconds old, so it changes after the
        motors."""
        self.until(lambda: self.names().intersection(conditions), f"status lists one of the conditions {', '.join(conditions)}")

    def comes_on(self, condition, words):
        """Waits until the outputs are on. If the machine stalls, the gimbal's simulation and airframed are out of step. The
        effect can resemble motors with a wrong sign: then airframed latches a fault, and this method resets the fault."""
        began = time.monotonic()
        while not condition() and time.monotonic() - began < 120:
            time.sleep(1)
            if METER.longest > TOO_LONG and "response_reversed" in self.names():
                print(f"  repeated: the virtual machine stalled for {METER.take() * 1000:.0f} ms, and airframed reported response_reversed", flush=True)
                self.start_motors()
        self.check(condition(), f"{words}: {time.monotonic() - began:.0f} s")

    def closes_loop(self, plant):
        """Checks that the camera moves less than a third of the handle's motion."""
        plant.tell("amplitude 10")
        time.sleep(5)

        def swings():
            first = len(plant.history)
            time.sleep(15)
            rows = plant.history[first:]
            pairs = [(name, rms(r[column] for r in rows), rms(r[column + 2] for r in rows))
                     for column, name in ((2, "roll"), (3, "pitch"))]
            return (all(camera < handle / 3 for _, handle, camera in pairs),
                    ", ".join(f"{name}: handle {handle:.2f} deg RMS, camera {camera:.2f} deg RMS" for name, handle, camera in pairs))

        holds, words = judged(swings, self.start_motors)
        if holds is None:
            print(f"  {words}", flush=True)
        else:
            self.check(holds, words)
        plant.tell("amplitude 0")
        time.sleep(1)

    def start_motors(self):
        """Resets a latched fault, and starts the motors."""
        self.ctl("stop", "--reset")
        self.ctl("mode", "locked")
        time.sleep(5)

    def done(self):
        print(f"  {self.count} checks", flush=True)
