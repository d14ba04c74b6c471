"""Worn controls over the kernel's evdev: a stick whose centre drifts beyond the dead zone, a button with glitches and a bouncing contact, and
a button that selects a profile while the camera turns. test_controls contains the other cases."""
# lab: --bluetooth off --own-time --mips 1000 --skip-idle
import json, socket, subprocess, threading, time

from gimbal import SOCKET, Gimbal, step, wait
from virtual_input import *

RATE_HZ = 200
# Rate of the stick in the two profiles, deg/s. The camera must not reach the end of the yaw joint.
CALM, QUICK = 8, 20


def check(holds, words):
    if not holds:
        raise SystemExit(f"FAILED: {words}\n{json.dumps(controls(), indent=1)}\n{gimbal.tail(10)}")
    step(words)


def controls():
    return gimbal.ask("controls")


def counts():
    return next(link["counts"] for link in gimbal.status()["links"] if link["name"] == "controls")


def rate():
    return controls()["rate_dps"][0]


class SetPoint:
    """The set-point of yaw in each tick: time, s, and angle, degrees."""

    def __init__(self):
        self.ticks = []
        stream = socket.socket(socket.AF_UNIX)
        stream.connect(str(SOCKET))
        self.lines = stream.makefile("rw")
        self.lines.write(json.dumps({"id": 1, "method": "subscribe", "params": {"names": ["setpoint.yaw"], "rate": RATE_HZ}}) + "\n")
        self.lines.flush()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.lines:
            message = json.loads(line)
            if "values" in message:
                self.ticks.append((message["t"], message["values"]["setpoint.yaw"]))

    def rates(self, since):
        """Rates between successive ticks after a time, deg/s; ticks that the stream has left out are skipped."""
        ticks = [tick for tick in self.ticks if tick[0] >= since]
        pairs = [(b[0] - a[0], (b[1] - a[1] + 180) % 360 - 180) for a, b in zip(ticks, ticks[1:])]
        return [turn / seconds for seconds, turn in pairs if 0.5 / RATE_HZ < seconds < 1.5 / RATE_HZ]


for module in ("evdev", "uinput"):
    subprocess.run(["modprobe", module], check=True)
gimbal = Gimbal(f"loop.rate_hz={RATE_HZ}", "loop.lock_memory=true", 'controls.bindings=["ABS_X: yaw","BTN_SOUTH press: mode fpv","BTN_TL tap: profile next",'
                '"BTN_TR press: mode locked"]')
wait(lambda: (s := gimbal.status()) and s["enabled"], what="the motors")
pad = Device("Worn Pad", BUS_USB, [BTN_SOUTH, BTN_NORTH, BTN_TL, BTN_TR], {ABS_X: (-32768, 32767), ABS_Y: (-32768, 32767)})
wait(lambda: [d["name"] for d in controls()["devices"]] == ["Worn Pad"], what="the gamepad")
time.sleep(4)
wait(lambda: "inertia_unknown" not in json.dumps(gimbal.status()), what="the inertia")

# 15 % of the travel; the dead zone is 8 %.
heading, largest = gimbal.status()["setpoint_deg"]["yaw"], 0
for value in range(0, 4916, 164):
    pad.send(EV_ABS, ABS_X, value)
    time.sleep(0.7)
    largest = max(largest, abs(rate()))
turned = (gimbal.status()["setpoint_deg"]["yaw"] - heading + 180) % 360 - 180
check(largest == 0 and abs(turned) < 0.01, f"a centre that drifts by 15 % of the travel does not move the set-point: {largest} deg/s, {turned:.3f} deg")
pad.send(EV_ABS, ABS_X, 32767)
wait(lambda: rate() > 89, what="the turn")
pad.send(EV_ABS, ABS_X, 4900)
wait(lambda: rate() == 0, what="the end of the turn")
step("the drifted stick turns the camera at the full rate, and stops it at its new centre")

before = counts()
for _ in range(20):
    pad.send(EV_KEY, BTN_SOUTH, 1)
    pad.send(EV_KEY, BTN_SOUTH, 0)
    time.sleep(0.03)
after = wait(lambda: (c := counts())["glitches"] >= before["glitches"] + 20 and c, 10, what="the glitches")
check(gimbal.status()["mode"] == "locked" and after["granted"] == before["granted"], "20 glitches of a button are no press")
for _ in range(4):
    pad.send(EV_KEY, BTN_SOUTH, 1)
    pad.send(EV_KEY, BTN_SOUTH, 0)
pad.send(EV_KEY, BTN_SOUTH, 1)
wait(lambda: gimbal.status()["mode"] == "fpv", what="the press")
time.sleep(0.2)
check(counts()["granted"] == after["granted"] + 1, "a contact that bounces four times is one press")
pad.send(EV_KEY, BTN_SOUTH, 0)
pad.press(BTN_TR)
wait(lambda: gimbal.status()["mode"] == "locked", what="the mode locked")

for name, speed in (("calm", CALM), ("quick", QUICK)):
    gimbal.ask("set", key="controls.max_rate_dps", value=[speed, 45, 60])
    print(gimbal.text("profile", "store", name).strip())
print(gimbal.text("profile", "use", "quick").strip())
acceleration = gimbal.ask("get", keys=["motion.max_acceleration_dps2"])[0]["value"]
limit = (acceleration[0] if isinstance(acceleration, list) else acceleration) / RATE_HZ
stream = SetPoint()
pad.send(EV_ABS, ABS_X, 32767)
wait(lambda: rate() > QUICK - 1, what="the turn")
time.sleep(0.7)
for wanted in (CALM, QUICK, CALM):
    since = time.monotonic()
    pad.press(BTN_TL)
    wait(lambda: abs(rate() - wanted) < 1, what=f"a rate of {wanted} deg/s")
    time.sleep(1.2)
    # The stick reports a change before its timeout.
    pad.send(EV_ABS, ABS_X, 32700 if wanted == CALM else 32767)
    rates = stream.rates(since)
    steps = [abs(b - a) for a, b in zip(rates, rates[1:])]
    check(len(rates) > 100 and abs(rates[-1] - wanted) < 2 and max(steps) < 1.5 * limit,
          f"a button changes the profile while the camera turns: the rate changes to {rates[-1]:.1f} deg/s, by at most {max(steps):.2f} deg/s in a tick")
pad.send(EV_ABS, ABS_X, 4900)
gimbal.stop()
