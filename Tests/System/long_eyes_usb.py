"""airframe-eyes with a USB camera (usb_camera.py) behind the kernel's uvcvideo: JPEG, raw pictures and H.264, and a cable that is
unplugged and plugged in again. One client receives all of it. The colours of the decoded pictures show the format."""
# lab: --bluetooth off
import shutil

from eyes import EYES, SETTINGS, Cable, Eyes, begin, fail, lines, must_show, sh, skip, until, write_settings
from usb_camera import FORMATS

JPEG, YUYV, H264 = FORMATS

begin([["vhci-hcd"], ["uvcvideo"]])
if not shutil.which("ffmpeg"):
    skip("ffmpeg is missing; it draws the camera's pictures")
cable = Cable()

write_settings("auto", 320, 180, 10)
listing = sh(EYES, "cameras", "--config", SETTINGS)
print(listing)
for part in ["JPEG 320x180", "YUY2 320x180", "H.264 640x360", "v4l2src device=\"/dev/video0\" ! image/jpeg"]:
    if part not in listing:
        fail(f"`{part}` is not in the list of cameras")
print("ok   airframe-eyes lists the camera with its formats")

eyes = Eyes("--config", SETTINGS)
until("the camera's stream", lambda: lines("The stream shows Laboratory camera.*JPEG 320x180 at 10 Hz") == 1)
eyes.player.must_receive("from the camera")
must_show(JPEG)
print("ok   airframe-eyes decodes and streams JPEG")

cable.pull()
until("the loss", lambda: lines("The camera no longer delivers pictures") == 1)
until("the replacement", lambda: lines("shows the test picture instead") == 1)
eyes.player.must_receive("without the camera")
until("the release of the pulled camera's device", lambda: not eyes.devices())
print("ok   the client stays connected when the cable is pulled")
cable = Cable()
until("the camera's return", lambda: lines("The stream shows Laboratory camera.*JPEG") == 2)
eyes.player.must_receive("after the camera's return")
must_show(JPEG)
print("ok   the same client receives the camera again")

eyes.change("auto", 320, 180, 5, "The stream shows Laboratory camera.*YUY2 320x180 at 5 Hz")
eyes.player.must_receive("of raw pictures")
must_show(YUYV)
print("ok   airframe-eyes streams raw pictures at a rate that the camera offers")

eyes.change("auto", 320, 180, 8, "The stream shows Laboratory camera.*JPEG 320x180 at 10 Hz")
eyes.player.must_receive("of a faster camera")
must_show(JPEG)
print("ok   airframe-eyes uses the camera at the next larger rate if it does not offer the configured rate")

eyes.change("auto", 640, 360, 10, "The stream shows Laboratory camera.*H.264 640x360 at 10 Hz")
eyes.player.must_receive("of H.264")
must_show(H264)
print("ok   airframe-eyes streams the camera's H.264")

eyes.change("test", 640, 360, 10, "The stream shows the test picture")
until("the release of the camera's device", lambda: not eyes.devices())
print("ok   airframe-eyes closes the camera's device after each format")
eyes.stop()
cable.pull()
