"""`airframectl hardware` sends its search to the daemon, which runs in its unit's sandbox without root. The result must equal
that of root without a sandbox. A real systemd runs the unit of this repository.
"""
# lab: --bluetooth off --init systemd
import json, shutil, subprocess, sys
from pathlib import Path

from plant import ACCEL, GYRO, PWM, Chip
from gimbal import BIN, step

ROOT = Path(__file__).resolve().parents[2]
UNIT, PREFIX = "airframed.service", "/usr/local"
FOLDER = Path(f"/run/systemd/system/{UNIT}.d")


def sh(*command):
    done = subprocess.run([str(word) for word in command], text=True, capture_output=True)
    if done.returncode:
        journal = subprocess.run(["journalctl", "-u", UNIT, "-n", "40", "--no-pager", "-o", "cat"], capture_output=True, text=True).stdout
        sys.exit(f"FAILED: {' '.join(map(str, command))}: {done.returncode}\n{done.stdout}{done.stderr}\n{journal}")
    return done.stdout


def hardware():
    return json.loads(sh(BIN / "airframectl", "--json", "hardware"))


def check(holds, words, *facts):
    if not holds:
        sys.exit(f"FAILED: {words}\n" + "\n".join(json.dumps(fact, indent=1) for fact in facts))
    step(words)


if Path("/proc/1/comm").read_text() != "systemd\n":
    sys.exit("process 1 is not systemd")
for module in ("evdev", "uinput", "vcan", "spidev"):
    subprocess.run(["modprobe", module])
sh("systemd-sysusers", ROOT / "systemd/airframe.sysusers")
Path("/etc/udev/rules.d").mkdir(parents=True, exist_ok=True)
shutil.copy(ROOT / "systemd/airframe.rules", "/etc/udev/rules.d/60-airframe.rules")
sh("udevadm", "control", "--reload")
sh("modprobe", "airframe_lab", "bus=1", "chips=" + ",".join(map(hex, (ACCEL, GYRO, PWM))), "spis=1", "gpios=8", "pwms=2")
sh("ip", "link", "add", "vcan0", "type", "vcan")
sh("udevadm", "trigger")
sh("udevadm", "settle")
Chip(ACCEL).write(0x00, [0x1E])
Chip(GYRO).write(0x00, [0x0F])
# The registers of a PCA9685 after a reset.
Chip(PWM).write(0x00, [0x11, 0x04, 0xE2, 0xE4, 0xE8, 0xE0])
Chip(PWM).write(0xFE, [0x1E])

bare = hardware()
found = {chip["name"] for bus in bare["i2c"] for chip in bus["chips"]}
check({"bmi088", "pca9685"} <= found, f"`airframectl hardware` as root finds the chips while airframed does not run: {sorted(found)}", bare)
check(bare["can"] and bare["spi"] and bare["gpio"] and bare["pwm"], "it also finds CAN, SPI, GPIO and PWM", bare)

Path(PREFIX, "sbin").mkdir(parents=True, exist_ok=True)
Path(PREFIX, "sbin/airframed").symlink_to(BIN / "airframed")
text = (ROOT / "systemd" / UNIT).read_text().replace("@PREFIX@", PREFIX)
Path("/run/systemd/system", UNIT).write_text(text)
FOLDER.mkdir(parents=True)
# The emulated machine is slow, and the programs of a debug build are large.
(FOLDER / "lab.conf").write_text("[Service]\nWatchdogSec=60\nTimeoutStartSec=120\nMemoryMax=infinity\n")
Path("/etc/airframe").mkdir(exist_ok=True)
Path("/etc/airframe/airframed.toml").write_text('[hardware]\nbackend = "simulated"\n[loop]\nlock_memory = false\nrate_hz = 100\n[imu]\ntimeout_ms = 1000\n')
sh("systemctl", "daemon-reload")
sh("systemctl", "start", UNIT)
confined = hardware()
pid = sh("systemctl", "show", UNIT, "--property", "MainPID", "--value").strip()
owner = sh("stat", "-c", "%U", f"/proc/{pid}").strip()
check(owner == "airframe", f"the unit runs as {owner}")
chips = {chip["name"] for bus in confined["i2c"] for chip in bus["chips"]}
check(chips == found, f"the sandboxed service finds the same chips: {sorted(chips)}", bare["i2c"], confined["i2c"])
hidden = {key: (bare[key], confined[key]) for key in bare if bare[key] != confined[key]}
check(not hidden, "the sandboxed service finds the same CAN interfaces, SPI devices, PWM chips and GPIO chips, and makes the same proposal", hidden)
spi = json.loads(sh(BIN / "airframectl", "--json", "hardware", "--spi"))
check(spi["spi"] and not any("problem" in bus for bus in spi["spi"]), "with --spi, the sandboxed service reads the SPI devices", spi["spi"])
sh("systemctl", "stop", UNIT)
