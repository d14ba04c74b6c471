"""The unit airframe-shot@.service with a real systemd: a time-lapse that is killed at several instants continues without a lost or a double
photo; a complete shot does not begin again; an enabled shot starts at boot; a wrong file ends without a restart."""
# lab: --bluetooth off --init systemd --own-time
import json, os, subprocess, sys, time
from pathlib import Path

from gimbal import BIN, step

ROOT = Path(__file__).resolve().parents[2]
PREFIX = "/usr/local"
UNITS = Path("/run/systemd/system")
SHOTS, STATES = Path("/etc/airframe/shots"), Path("/var/lib/airframe-shot")
# Number of photos of the time-lapse, and the time between them, s.
PHOTOS, INTERVAL = 8, 3
# The camera of the test: it lists each exposure, and each exposure of a photo that exists already.
CAMERA = """#!/bin/sh
echo "$1" >> begun
[ -e "photo-$1.jpg" ] && echo "$1" >> doubled
sleep 0.6
date +%s.%N > "$2"
"""
RECIPE = """[timelapse]
photos = {photos}
interval_s = {interval}
[[frame]]
yaw = 0
[[frame]]
yaw = 10
[still]
error_deg = 1
rate_dps = 5
seconds = 0.2
[shutter]
kind = "command"
command = ["/usr/local/bin/lab-camera", "{{number}}", "{{file}}"]
file = "photo-{{number}}.jpg"
"""


def run(*command, check=True):
    done = subprocess.run([str(word) for word in command], text=True, capture_output=True)
    if check and done.returncode:
        fail(f"{' '.join(map(str, command))}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout.strip()


def fail(sentence):
    for name in ("airframed.service", "airframe-shot@*"):
        print(run("journalctl", "-u", name, "-n", "60", "--no-pager", "-o", "short-monotonic", check=False))
    sys.exit(f"FAILED: {sentence}")


def check(holds, words, *facts):
    if not holds:
        fail("\n".join([words, *map(str, facts)]))
    step(words)


def until(what, is_met, seconds=90, every=1):
    """Waits until is_met() returns true. A call of systemctl takes a large part of a second on the emulated machine."""
    end = time.monotonic() + seconds
    while not is_met():
        if time.monotonic() > end:
            fail(f"after {seconds} s still waiting for {what}")
        time.sleep(every)


def unit(name):
    return f"airframe-shot@{name}.service"


def show(name, *properties):
    """Values of the unit's properties; a single value for one property."""
    text = run("systemctl", "show", unit(name), "--property", ",".join(properties))
    found = dict(line.split("=", 1) for line in text.splitlines())
    return [found[p] for p in properties] if len(properties) > 1 else found[properties[0]]


def journal(name):
    return run("journalctl", "-u", unit(name), "--no-pager", "-o", "cat")


def lines(name, what):
    file = STATES / name / what
    return file.read_text().split() if file.exists() else []


def photos(name):
    return sorted(p.name for p in (STATES / name).glob("photo-*.jpg"))


def write(name, count=PHOTOS, interval=INTERVAL):
    (SHOTS / f"{name}.toml").write_text(RECIPE.format(photos=count, interval=interval))


if Path("/proc/1/comm").read_text() != "systemd\n":
    sys.exit("process 1 is not systemd")
run("systemd-sysusers", ROOT / "systemd/airframe.sysusers")
for folder in (f"{PREFIX}/sbin", f"{PREFIX}/bin", SHOTS, UNITS / "airframed.service.d"):
    Path(folder).mkdir(parents=True, exist_ok=True)
for program in ("sbin/airframed", "bin/airframectl"):
    Path(PREFIX, program).symlink_to(BIN / Path(program).name)
for name in ("airframed.service", "airframe-shot@.service"):
    Path(UNITS, name).write_text((ROOT / "systemd" / name).read_text().replace("@PREFIX@", PREFIX))
# The emulated machine is slow, and the programs of a debug build are large.
(UNITS / "airframed.service.d/lab.conf").write_text("[Service]\nWatchdogSec=60\nTimeoutStartSec=120\nMemoryMax=infinity\n")
Path("/etc/airframe/airframed.toml").write_text(
    '[hardware]\nbackend = "simulated"\n[hardware.simulation]\nmotion = "still"\n[loop]\nlock_memory = false\nrate_hz = 100\n'
    '[imu]\ntimeout_ms = 1000\n[control]\nfind_inertia = false\n[mode]\nboot = "locked"\n')
camera = Path("/usr/local/bin/lab-camera")
camera.write_text(CAMERA)
camera.chmod(0o755)
run("systemctl", "daemon-reload")
done = subprocess.run(["systemd-analyze", "verify", unit("sunset")], capture_output=True, text=True)
about = [line for line in done.stderr.splitlines() if "airframe" in line]
check(done.returncode == 0 and not about, "systemd-analyze verify has no objection to the unit", done.stdout, done.stderr)

# Kills while the camera exposes, and between two photos.
write("sunset")
run("systemctl", "enable", "--now", "airframed.service")
run("systemctl", "start", unit("sunset"))
kills = 0
for number, pause in ((2, 0.3), (4, 1.6), (6, 0.7)):
    until(f"exposure {number}", lambda: f"{number:05}" in lines("sunset", "begun"), every=0.05)
    time.sleep(pause)
    run("systemctl", "kill", "--signal=KILL", "--kill-who=main", unit("sunset"))
    kills += 1
    until(f"restart {kills}", lambda: show("sunset", "NRestarts", "ActiveState") == [str(kills), "active"])
    if kills == 2:
        run("systemctl", "kill", "--signal=KILL", "--kill-who=main", "airframed.service")
        step("airframed was killed too")


def owner():
    return run("stat", "-c", "%U", f"/proc/{show('sunset', 'MainPID')}", check=False)


# Before it executes the program, the new process belongs to root.
until("the user of the run", lambda: owner() not in ("", "root"), 30)
step("the run does not belong to root")
until("the end of the time-lapse", lambda: show("sunset", "ActiveState") == "inactive", 120)
wanted = [f"photo-{n:05}.jpg" for n in range(1, PHOTOS + 1)]
restarts = journal("sunset").count("Scheduled restart job")
check((show("sunset", "Result"), restarts) == ("success", kills), f"the unit restarted the run {kills} times, and ended after the last photo",
      journal("sunset"))
check(photos("sunset") == wanted, f"all {PHOTOS} photos exist", photos("sunset"))
check(not lines("sunset", "doubled"), "no photo that existed was taken again", lines("sunset", "doubled"))
times = [float((STATES / "sunset" / name).read_text()) for name in wanted]
gaps = [later - earlier for earlier, later in zip(times, times[1:])]
check(min(gaps) > INTERVAL / 2, f"the photos are in order; the intervals are {min(gaps):.1f} s to {max(gaps):.1f} s", gaps)

# A complete shot, at the next boot.
begun = lines("sunset", "begun")
run("systemctl", "enable", unit("sunset"))
check(run("systemctl", "is-enabled", unit("sunset")) == "enabled", "the shot is enabled")
write("dawn", 2, 1)
run("systemctl", "enable", unit("dawn"))
run("systemctl", "stop", "airframed.service")
# As at boot: the target starts the units that it wants.
run("systemctl", "start", "multi-user.target")
until("the shots at boot", lambda: len(photos("dawn")) == 2 and "The shot is complete" in journal("sunset"))
until("the end of both shots", lambda: {show(name, "ActiveState") for name in ("sunset", "dawn")} == {"inactive"})
check(photos("dawn") == wanted[:2], "the target multi-user.target starts an enabled shot")
time.sleep(7)
check(lines("sunset", "begun") == begun and journal("sunset").count("Scheduled restart job") == restarts, "a complete shot takes no photo at boot, and is not restarted")
for name in ("sunset", "dawn"):
    run("systemctl", "disable", unit(name))
check(not list(Path("/etc/systemd/system").glob("**/airframe-shot@*")), "a disabled shot does not start at boot")

# `systemctl stop` in the middle of a photo: the photo is completed.
write("noon", 5, 2)
run("systemctl", "start", unit("noon"))
until("the second exposure", lambda: len(lines("noon", "begun")) == 2, every=0.05)
run("systemctl", "stop", unit("noon"))
check(photos("noon") == wanted[:2] and show("noon", "Result") == "success", "`systemctl stop` ends the run after the photo in progress", photos("noon"))
record = json.loads((STATES / "noon/shot.json").read_text())
check(record.get("pending") is None, "the state contains no unfinished photo", record)
run("systemctl", "start", unit("noon"))
until("the end of the shot", lambda: show("noon", "ActiveState") == "inactive")
check(photos("noon") == wanted[:5] and len(lines("noon", "begun")) == 5, "`systemctl start` continues it", lines("noon", "begun"))

# Files that a restart does not repair.
(SHOTS / "wrong.toml").write_text("[timelapse]\nphotos = 3\ninterval = 2\n")
for name, sentence in (("wrong", "interval"), ("missing", "cannot be read")):
    run("systemctl", "start", unit(name), check=False)
    until("the failure", lambda: show(name, "ActiveState") == "failed", 30)
    time.sleep(6)
    check(show(name, "NRestarts", "ExecMainStatus") == ["0", "66"] and sentence in journal(name),
          f"a {name} file ends the unit without a restart, and the journal names the cause", journal(name))

# A person stops airframed, for example to work on the motors.
run("systemctl", "stop", "airframed.service")
write("dusk")
run("systemctl", "start", unit("dusk"))
until("a restart of a shot without airframed", lambda: int(show("dusk", "NRestarts")) > 0)
check(run("systemctl", "is-active", "airframed.service", check=False) == "inactive", "a shot that restarts does not start airframed", journal("dusk"))
run("systemctl", "stop", unit("dusk"))
