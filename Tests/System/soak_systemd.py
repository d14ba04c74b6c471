"""The Debian package under a real systemd: airframed is installed, started in its sandbox without root, killed, stopped by the
watchdog, upgraded and purged. Chips, a phone and users can communicate with it. Run `make deb` first.
"""
# A Cortex-A53 at 1 GHz, the slowest board, executes more than 500 million instructions per second.
# lab: --init systemd --own-time --mips 500
import os, signal, time
from pathlib import Path

from gimbal import AIROS, MODE, Client, connect, wait
from plant import ACCEL, GYRO, PWM, Chip, Plant
from service import (SETTINGS, UNIT, WATCHDOG_SECONDS, Service, asks, is_active, journal, make_person, newer_package, sh,
                     show, skip_unless_possible, status_text)

skip_unless_possible()
service = Service([ACCEL, GYRO, PWM])
check, until, comes_on = service.check, service.until, service.comes_on


def installs():
    service.install()
    check(os.readlink("/usr/sbin/airframed") == "../bin/airframe", "airframed is a symbolic link to airframe")
    check("airframe" in sh("getent", "passwd", "airframe"), "the user airframe exists")
    check(not is_active() and show("UnitFileState") == "disabled", "the unit is disabled and does not run after the installation")


def starts_without_a_sensor():
    Chip(ACCEL).fail(6)
    took = service.start()
    check(is_active(), f"the service is ready without a sensor, {took:.2f} s after the start")
    until(lambda: "IMU" in status_text(), "STATUS names the missing IMU")
    print(f"  STATUS: {status_text()}")
    check("imu_missing" in service.names(), "airframectl reports imu_missing")
    entries = journal("AIRFRAME_REASON=imu_missing")
    check(entries and len(entries[0]["MESSAGE_ID"]) == 32, f"the journal contains imu_missing with MESSAGE_ID {entries[0]['MESSAGE_ID'] if entries else None}")
    Chip(ACCEL).fail(0)
    comes_on(lambda: plant.is_driven, "the sensor answers: the sandboxed service drives the servos")
    until(lambda: status_text().startswith("Stabilising"), "STATUS begins with Stabilising")
    print(f"  STATUS: {status_text()}")


def is_confined():
    fields = dict(line.split(":\t", 1) for line in (service.process / "status").read_text().splitlines() if ":\t" in line)
    check(fields["Uid"].split()[0] != "0", f"the service does not run as root: uid {fields['Uid'].split()[0]}")
    check(all(int(fields[name], 16) == 0 for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")), "all capability sets are empty")
    check(fields["Seccomp"].strip() == "2" and fields["NoNewPrivs"].strip() == "1", "system calls are filtered, and no_new_privs is set")
    threads = {}
    for task in (service.process / "task").iterdir():
        # Fields rt_priority and policy of /proc/PID/stat, proc(5).
        words = (task / "stat").read_text().rpartition(")")[2].split()
        threads[(task / "comm").read_text().strip()] = (int(words[38]), int(words[37]))
    check(threads["airframed-loop"] == (1, 80) and threads["airframed-bus0"] == (1, 79), f"loop thread and bus thread have SCHED_FIFO: {threads}")
    check(int(fields["VmLck"].split()[0]) > 10000, f"{fields['VmLck'].strip()} of {fields['VmRSS'].strip()} resident memory are locked")
    inside = ["nsenter", "--target", service.process.name, "--mount"]
    check("Read-only" in sh(*inside, "touch", "/etc/x", check=False), "the service cannot write to /etc")


def talks_to_people():
    make_person("member", "airframe")
    make_person("stranger")
    code, words = asks("member", "mode", "locked")
    check(code == 0, f"a member of group airframe can change the mode: {words}")
    code, words = asks("stranger", "status")
    check(code != 0, f"another user cannot connect: {words}")
    os.chmod("/run/airframe/airframed.sock", 0o666)
    code, words = asks("stranger", "status")
    check(code in (0, 2), "if everyone can connect to the socket, another user can read the status")
    code, words = asks("stranger", "mode", "inactive")
    check(code != 0 and "group airframe" in words, f"another user cannot change the mode: {words}")
    os.chmod("/run/airframe/airframed.sock", 0o660)
    print(sh("airframectl", "doctor", check=False))


def talks_to_phones():
    phone = Client()
    wait(lambda: phone.scan(seconds=10, service=AIROS), what="the advertisement")
    connect(phone)
    phone.write(MODE, b"\x01")
    check(phone.read(MODE) == b"\x01", "a phone writes the mode and reads it back")
    phone.disconnect()


def reloads():
    SETTINGS.write_text(SETTINGS.read_text() + "[motion]\nmax_rate_dps = [77, 77, 77]\n")
    sh("systemctl", "reload", UNIT)
    until(lambda: "77" in sh("airframectl", "get", "motion.max_rate_dps", check=False), "systemctl reload reads the files again")


def names_axes():
    service.start(tables="[joints]\nrange_deg = [[-170, 170], [-2, 2], [-120, 120]]\n")
    comes_on(lambda: plant.is_driven, "restarted with a small range of roll")
    plant.tell("amplitude 10")
    until(lambda: journal("AIRFRAME_REASON=joint_limit", "AIRFRAME_AXIS=roll"), "the journal contains the axis of the condition")
    print(f"  {journal('AIRFRAME_AXIS=roll')[0]['MESSAGE']}")
    plant.tell("amplitude 0")
    service.start()
    comes_on(lambda: plant.is_driven, "restarted with the earlier settings")


def comes_back():
    # A request to systemd takes as long as the start, so the test waits first, and uses systemd's timestamps.
    main = int(show("MainPID"))
    killed = time.monotonic()
    os.kill(main, signal.SIGKILL)
    until(lambda: not plant.is_driven, "the service is killed: the servos receive no more pulses", 30)
    time.sleep(6)
    until(lambda: is_active() and show("NRestarts") == "1", "systemd has restarted the service", every=1)
    back = int(show("ActiveEnterTimestampMonotonic")) / 1e6 - killed
    check(back < 2, f"the service is ready {back:.2f} s after the kill, {service.ready_seconds:.2f} s after the start")
    comes_on(lambda: plant.is_driven, "the service drives the servos again")
    stopped = time.monotonic()
    sh("systemctl", "kill", "--signal", "STOP", UNIT)
    until(lambda: not plant.is_driven, "the process is stopped with SIGSTOP: the watchdog ends it", 60)
    check(time.monotonic() - stopped < WATCHDOG_SECONDS + 2, f"the watchdog ended the process after {time.monotonic() - stopped:.2f} s")
    time.sleep(6)
    until(lambda: is_active() and show("NRestarts") == "2", "systemd has restarted the service", every=1)
    check(any("Watchdog timeout" in entry["MESSAGE"] for entry in journal("_PID=1")), "the journal names the watchdog")
    comes_on(lambda: plant.is_driven, "the service drives the servos again")


def is_upgraded_and_purged():
    sh("airframectl", "set", "servo.delay_ms", "16")
    sh("airframectl", "save")
    main = Path("/etc/airframe/airframed.toml")
    main.write_text("# mine\n" + main.read_text())
    link = Path("/etc/systemd/system/multi-user.target.wants/airframe-shot@sunset.service")
    sh("systemctl", "enable", "airframe-shot@sunset")
    before = show("MainPID")
    print(sh("dpkg", "-i", newer_package("99.0"), check=False, stdin=open("/dev/null")))
    until(is_active, "upgraded")
    check("16" in sh("airframectl", "get", "servo.delay_ms"), "an upgrade keeps the saved tuning")
    check(main.read_text().startswith("# mine\n") and SETTINGS.exists(), "an upgrade keeps the configuration")
    print(f"  process {before} before the upgrade, {show('MainPID')}")
    print(sh("dpkg", "-r", "airframe"))
    check(link.is_symlink(), "the removed package leaves the enabled shot")
    check(not Path("/usr/bin/airframe").exists() and main.exists(), "the removed package leaves the configuration")
    until(lambda: not plant.is_driven, "the servos receive no pulses after the removal")
    other, shots = Path("/etc/airframe/airframe-web.toml"), Path("/var/lib/private/airframe-shot")
    other.write_text("# mine\n")
    for name, file in (("finished", "shot.json"), ("sunset", "1.jpg")):
        (shots / name).mkdir(parents=True)
        (shots / name / file).write_text("")
    print(sh("dpkg", "--purge", "airframe"))
    left = [path.name for path in Path("/etc/airframe").iterdir()]
    check(left == [other.name] and not Path("/var/lib/airframe").exists(), f"the purged package leaves no configuration and no state of its own: {left}")
    check([path.name for path in shots.iterdir()] == ["sunset"], "the purged package leaves only the photos of shots")
    check(not link.is_symlink(), "the purged package leaves no enabled shot")


installs()
plant = Plant()
starts_without_a_sensor()
is_confined()
service.closes_loop(plant)
talks_to_people()
talks_to_phones()
reloads()
names_axes()
comes_back()
is_upgraded_and_purged()
plant.stop()
service.done()
