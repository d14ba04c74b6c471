"""What the system tests share: airframed and airframectl in the laboratory, steps with times, the AirOS service's UUIDs."""
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
    """Prints what was done, with the time since the start and since the last step."""
    global _last
    now = time.monotonic()
    print(f"{now - _began:7.2f} s (+{now - _last:.2f})  {text}", flush=True)
    _last = now


def wait(condition, seconds=60, every=0.05, what="it"):
    """Waits until condition() is true, and returns what it returned. The machine is emulated: where its host is busy it is
    fifty times slower than where it is quiet, so a limit only says that something hangs."""
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
            # The emulated machine stalls for tens of milliseconds; that is no fault here.
            "imu.timeout_ms=250", "control.find_inertia=false", *settings)]
        self.process = subprocess.Popen([BIN / "airframed", *arguments], stdout=self.log, stderr=self.log)

    def ctl(self, *arguments, check=True):
        """airframectl's answer as JSON."""
        p = subprocess.run([BIN / "airframectl", "--socket", SOCKET, "--json", *arguments],
                           capture_output=True, text=True)
        if check and p.returncode not in (0, 2):
            sys.exit(f"airframectl {arguments}: {p.returncode} {p.stdout} {p.stderr}\n{self.tail()}")
        return json.loads(p.stdout) if p.stdout else None

    def text(self, *arguments):
        """airframectl's answer for people."""
        p = subprocess.run([BIN / "airframectl", "--socket", SOCKET, *arguments], capture_output=True, text=True)
        return p.stdout + p.stderr

    def ask(self, method, **params):
        """An answer from the diagnostics socket; None while nobody answers. Starting airframectl takes long here."""
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
        """Waits until the radio is in this state."""
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
    """bluetoothd, to be killed and started."""
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
        """rfkill, as a switch for flight mode does it."""
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
    """Connects like an app, which tries again when a connection does not come to life: bluetoothd loses one now and then
    that begins while it still ends another."""
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
    """UUID → handle of everything below our two services."""
    return {(s["uuid"], c["uuid"]): c["handle"] for s in phone.services() if s["uuid"] in (AIROS, RBL)
            for c in s["characteristics"]}
