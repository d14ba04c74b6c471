"""airframed installed from the Debian package: a service of a real systemd, in its sandbox."""
import glob, json, subprocess, sys
from pathlib import Path

from board import Board, COMMON

UNIT = "airframed.service"
PACKAGES = sorted(glob.glob(str(Path(__file__).resolve().parents[2] / ".build/airframe_*.deb")))
WATCHDOG_SECONDS = 10
SETTINGS = Path("/etc/airframe/conf.d/lab.toml")


def skip_unless_possible():
    missing = None
    if not PACKAGES:
        missing = "no .build/airframe_*.deb; `make deb` builds it"
    elif Path("/proc/1/comm").read_text() != "systemd\n":
        missing = "process 1 is not systemd"
    if missing:
        print(f"SKIPPED: {missing}")
        sys.exit(0)


def sh(*command, check=True, **options):
    """Runs a command, and returns its standard output. A failure ends the test; if `check` is false, the output includes standard
    error instead."""
    done = subprocess.run([str(word) for word in command], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE if check else subprocess.STDOUT, **options)
    if check and done.returncode:
        sys.exit(f"FAIL {' '.join(map(str, command))}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout.strip()


def show(name):
    """Value of a property of the unit."""
    return sh("systemctl", "show", UNIT, "--property", name, "--value", check=False)


def status_text():
    return show("StatusText")


def is_active():
    return show("ActiveState") == "active"


def journal(*matches):
    """Journal entries of the unit, as dictionaries."""
    lines = sh("journalctl", "-u", UNIT, "-o", "json", "--no-pager", *matches, check=False).splitlines()
    return [json.loads(line) for line in lines if line.startswith("{")]


def make_person(name, *groups):
    """Creates a user who is a member of `groups`."""
    sh("useradd", "--no-create-home", *(["--groups", ",".join(groups)] if groups else []), name)


def asks(user, *arguments):
    """Runs airframectl as a user; returns its exit status and output."""
    done = subprocess.run(["runuser", "-u", user, "--", "/usr/bin/airframectl", *arguments], capture_output=True, text=True)
    return done.returncode, (done.stdout + done.stderr).strip()


def newer_package(version):
    """Builds a copy of the package with a newer version number; returns its path."""
    folder = Path("/run/lab/package")
    sh("dpkg-deb", "-R", PACKAGES[-1], folder)
    control = folder / "DEBIAN/control"
    control.write_text("".join(f"Version: {version}\n" if line.startswith("Version:") else line
                               for line in control.read_text().splitlines(keepends=True)))
    sh("dpkg-deb", "--build", "-Znone", folder, "/run/lab/newer.deb")
    return "/run/lab/newer.deb"


class Service(Board):
    """The service with the virtual chips of the test machine. A failed check prints the unit's status and journal."""

    def __init__(self, chips):
        super().__init__(chips)
        self.control = ["/usr/bin/airframectl"]

    def check(self, holds, words):
        self.count += 1
        print(f"  {'ok  ' if holds else 'FAIL'} {words}", flush=True)
        if not holds:
            print(sh("systemctl", "status", UNIT, "--no-pager", "-l", check=False))
            print(sh("journalctl", "-b", "--no-pager", "-n", "60", "-u", UNIT, check=False))
            sys.exit(1)

    def names(self, kind="inhibitions"):
        """Names of conditions or notices; empty if the service does not answer."""
        return {condition["name"] for condition in self.status().get(kind, [])}

    def install(self):
        # Removes the file with which containers prevent the start of services, and the file that starts the slow indexing of man
        # pages.
        for stop in ("/usr/sbin/policy-rc.d", "/var/lib/man-db/auto-update"):
            Path(stop).unlink(missing_ok=True)
        print(sh("dpkg", "-i", PACKAGES[-1], check=False), flush=True)
        bus = Path("/dev/i2c-1")
        self.until(lambda: bus.group() == "i2c" and bus.stat().st_mode & 0o777 == 0o660, "the package is installed; udev has assigned the bus to group i2c")

    def start(self, hardware="", tables=""):
        """Starts the unit, with these lines below [hardware.linux] and these tables, and returns how long it took to be
        ready, s."""
        # The emulated machine stalls for seconds if its host is busy.
        drop_in = Path(f"/run/systemd/system/{UNIT}.d/lab.conf")
        drop_in.parent.mkdir(parents=True, exist_ok=True)
        drop_in.write_text(f"[Service]\nWatchdogSec={WATCHDOG_SECONDS}\n")
        sh("systemctl", "daemon-reload")
        SETTINGS.write_text(f'[hardware]\nbackend = "linux"\n[hardware.linux]\nimu_self_test = false\n{hardware}{tables}'
                            + '[motors]\ntype = "servo"\n' + COMMON.replace("lock_memory = false\n", ""))
        sh("systemctl", "restart", UNIT, check=False)
        self.check(is_active(), "the service starts")
        return self.ready_seconds

    @property
    def ready_seconds(self):
        """Time from the start of the main process to READY, by systemd's timestamps, s."""
        return (int(show("ActiveEnterTimestampMonotonic")) - int(show("ExecMainStartTimestampMonotonic"))) / 1e6

    @property
    def process(self):
        return Path("/proc", show("MainPID"))
