"""The Debian package under a real systemd: installed, started in its sandbox without root, killed, hung, upgraded, purged.

Needs `make deb` before, and systemd on the host (the guest has the host's files).
"""
# lab: --bluetooth off
import glob, json, os, subprocess, sys, time
from pathlib import Path

from plant import ACCEL, GYRO, PWM, Plant

UNIT = "airframed.service"
packages = sorted(glob.glob(str(Path(__file__).resolve().parents[2] / ".build/airframe_*.deb")))
if not packages or not Path("/lib/systemd/systemd").exists():
    print(f"SKIPPED: {'no .build/airframe_*.deb, `make deb` makes it' if not packages else 'there is no systemd on this machine'}")
    sys.exit(0)


def sh(*command, check=True):
    done = subprocess.run(command, capture_output=True, text=True)
    if check and done.returncode:
        sys.exit(f"FAIL {' '.join(map(str, command))}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout.strip()


def check(holds, words):
    print(f"  {'ok  ' if holds else 'FAIL'} {words}", flush=True)
    if not holds:
        print(inside("systemctl", "status", UNIT, "--no-pager", "-l", check=False))
        print(inside("journalctl", "-u", UNIT, "--no-pager", "-n", "40", check=False))
        sys.exit(1)


def until(condition, words, seconds=60):
    began = time.monotonic()
    while not condition():
        if time.monotonic() - began > seconds:
            check(False, f"{words}: not within {seconds} s")
        time.sleep(0.05)
    check(True, f"{words}: {time.monotonic() - began:.2f} s")


# ---- the package, before any systemd runs
subprocess.run(["modprobe", "airframe_lab", "bus=1", "chips=" + ",".join(map(hex, (ACCEL, GYRO, PWM)))], check=True)
sh("dpkg", "--force-depends", "-i", packages[-1])
check(os.readlink("/usr/sbin/airframed") == "../bin/airframe", "installed: one program, two names")
check("airframe" in sh("getent", "passwd", "airframe"), "the user is there")
Path("/etc/airframe/conf.d/lab.toml").write_text("""[hardware]
backend = "linux"
[hardware.linux]
imu_self_test = false
[loop]
rate_hz = 100
[imu]
timeout_ms = 250
[control]
find_inertia = false
[motors]
type = "servo"
[servo]
delay_ms = 15
lag_ms = 20
tracker_bandwidth = 15
[bluetooth]
enabled = false
""")
sh("chgrp", "i2c", *glob.glob("/dev/i2c-*"))
sh("chmod", "0660", *glob.glob("/dev/i2c-*"))
plant = Plant()

# ---- systemd, process 1 of a namespace of its own
boot = """mount -t proc proc /proc && mkdir -p /sys/fs/cgroup && (mountpoint -q /sys/fs/cgroup || mount -t cgroup2 cgroup2 /sys/fs/cgroup)
mount -t tmpfs tmpfs /run/lock 2>/dev/null; mkdir -p /run/systemd; exec /lib/systemd/systemd --system --unit=basic.target"""
subprocess.Popen(["unshare", "--fork", "--pid", "--mount", "--kill-child", "sh", "-c", boot],
                 env=os.environ | {"container": "lab"}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
manager = None
began = time.monotonic()
while not manager and time.monotonic() - began < 60:
    manager = next((p.name for p in Path("/proc").iterdir() if p.name.isdigit()
                    and (p / "cmdline").read_bytes().startswith(b"/lib/systemd/systemd\0--system")), None)
    time.sleep(0.2)


def inside(*command, **options):
    return sh("nsenter", "--target", manager, "--pid", "--mount", *command, **options)


def show(name):
    return inside("systemctl", "show", UNIT, "--property", name, "--value", check=False)


until(lambda: inside("systemctl", "is-active", "basic.target", check=False) == "active", "systemd is up", 120)
began = time.monotonic()
inside("systemctl", "start", UNIT)
check(show("ActiveState") == "active", f"started: READY after {time.monotonic() - began:.2f} s")
until(lambda: show("StatusText").startswith("Stabilising"), "and its status line says that it stabilises")
print(f"  STATUS: {show('StatusText')}")


def process():
    """Its number outside of the namespace."""
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and (folder / "cmdline").read_bytes().startswith(b"/usr/sbin/airframed\0"):
            return folder
    return None


pid = process()
fields = dict(line.split(":\t", 1) for line in (pid / "status").read_text().splitlines() if ":\t" in line)
check(fields["Uid"].split()[0] != "0", f"it is no root: uid {fields['Uid'].split()[0]}")
check(fields["CapEff"].strip("0 ") == "" and fields["CapBnd"].strip("0 ") == "", "no capability, and none to be had")
check(fields["Seccomp"] == "2" and fields["NoNewPrivs"] == "1", "system calls are filtered, no new privileges")
policies = {(t / "comm").read_text().strip(): int((t / "stat").read_text().rpartition(")")[2].split()[38]) for t in (pid / "task").iterdir()}
check(policies["airframed-loop"] == 1 and policies["airframed-bus0"] == 1, f"its loop and bus threads are FIFO: {policies}")
check(int(fields["VmLck"].split()[0]) > 10000, f"its memory is locked: {fields['VmLck'].strip()}")
check(plant.is_driven, "and the servos are driven, from the sandbox")
status = json.loads(inside("airframectl", "--json", "status"))
check(status["enabled"], "airframectl, as root: enabled")
print(inside("airframectl", "doctor", check=False))
said = inside("journalctl", "-u", UNIT, "-o", "json", "--no-pager", "AIRFRAME_REASON=estimate_not_converged", check=False)
print(f"  journal: {len(said.splitlines())} entries with AIRFRAME_REASON=estimate_not_converged")

# ---- death
began = time.monotonic()
inside("systemctl", "kill", "--signal", "KILL", UNIT)
until(lambda: not plant.is_driven, "killed: the servos get no more pulses", 10)
until(lambda: show("ActiveState") == "active" and show("NRestarts") == "1", "and it is back", 30)
print(f"  back {time.monotonic() - began:.2f} s after the kill")
until(lambda: plant.is_driven, "and holds the camera again")
inside("systemctl", "kill", "--signal", "STOP", UNIT)
until(lambda: show("NRestarts") == "2" and show("ActiveState") == "active", "stopped in its tracks: the watchdog ends it, and it is back", 60)

# ---- the package again
inside("airframectl", "set", "servo.delay_ms", "16")
inside("airframectl", "save")
inside("dpkg", "--force-depends", "-i", packages[-1])
until(lambda: show("ActiveState") == "active", "upgraded")
check("16" in inside("airframectl", "get", "servo.delay_ms"), "an upgrade keeps the saved tuning")
inside("dpkg", "-r", "airframe")
check(not Path("/usr/bin/airframe").exists() and Path("/etc/airframe/airframed.toml").exists(), "removed, the configuration stays")
until(lambda: not plant.is_driven, "and the servos are off")
inside("dpkg", "--purge", "airframe")
check(not Path("/etc/airframe").exists() and not Path("/var/lib/airframe").exists(), "purged, nothing is left")
plant.stop()
