"""Shared code of the system tests: airframed and airframectl in the test machine, timed steps, the AirOS service's UUIDs."""
import json, os, signal, socket, subprocess, sys, time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "Lab"))
from phone import Client, PhoneError      # noqa: E402,F401

BIN = Path(os.environ.get("BIN", Path(__file__).resolve().parents[2] / ".build/release"))
RUN = Path("/run/lab/airframe")
SOCKET = RUN / "airframed.sock"
NAME = "AirOS Gimbal"
PHONE = "C0:1A:B0:00:00:02"
AIROS = "4fafc201-1fb5-459e-8fcc-c5c9c331914b"
PITCH = "a1e8f36e-685b-4869-9828-c107a6729938"
MODE = "2a79d494-436f-45b6-890f-563534ab2c84"
CONTROL = "f7a7a5a8-5e58-4c8d-9b6e-3aa5d6c5b768"
RBL = "713d0000-503e-4c75-ba94-3148f18d941e"

_began = _last = time.monotonic()


def step(text):
    """Prints a completed step, with the time since the start and since the previous step."""
    global _last
    now = time.monotonic()
    print(f"{now - _began:7.2f} s (+{now - _last:.2f})  {text}", flush=True)
    _last = now


def wait(condition, seconds=60, every=0.05, what="it"):
    """Waits until condition() returns a true value, and returns the value. The machine is emulated, and up to fifty
    times slower on a busy host, so the time limit only detects a hang."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            sys.exit(f"still waiting for {what} after {seconds} s")
        time.sleep(every)


class Gimbal:
    """airframed with the simulated gimbal."""

    def __init__(self, *settings):
        RUN.mkdir(parents=True, exist_ok=True)
        self.lines = None
        self.log = open(RUN / "log", "a+")
        arguments = [f"--set={s}" for s in (
            f"diagnostics.socket={SOCKET}", f"persistence.directory={RUN}/state", "loop.rate_hz=200",
            "hardware.simulation.motion=still", "loop.lock_memory=false",
            # The emulated machine stalls for tens of milliseconds; these tests do not treat the stalls as faults.
            "imu.timeout_ms=250", "control.find_inertia=false", *settings)]
        self.process = subprocess.Popen([BIN / "airframed", *arguments], stdout=self.log, stderr=self.log)

    def ctl(self, *arguments, check=True):
        """JSON output of airframectl, parsed."""
        p = subprocess.run([BIN / "airframectl", "--socket", SOCKET, "--json", *arguments],
                           capture_output=True, text=True)
        if check and p.returncode not in (0, 2):
            sys.exit(f"airframectl {arguments}: {p.returncode} {p.stdout} {p.stderr}\n{self.tail()}")
        return json.loads(p.stdout) if p.stdout else None

    def text(self, *arguments):
        """Text output of airframectl."""
        p = subprocess.run([BIN / "airframectl", "--socket", SOCKET, *arguments], capture_output=True, text=True)
        return p.stdout + p.stderr

    def ask(self, method, **params):
        """Reply from the diagnostics socket, or None without a reply. This is faster than to start airframectl."""
        for _ in range(2):
            try:
                if not self.lines:
                    connection = socket.socket(socket.AF_UNIX)
                    connection.connect(str(SOCKET))
                    self.lines = connection.makefile("rw")
                self.lines.write(json.dumps({"id": 1, "method": method, "params": params}) + "\n")
                self.lines.flush()
                return json.loads(self.lines.readline())["result"]
            except (OSError, ValueError):
                self.lines = None
        return None

    def status(self):
        return self.ask("status")

    def radio(self):
        return self.ask("pair") or {"state": "", "centrals": []}

    def wait_radio(self, state, seconds=60):
        """Waits until airframed reports this state of the Bluetooth link."""
        try:
            return wait(lambda: (r := self.radio())["state"] == state and r, seconds, 0.02, f"radio {state}")
        except SystemExit:
            sys.exit(f"the radio is not {state!r} after {seconds} s: {self.radio()}\n{self.tail()}")

    def tail(self, lines=40):
        return "\n".join((RUN / "log").read_text().splitlines()[-lines:])

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def memory_kb(self):
        return int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]) * 4

    def stop(self):
        began = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(60)
        assert status == 0, f"airframed ended with {status}\n{self.tail()}"
        return time.monotonic() - began


class BlueZ:
    """A bluetoothd that tests can kill and start."""
    PID = Path("/run/lab/bluetoothd.pid")

    def command(self):
        for candidate in ("/usr/libexec/bluetooth/bluetoothd", "/usr/lib/bluetooth/bluetoothd"):
            if os.path.exists(candidate):
                return [candidate, "-n", "--experimental"]
        sys.exit("no bluetoothd")

    def kill(self):
        pid = int(self.PID.read_text())
        os.kill(pid, signal.SIGKILL)
        wait(lambda: not os.path.exists(f"/proc/{pid}/exe") or self._is_zombie(pid), what="the end of bluetoothd")

    def _is_zombie(self, pid):
        try:
            return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
        except OSError:
            return True

    def start(self):
        log = open("/run/lab/bluetoothd.log", "a")
        self.process = subprocess.Popen(self.command(), stdout=log, stderr=log)
        self.PID.write_text(str(self.process.pid))

    def powered(self, is_on):
        subprocess.run(["bluetoothctl", "power", "on" if is_on else "off"], stdout=subprocess.DEVNULL, check=True,
                       timeout=60)

    def blocked(self, is_on):
        """Blocks or unblocks Bluetooth with rfkill, like a switch for flight mode."""
        switches = [p for p in Path("/sys/class/rfkill").glob("*") if (p / "type").read_text().strip() == "bluetooth"]
        assert switches, "the kernel has no rfkill switch for Bluetooth"
        for switch in switches:
            (switch / "soft").write_text("1" if is_on else "0")

    def end_bus(self):
        """Ends D-Bus, and bluetoothd with it."""
        for name in os.listdir("/proc"):
            try:
                if name.isdigit() and Path(f"/proc/{name}/comm").read_text().strip() == "dbus-daemon":
                    os.kill(int(name), signal.SIGKILL)
            except OSError:
                pass
        self.kill()
        if os.path.exists("/run/dbus/system_bus_socket"):
            os.unlink("/run/dbus/system_bus_socket")

    def start_bus(self):
        subprocess.run(["dbus-daemon", "--system", "--fork", "--nopidfile"], check=True)
        self.start()


def connect(phone, service=AIROS, **more):
    """Connects like an app, and retries after a failure: bluetoothd sometimes loses a connection that begins while another
    one ends."""
    for attempt in range(3):
        try:
            return phone.connect(service=service, mtu=185, **more)
        except PhoneError as e:
            print(f"           attempt {attempt + 1}: {e}", flush=True)
            if phone.status()["connected"]:
                phone.disconnect()
            time.sleep(1)
    sys.exit("no connection")


def handles(phone):
    """Handles of all characteristics of the two services of airframed: UUID → handle."""
    return {(s["uuid"], c["uuid"]): c["handle"] for s in phone.services() if s["uuid"] in (AIROS, RBL)
            for c in s["characteristics"]}
