"""Support for the system tests of airframe-eyes with kernel cameras: the program, its log, clients, and a USB camera."""
import os, re, shutil, signal, subprocess, sys, time
from pathlib import Path

import usb_camera

EYES = Path(os.environ["BIN"]) / "airframe-eyes"
URL = "rtsp://127.0.0.1:8554/stream"
LOG = Path("/run/lab/eyes.log")
SETTINGS = Path("/run/lab/airframe-eyes.toml")
PICTURES = Path("/run/lab/pictures")
USB_DRIVER = Path("/sys/bus/usb/drivers/uvcvideo")
UDEV = Path("/lib/systemd/systemd-udevd")


def fail(sentence):
    sys.exit(f"FAIL {sentence}\n{LOG.read_text() if LOG.exists() else ''}")


def skip(reason):
    print(f"SKIPPED: {reason}")
    sys.exit(0)


def sh(*command, seconds=120):
    done = subprocess.run([str(word) for word in command], text=True, capture_output=True, timeout=seconds)
    if done.returncode:
        fail(f"{' '.join(map(str, command))}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def until(sentence, is_met, seconds=90):
    """Waits for a condition; an emulated machine is many times slower than a board."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if is_met():
            return
        time.sleep(0.2)
    fail(f"after {seconds} s still waiting for: {sentence}")


def lines(pattern):
    return len(re.findall(pattern, LOG.read_text()))


def begin(modules):
    """Skips the test if the program or a module is missing; starts udev, which GStreamer uses to list the cameras."""
    if not EYES.exists():
        skip(f"no {EYES}; `make build-eyes` builds it")
    if not UDEV.exists():
        skip("there is no udev on this machine")
    sh(UDEV, "--daemon")
    for module, *options in modules:
        if subprocess.run(["modprobe", module, *options]).returncode:
            skip(f"this kernel has no module {module}; Tests/Lab/install --video adds it")


def has_element(name):
    # Its option --exists also compares versions, but plugins from other packages have other versions.
    return shutil.which("gst-inspect-1.0") is not None and subprocess.run(
        ["gst-inspect-1.0", name], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0


def write_settings(source, width, height, rate):
    SETTINGS.write_text(f'[video]\nsource = "{source}"\nwidth = {width}\nheight = {height}\nrate_hz = {rate}\n'
                        '[gimbal]\nsocket = "off"\n')


RGB = {"red": (255, 0, 0), "blue": (0, 0, 255), "lime": (0, 255, 0), "magenta": (255, 0, 255), "yellow": (255, 255, 0),
       "navy": (0, 0, 128)}
# Noise, colour matrices and subsampled chroma change the mean colour; the nearest two colours differ by 127.
TOLERANCE = 50


def must_show(form):
    """Checks that a new client decodes pictures with the format's colours; the first ones can be from the previous feed."""
    def has_colours():
        decoded = subprocess.run(
            ["ffmpeg", "-v", "error", "-rtsp_transport", "tcp", "-i", URL, "-frames:v", "1", "-vf",
             "format=rgb24,scale=2:1:flags=area", "-f", "rawvideo", "-pix_fmt", "rgb24", "-"], capture_output=True, timeout=120).stdout
        if len(decoded) != 6: return False
        seen = tuple(decoded[:3]), tuple(decoded[3:])
        print(f"     left {seen[0]}, right {seen[1]}")
        return all(abs(a - b) <= TOLERANCE for half, name in zip(seen, (form.left, form.right))
                   for a, b in zip(half, RGB[name]))
    until(f"the colours of {form.name}", has_colours)


class Cable:
    """The simulated USB camera while it is plugged in."""

    def __init__(self):
        if not PICTURES.exists():
            PICTURES.mkdir()
            usb_camera.make_pictures(PICTURES)
        self.process = subprocess.Popen([sys.executable, usb_camera.__file__, PICTURES])
        until("the driver", lambda: any(USB_DRIVER.glob("*:1.0")))
        sh("udevadm", "settle")

    def pull(self):
        self.process.kill()
        self.process.wait()
        until("the driver's release", lambda: not any(USB_DRIVER.glob("*:1.0")))


class Player:
    """A client that counts the access units it receives. It stays connected through every change of the camera."""

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
        self.must_be_connected(when)

    def must_be_connected(self, when):
        if self.process.poll() is not None:
            fail(f"the client has been disconnected {when}")


class Eyes:
    """airframe-eyes, running with a client."""

    def __init__(self, *arguments):
        with LOG.open("w") as log:
            self.process = subprocess.Popen([EYES, *arguments], stderr=log)
        until("the port", lambda: lines("The stream is at") == 1)
        self.player = Player()

    def change(self, source, width, height, rate, shows):
        """Applies settings while the program runs; then waits until the log contains `shows` once more."""
        before = lines(shows)
        write_settings(source, width, height, rate)
        self.process.send_signal(signal.SIGHUP)
        until(f"`{shows}`", lambda: lines(shows) == before + 1)

    def devices(self):
        """Device files of the cameras that the program has open."""
        found = []
        for link in Path(f"/proc/{self.process.pid}/fd").iterdir():
            try: found.append(os.readlink(link))
            except FileNotFoundError: pass               # closed since the directory was listed
        return [name for name in found if name.startswith("/dev/video")]

    def stop(self):
        self.player.must_be_connected("before the end")
        self.player.process.terminate()
        self.player.process.wait()
        self.process.terminate()
        if self.process.wait(timeout=20) != 0:
            fail("airframe-eyes did not end with exit status 0")
        print(LOG.read_text())

    def kill(self):
        for process in (self.player.process, self.process):
            process.kill()
            process.wait()
