"""airframe-eyes with a real V4L2 device: the kernel's virtual camera (vivid), unplugged and plugged in again."""
# lab: --bluetooth off
import os, re, subprocess, sys, time
from pathlib import Path

EYES = Path(os.environ["BIN"]) / "airframe-eyes"
URL = "rtsp://127.0.0.1:8554/stream"
DRIVER = Path("/sys/bus/platform/drivers/vivid")
LOG = Path("/run/lab/eyes.log")


def fail(sentence):
    sys.exit(f"FAIL {sentence}\n{LOG.read_text() if LOG.exists() else ''}")


def sh(*command, seconds=120):
    done = subprocess.run([str(word) for word in command], text=True, capture_output=True, timeout=seconds)
    if done.returncode:
        fail(f"{' '.join(map(str, command))}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def until(sentence, is_met, seconds=90):
    """Waits for a condition; software emulation needs many times the time of a board."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if is_met():
            return
        time.sleep(0.2)
    fail(f"not within {seconds} s: {sentence}")


def lines(pattern):
    return len(re.findall(pattern, LOG.read_text()))


class Player:
    """A client that counts the access units it receives, through every change of the camera."""

    def __init__(self):
        self.output = Path("/run/lab/units.h264")
        self.process = subprocess.Popen(
            ["gst-launch-1.0", "-q", "rtspsrc", f"location={URL}", "protocols=tcp", "latency=0", "!", "rtph264depay", "!",
             "filesink", "buffer-mode=unbuffered", f"location={self.output}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def bytes(self):
        return self.output.stat().st_size if self.output.exists() else 0

    def must_receive(self, when):
        before = self.bytes()
        until(f"pictures {when}", lambda: self.bytes() > before + 2000)
        if self.process.poll() is not None:
            fail(f"the client has been disconnected {when}")


if not EYES.exists():
    print(f"SKIPPED: no {EYES}; `make build-eyes` builds it")
    sys.exit(0)
# GStreamer asks udev for the cameras.
UDEV = Path("/lib/systemd/systemd-udevd")
if not UDEV.exists():
    print("SKIPPED: no udev on this machine")
    sys.exit(0)
sh(UDEV, "--daemon")
if subprocess.run(["modprobe", "vivid", "n_devs=1", "node_types=0x1", "num_inputs=1", "input_types=0x0", "vid_cap_nr=0"]).returncode:
    print("SKIPPED: this kernel has no vivid; Tests/Lab/install --video adds it")
    sys.exit(0)

sh("udevadm", "trigger", "--subsystem-match=video4linux")
sh("udevadm", "settle")
SMALL = ["--set", "video.width=320", "--set", "video.height=180", "--set", "video.rate_hz=10", "--set", "gimbal.socket=off"]
listing = sh(EYES, "cameras", *SMALL)
print(listing)
if "/dev/video0" not in listing or "v4l2src device=\"/dev/video0\"" not in listing:
    fail("the camera is not found, or not chosen")

with LOG.open("w") as log:
    eyes = subprocess.Popen([EYES, *SMALL], stderr=log)
until("the port", lambda: lines("The stream is at") == 1)
player = Player()
until("the camera's stream", lambda: lines(r"The stream shows vivid.*320x180 at 10 Hz") == 1)
player.must_receive("from the camera")
print("ok   the camera is streamed")

(DRIVER / "unbind").write_text("vivid.0")
until("the loss", lambda: lines("The camera is lost") == 1)
until("the replacement", lambda: lines("shows the test picture instead") == 1)
player.must_receive("while the camera is unplugged")
print("ok   the camera is unplugged, the client stays")

(DRIVER / "bind").write_text("vivid.0")
until("the camera's return", lambda: lines(r"The stream shows vivid") == 2)
player.must_receive("after the camera's return")
print("ok   the camera is back, for the same client")

player.process.terminate()
player.process.wait()
eyes.terminate()
if eyes.wait(timeout=20) != 0:
    fail("airframe-eyes did not end in order")
print(LOG.read_text())
