"""Buttons, sticks and gamepads over the kernel's evdev: a virtual gamepad (uinput) is plugged in, moves the simulated gimbal, is
disconnected while its stick is deflected, and is connected again. Measures the time from a button to the tick that executes its
request.
"""
# lab: --bluetooth off --own-time
import fcntl, json, os, socket, struct, subprocess, threading, time
from pathlib import Path

from gimbal import RUN, SOCKET, Gimbal, step, wait
from stalls import judged
from virtual_input import *

# The emulated computer executes 250 million instructions per second, including those of this program. long_reaction measures the
# reaction on a faster computer.
LIMIT_SECONDS = 0.100


class Feedback(Device):
    """A device that vibrates or beeps. Its thread executes the kernel's requests, as a driver does."""

    def __init__(self, name, **kinds):
        super().__init__(name, BUS_USB, **kinds)
        self.uploads, self.played = [], []
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        os.set_blocking(self.file, True)
        while True:
            try:
                _, _, kind, code, value = EVENT.unpack(os.read(self.file, EVENT.size))
            except OSError:
                return
            if (kind, code) == (EV_UINPUT, UI_FF_UPLOAD):
                request = bytearray(struct.pack("Ii96x", value, 0))
                fcntl.ioctl(self.file, UI_BEGIN_FF_UPLOAD, request)
                # struct ff_effect: type, id, direction, trigger, length and delay, then the strengths of the two motors of a
                # rumble.
                effect = struct.unpack_from("HhHHHHHxxHH", request, 8)
                self.uploads.append({"type": effect[0], "id": effect[1], "ms": effect[5], "strong": effect[7]})
                fcntl.ioctl(self.file, UI_END_FF_UPLOAD, request)
            elif (kind, code) == (EV_UINPUT, UI_FF_ERASE):
                request = bytearray(struct.pack("IiI", value, 0, 0))
                fcntl.ioctl(self.file, UI_BEGIN_FF_ERASE, request)
                fcntl.ioctl(self.file, UI_END_FF_ERASE, request)
            elif kind in (EV_FF, EV_SND):
                self.played.append((kind, code, value))


def signals(device):
    """Feedback of the device for an emergency stop: the events that the kernel sends to the driver."""
    gimbal.ask("set", key="signals.feedback_device", value=device)
    gimbal.ask("stop")
    wait(lambda: gimbal.status()["mode"] == "inactive", what="the stop")
    time.sleep(2)
    gimbal.ask("reset_stop")
    gimbal.ask("set", key="signals.feedback_device", value="off")
    time.sleep(0.5)


def lights():
    return set(Path("/sys/class/leds").glob("*/brightness"))


def flashes(light, seconds):
    """Number of times that the light switches on during this time."""
    end, lit, count = time.monotonic() + seconds, True, 0
    while time.monotonic() < end:
        before, lit = lit, light.read_text() != "0\n"
        count += lit and not before
        time.sleep(0.02)
    return count


def gamepad():
    return Device("Lab Pad", BUS_USB, [BTN_SOUTH, BTN_NORTH, BTN_TL, BTN_TR, BTN_SELECT],
                  {ABS_X: (-32768, 32767), ABS_Y: (-32768, 32767), ABS_HAT0X: (-1, 1)})


def controls():
    return gimbal.ask("controls")


def names():
    return [d["name"] for d in (controls() or {"devices": []})["devices"]]


def mode():
    return gimbal.status()["mode"]


def yaw():
    return gimbal.status()["attitude"]["yaw_deg"]


def becomes(wanted):
    """Whether this mode becomes active within 5 s."""
    end = time.monotonic() + 5
    while mode() != wanted and time.monotonic() < end:
        time.sleep(0.05)
    return mode() == wanted


def turned(before):
    """Rotation in yaw since `before`, degrees, -180...180."""
    return (yaw() - before + 180) % 360 - 180


def check(holds, words):
    if not holds:
        raise SystemExit(f"FAILED: {words}\n{json.dumps(controls(), indent=1)}\n{gimbal.tail()}")
    step(words)


def judge(trial, recover=lambda: None):
    """Checks the result of a trial. A trial that fails is repeated if the machine stalled: then a gesture of the test can become another
    gesture, or a flash can be missed."""
    holds, words = judged(trial, recover)
    check(holds is not False, words)


def taps():
    """A double tap, then a tap."""
    pad.press(BTN_SOUTH)
    time.sleep(0.1)
    pad.press(BTN_SOUTH)
    is_double = becomes("fpv")
    pad.press(BTN_SOUTH)
    return becomes("locked") and is_double, "a tap and a double tap select their modes"


def three_flashes():
    seen = flashes(light, 3 * 1.9)
    return seen == 3, f"the LED shows an emergency stop as one flash every 1.9 s: {seen} flashes in three periods"


def learned():
    learning = subprocess.Popen([os.environ["BIN"] + "/airframectl", "--socket", SOCKET, "controls", "learn", "recentre"],
                                stdout=subprocess.PIPE, text=True)
    wait(lambda: controls()["learning"], what="learning")
    board.press(148)
    time.sleep(0.1)
    board.press(148)
    said = learning.communicate(timeout=60)[0]
    return "KEY_PROG1 double: recentre" in said, f"`controls learn` binds a control: {said.splitlines()[-1]}"


def reactions(pad, count):
    """Times from a button's event to the first tick in the requested mode, s, measured with CLOCK_MONOTONIC, the loop's clock."""
    stream = socket.socket(socket.AF_UNIX)
    stream.connect(str(SOCKET))
    lines = stream.makefile("rw")
    lines.write('{"id":1,"method":"subscribe","params":{"names":["mode"],"rate":200}}\n')
    lines.flush()
    lines.readline()
    start = json.loads(lines.readline())["t"] - time.monotonic()
    assert abs(start) < 1, f"the loop's clock is not CLOCK_MONOTONIC: {start}"
    times = []
    for number in range(count):
        code, wanted = ((BTN_TL, "pan_follow"), (BTN_TR, "locked"))[number % 2]
        began = time.monotonic()
        pad.send(EV_KEY, code, 1)
        while True:
            message = json.loads(lines.readline())
            if message["values"]["mode"] == wanted and message["t"] >= began:
                break
        times.append(message["t"] - began)
        pad.send(EV_KEY, code, 0)
        time.sleep(0.03 + 0.0007 * (number % 7))
    stream.close()
    return sorted(times)


subprocess.run(["modprobe", "evdev"], check=True)
subprocess.run(["modprobe", "uinput"], check=True)
gimbal = Gimbal("loop.rate_hz=200", "controls.stick_timeout_s=3", 'controls.bindings='
                '["ABS_X: yaw","ABS_Y: -pitch","BTN_SOUTH double: mode fpv","BTN_SOUTH tap: mode locked",'
                '"BTN_NORTH hold: mode pan_follow while held","BTN_TL press: mode pan_follow","BTN_TR press: mode locked",'
                '"BTN_SELECT press: stop","ABS_HAT0X+ press: step yaw 5","KEY_PROG1 hold: reset_stop","REL_DIAL+ step: step pitch 1"]')
wait(lambda: (s := gimbal.status()) and s["enabled"], what="the motors")
check(names() == [], "the gimbal runs without an input device")

pad = gamepad()
wait(lambda: names() == ["Lab Pad"], what="the gamepad")
step("airframed finds a gamepad that is plugged in")
keyboard = Device("Lab Keyboard", BUS_USB, range(1, 120))
wait(lambda: "Lab Keyboard" in controls()["unused"], what="the keyboard")
check(names() == ["Lab Pad"], "airframed does not use a keyboard")

pad.press(BTN_NORTH, 1.5)
wait(lambda: mode() == "locked", what="the earlier mode")
events = [f'{e["control"]} {e["gesture"]}: {e["outcome"]}' for e in controls()["events"]]
check("BTN_NORTH hold: done" in events, f"events of a held button: {events}")
judge(taps, lambda: gimbal.ask("mode", mode="locked"))

time.sleep(1)
before = yaw()
pad.send(EV_ABS, ABS_X, 32767)
time.sleep(1)
rates = controls()["rate_dps"]
check(abs(rates[0] - 90) < 1, f"the stick requests {rates[0]:.1f} deg/s")
check(turned(before) > 45, f"the camera has turned to the right by {turned(before):.1f} deg")
pad.send(EV_ABS, ABS_X, 150)
wait(lambda: controls()["rate_dps"] == [0, 0, 0], what="the end of the turn")
time.sleep(1)
rest = yaw()
time.sleep(1)
check(abs(turned(rest)) < 0.5, "a stick near its centre stops the camera")

pad.send(EV_ABS, ABS_X, -32768)
wait(lambda: any(e["gesture"] == "stuck" for e in controls()["events"]), what="the stuck stick")
check(controls()["rate_dps"] == [0, 0, 0], "airframed treats a stick that does not change as stuck, and stops the camera")
pad.send(EV_ABS, ABS_X, 0)
time.sleep(1)
pad.send(EV_ABS, ABS_X, -32768)
wait(lambda: controls()["rate_dps"][0] < -89, what="the turn")
pad.unplug()
wait(lambda: names() == [], what="the end of the gamepad")
time.sleep(1)
rest = yaw()
time.sleep(1)
check(abs(turned(rest)) < 0.5, "the camera stops when the gamepad is unplugged with a deflected stick")

pad = gamepad()
wait(lambda: names() == ["Lab Pad"], what="the gamepad")
time.sleep(1)
found = reactions(pad, 60)
p50, p99 = found[len(found) // 2], found[int(len(found) * 0.99)]
check(p50 <= LIMIT_SECONDS, f"delay from a button to the tick with its command: median {p50 * 1e3:.1f} ms, p99 {p99 * 1e3:.1f} ms, "
      f"longest {found[-1] * 1e3:.1f} ms of {len(found)}")

pad.press(BTN_SELECT)
wait(lambda: mode() == "inactive", what="the stop")

known = lights()
lamp = Device("lab-lamp", BUS_HOST, leds=[0])
light = wait(lambda: next(iter(lights() - known), None), what="the LED device")
gimbal.ask("set", key="signals.led", value=light.parent.name)
time.sleep(0.5)
judge(three_flashes)
board = Device("lab-buttons", BUS_HOST, [148], dials=[7])
wait(lambda: "lab-buttons" in names(), what="the button of the board")
board.press(148, 1)
wait(lambda: not any(c["name"] == "emergency_stop" for c in gimbal.status()["inhibitions"]), what="the reset")
step("a button of one device stops the gimbal, and another device resets the stop")

pad = Feedback("Lab Rumble", keys=[BTN_SOUTH], effects=[FF_RUMBLE])
beeper = Feedback("Lab Beeper", sounds=[SND_TONE])
signals("Lab Rumble")
check(len(pad.uploads) == 1 and pad.uploads[0]["type"] == FF_RUMBLE and pad.uploads[0]["ms"] == 1000
      and pad.uploads[0]["strong"] > 0, f"the driver receives one vibration of at most 1 s: {pad.uploads}")
number = pad.uploads[0]["id"]
check(pad.played[:2] == [(EV_FF, number, 1), (EV_FF, number, 0)], f"the gamepad vibrates once at an emergency stop: {pad.played}")
signals("Lab Beeper")
check(beeper.played[:2] == [(EV_SND, SND_TONE, 2500), (EV_SND, SND_TONE, 0)], f"the buzzer beeps once at an emergency stop: {beeper.played}")

pad = gamepad()
wait(lambda: names().count("Lab Pad") == 2, what="the second gamepad")
gimbal.ask("set", key="controls.stuck_s", value=5)
gimbal.ask("mode", mode="locked")
pad.send(EV_KEY, BTN_NORTH, 1)
wait(lambda: mode() == "pan_follow", what="the mode of the held button")
wait(lambda: mode() == "locked", what="the end of the mode of a stuck button")
events = [f'{e["control"]} {e["gesture"]}' for e in controls()["events"]]
pad.send(EV_KEY, BTN_NORTH, 0)
time.sleep(0.5)
check("BTN_NORTH stuck" in events and mode() == "locked", "a button that stays down is stuck: its mode ends, and its release has no effect")
# The kernel repeats no press; the next press has an effect again.
pad.press(BTN_TL)
wait(lambda: mode() == "pan_follow", what="the next press")
gimbal.ask("mode", mode="locked")
pad.unplug()

judge(learned)
check("KEY_PROG1 double: recentre" in gimbal.ask("get", keys=["controls.bindings"])[0]["value"], "and bound")
print(gimbal.text("controls", "--once"))
gimbal.stop()
