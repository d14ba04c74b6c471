"""airframe-eyes with a real V4L2 device: the kernel's virtual camera (vivid), unplugged and plugged in again."""
# lab: --bluetooth off
from pathlib import Path

from eyes import EYES, Eyes, begin, fail, lines, sh, until

DRIVER = Path("/sys/bus/platform/drivers/vivid")

begin([["vivid", "n_devs=1", "node_types=0x1", "num_inputs=1", "input_types=0x0", "vid_cap_nr=0"]])
sh("udevadm", "trigger", "--subsystem-match=video4linux")
sh("udevadm", "settle")
SMALL = ["--set", "video.width=320", "--set", "video.height=180", "--set", "video.rate_hz=10", "--set", "gimbal.socket=off"]
listing = sh(EYES, "cameras", *SMALL)
print(listing)
if "/dev/video0" not in listing or "v4l2src device=\"/dev/video0\"" not in listing:
    fail("airframe-eyes does not find or does not choose the camera")

eyes = Eyes(*SMALL)
until("the camera's stream", lambda: lines(r"The stream shows vivid.*320x180 at 10 Hz") == 1)
eyes.player.must_receive("from the camera")
print("ok   airframe-eyes streams the camera")

(DRIVER / "unbind").write_text("vivid.0")
until("the loss", lambda: lines("The camera no longer delivers pictures") == 1)
until("the replacement", lambda: lines("shows the test picture instead") == 1)
eyes.player.must_receive("while the camera is unplugged")
print("ok   the client stays connected when the camera is unplugged")

(DRIVER / "bind").write_text("vivid.0")
until("the camera's return", lambda: lines(r"The stream shows vivid") == 2)
eyes.player.must_receive("after the camera's return")
print("ok   the same client receives the camera again")

eyes.stop()
