"""Each protocol of servos and the motor board on a pseudoterminal, the models in their own processes: pointing error, rate,
latency and load of the line, also with 3 % of the bytes damaged in both directions; then the reaction to each fault, and each way
in which airframed can end. The test prints one table.
"""
# lab: --bluetooth off --own-time --mips 500
import signal, subprocess, sys, tempfile, threading, time
from pathlib import Path

from board import BIN, Board, rms
from drives import build as build_plant
from plant import ACCEL, DEBUGFS, GYRO
from servos import KINDS, SERVO, TORQUE_KINDS, Motors, build, settings

board = Board([ACCEL, GYRO])
check, until = board.check, board.until
LIMIT_MS = 50
rows = []


def stage(status, name):
    return next(s for s in status["loop"]["stages"] if s["name"] == name)


class Rig:
    """The simulation of one kind of motor. Torque motors turn the camera of drives.c; other servos have a separate camera model."""

    def __init__(self, programs, kind):
        self.kind, self.plant = kind, None
        memory = None
        if kind in TORQUE_KINDS:
            memory = Path(tempfile.mkdtemp()) / "gimbal"
            memory.write_bytes(bytes(216))
            self.plant = subprocess.Popen([programs[1], "plant", memory, DEBUGFS], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                          text=True, bufsize=1)
            self.camera = []
            threading.Thread(target=lambda: [self.camera.append(tuple(map(float, l.split()))) for l in self.plant.stdout],
                             daemon=True).start()
        self.motors = Motors(programs[0], kind, memory=memory)
        self.busy = subprocess.Popen([programs[1], "busy", "0", "0"])
        until(lambda: self.motors.line.exists(), f"{kind}: the serial line exists")

    def swing(self, degrees):
        (self.plant.stdin.write if self.plant else self.motors.process.stdin.write)(f"amplitude {degrees}\n")

    @property
    def history(self):
        return self.camera if self.plant else self.motors.history

    def stop(self):
        self.motors.stop()
        if self.plant:
            self.plant.stdin.close()
            self.plant.wait(10)
        self.busy.kill()
        self.busy.wait()


def start(rig, rate):
    board.start(settings(rig.kind, rig.motors.line, rate=rate), rate=rate, timeout_ms=100,
                servo="" if rig.kind in TORQUE_KINDS else SERVO.format(rate=rate))


def held(rig, seconds=4):
    """Largest RMS of the camera's roll and pitch, degrees."""
    first = len(rig.history)
    time.sleep(seconds)
    found = rig.history[first:]
    return max(rms(r[5] for r in found), rms(r[6] for r in found)), rms(r[3] for r in found)


def counts(rig, seconds=2):
    """Exchanges per second, and load of the line in per cent."""
    a = rig.motors.last
    time.sleep(seconds)
    b = rig.motors.last
    span, baud = b[0] - a[0], 921600 if rig.kind == "board" else 1000000
    # The line carries an echoed byte only once.
    sent = b[12] - a[12] - (0 if rig.kind == "board" else b[11] - a[11])
    return (b[10] - a[10]) / span, (b[11] - a[11] + sent) * 10 / baud / span * 100


def reaction(rig, words, name, end):
    """Milliseconds from a fault until the motors are off. The fault ends at once, so that one request clears it: airframed clears at
    most three faults per minute. The log must contain the condition."""
    def named():
        return (board.folder / "log").read_text().count(name)

    before = named()
    rig.motors.tell(words)
    until(lambda: rig.motors.are_off, f"simulated fault '{words}': the motors are off")
    took = rig.motors.reaction_ms
    check(0 < took <= LIMIT_MS, f"the motors were switched off after {took:.1f} ms")
    if end:
        rig.motors.tell(end)
    until(lambda: named() > before, f"the log names {name}")
    until(lambda: rig.motors.are_on, "the motors are on again without a restart")
    return f"{took:.1f}"


def try_kind(programs, kind):
    rate = 500 if kind in TORQUE_KINDS else 250
    rig = Rig(programs, kind)
    start(rig, rate)
    until(lambda: rig.motors.are_on, f"{kind}: three motors are on")
    if kind in TORQUE_KINDS:
        time.sleep(3)
    rig.swing(8)
    time.sleep(3)
    still, handle = held(rig)
    check(still < handle / 3, f"handle {handle:.2f} deg RMS, camera {still:.4f} deg RMS")
    exchanges, load = counts(rig)
    status = board.status()
    computed, achieved = status["serial"]["load_percent"], status["loop"]["achieved_hz"]
    latency = "/".join(f'{stage(status, "imu_to_motor")[name]:.0f}' for name in ("p50_us", "p99_us"))
    check(achieved > rate * 0.98, f"the loop runs at {achieved:.1f} Hz")
    check(load <= computed + 3, f"load of the line {load:.1f} %, airframed computes {computed:.1f} %")
    board.ctl("point", "--pitch", "-5", "--duration", "1")
    request = f'{stage(board.status(), "request")["p50_us"]:.0f}'
    rig.motors.tell("damaged 0.03")
    time.sleep(1)
    shaken, _ = held(rig)
    serial = board.status()["serial"]
    check(rig.motors.are_on, f'with 3 % damaged bytes: camera {shaken:.4f} deg RMS, {serial["damaged"]} of {serial["requests"]} exchanges damaged')
    rig.motors.tell("damaged 0")
    rig.swing(0)
    time.sleep(1.5)
    if kind == "board":
        faults = [("silent 0 1", "drive_silent", "silent 0 0"), ("fault 0 0x100", "drive_overload", "fault 0 0"),
                  ("fault 0 0x002", "drive_overheated", "fault 0 0"), ("fault 0 0x001", "drive_voltage", "fault 0 0")]
    else:
        hot, volt = "0x04", "0x01"
        faults = [("silent 1 1", "drive_silent", "silent 1 0"), ("fault 0 0x20", "drive_overload", None),
                  (f"fault 2 {hot}", "drive_overheated", "fault 2 0"), (f"fault 1 {volt}", "drive_voltage", "fault 1 0")]
    took = [reaction(rig, *fault) for fault in faults]
    asked = board.ask("stop")
    until(lambda: rig.motors.are_off, "an emergency stop switches the motors off")
    stopped = (rig.motors.last[14] - asked) * 1e-6
    check(stopped <= LIMIT_MS, f"the motors were off {stopped:.1f} ms after the request")
    board.start_motors()
    until(lambda: rig.motors.are_on, "the motors are on again")
    killed_at = time.monotonic()
    board.daemon.send_signal(signal.SIGKILL)
    board.daemon.wait(10)
    # A Feetech servo does not have a watchdog: the unit's ExecStopPost switches it off.
    if kind == "feetech":
        subprocess.run([BIN / "airframed", "--config", board.folder / "airframed.toml", "--outputs-off"], check=True)
    until(lambda: rig.motors.last[14] * 1e-9 >= killed_at, "airframed is killed: the motors stop", seconds=5)
    killed = f"{(rig.motors.last[14] * 1e-9 - killed_at) * 1000:.0f}"
    start(rig, rate)
    # Servos without a watchdog are still on, so the motors' state comes from airframed.
    until(lambda: all(m["state"] == "on" for m in board.status()["serial"]["motors"]), "the motors are on again after a restart")
    board.end()
    until(lambda: rig.motors.are_off, "after SIGTERM a command switches the motors off", seconds=3)
    if kind == "board":
        rig.motors.tell("voltage 12")
        board.start_profile("simplefoc-gimbal", motor_port=rig.motors.line)
        until(lambda: rig.motors.are_on, "airframed starts with the profile of the SimpleFOC gimbal, and switches the motors on")
        board.end()
    rows.append([kind, f"{handle:.2f}", f"{still:.4f}", f"{shaken:.4f}", f"{exchanges:.0f}", f"{load:.1f}", f"{computed:.1f}",
                 f"{achieved:.0f}", latency, request, *took, f"{stopped:.1f}", killed])
    rig.stop()


def main():
    programs = build(), build_plant()
    for kind in sys.argv[1:] or KINDS:
        try_kind(programs, kind)
    heads = ["kind", "handle deg", "held deg", "camera, 3 % damaged", "exchanges/s", "load %", "computed %", "loop Hz", "IMU to motor us p50/p99",
             "request us", "silent ms", "overload ms",
             "hot ms", "voltage ms", "stop ms", "killed ms"]
    widths = [max(len(r[i]) for r in [heads, *rows]) for i in range(len(heads))]
    for line in [heads, *rows]:
        print("  ".join(text.rjust(width) for text, width in zip(line, widths)), flush=True)
    board.done()


main()
