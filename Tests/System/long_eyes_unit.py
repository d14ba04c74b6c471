"""airframe-eyes installed from the Debian package: a service of a real systemd, in its sandbox, with a virtual camera."""
# lab: --bluetooth off --init systemd
import glob, subprocess, sys, time
from pathlib import Path

UNIT = "airframe-eyes.service"
URL = "rtsp://127.0.0.1:8554/stream"
PACKAGES = sorted(glob.glob(str(Path(__file__).resolve().parents[2] / ".build/airframe-eyes_*.deb")))


def journal():
    return subprocess.run(["journalctl", "-u", UNIT, "--no-pager", "-o", "cat"], text=True, capture_output=True).stdout


def sh(*command, seconds=120):
    done = subprocess.run([str(word) for word in command], text=True, capture_output=True, timeout=seconds)
    if done.returncode:
        sys.exit(f"FAIL {' '.join(map(str, command))}: {done.returncode}\n{done.stdout}{done.stderr}\n{journal()}")
    return done.stdout.strip()


def show(name):
    return sh("systemctl", "show", UNIT, "--property", name, "--value")


def until(sentence, is_met, seconds=90):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if is_met():
            return
        time.sleep(0.3)
    sys.exit(f"FAIL after {seconds} s still waiting for: {sentence}\n{journal()}")


if not PACKAGES:
    print("SKIPPED: no .build/airframe-eyes_*.deb; `make deb-eyes` builds it")
    sys.exit(0)
has_camera = subprocess.run(
    ["modprobe", "vivid", "n_devs=1", "node_types=0x1", "num_inputs=1", "input_types=0x0", "vid_cap_nr=0"]).returncode == 0
if not has_camera:
    print("SKIPPED: the test of the camera in the sandbox, because this kernel has no module vivid; Tests/Lab/install --video adds it")

# The package only recommends airframe, whose package is tested in service.py.
sh("dpkg", "--force-depends", "-i", PACKAGES[-1])
if show("ActiveState") == "active":
    sys.exit("FAIL the service runs after the first installation without being enabled")
Path("/etc/airframe/airframe-eyes.toml").write_text("[video]\nwidth = 320\nheight = 180\nrate_hz = 10\n")
sh("systemctl", "start", UNIT)
print("ok   the service is ready")

kinds = sh("timeout", "60", "ffprobe", "-v", "error", "-rtsp_transport", "tcp", "-show_entries", "stream=codec_name,width,height",
           "-of", "csv=p=0", URL)
if kinds != "h264,320,180":
    sys.exit(f"FAIL ffprobe: {kinds}")
source = "The stream shows vivid" if has_camera else "test picture"
if source not in journal():
    sys.exit(f"FAIL no '{source}' in the journal\n{journal()}")
print("ok   a client receives the camera from the sandboxed service")

pid = show("MainPID")
if "SCHED_OTHER" not in sh("chrt", "-p", pid):
    sys.exit("FAIL the service has a real-time priority")
user = sh("stat", "-c", "%U", f"/proc/{pid}")
if user != "airframe-eyes":
    sys.exit(f"FAIL the service runs as {user}")

Path("/etc/airframe/airframe-eyes.toml").write_text("[video]\nwidth = 320\nheight = 180\nrate_hz = 10\nenabled = false\n")
sh("systemctl", "reload", UNIT)
until("the reloaded setting", lambda: "video is off" in show("StatusText"))
print("ok   a reload applies a setting:", show("StatusText"))

sh("kill", "-9", pid)
until("a restart", lambda: show("ActiveState") == "active" and show("MainPID") not in (pid, "0"))
print("ok   systemd starts it again after kill -9")
sh("systemctl", "stop", UNIT)
if show("Result") != "success":
    sys.exit(f"FAIL stop: {show('Result')}\n{journal()}")
print(f"ok   the service stops without an error; peak memory {show('MemoryPeak') or 'unknown'}")
