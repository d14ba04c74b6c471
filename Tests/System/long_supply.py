"""The GPIO line that switches the supply of three Damiao drives on a virtual CAN bus. Drives without supply are silent, and start
for 0.7 s when they get it: the line must be on before the motors. A stop, a silent drive and each end of airframed switch it off.
"""
# lab: --bluetooth off --own-time --mips 500
import signal, subprocess, threading, time

from board import BIN, Board
from drives import Drives, bring_up, build, settings
from plant import ACCEL, GYRO, gpio_chip, gpio_line, gpio_trace, gpio_trace_clear

POWER, START_S, LIMIT_MS = 17, 0.7, 50
board = Board([ACCEL, GYRO])
check, until = board.check, board.until


class Supply(threading.Thread):
    """Switches the simulated drives on and off with the GPIO line."""

    def __init__(self, drives):
        super().__init__(daemon=True)
        self.drives, self.is_on, self.since = drives, False, 0
        # Drives that are silent although they have supply.
        self.failed = set()
        for axis in range(3):
            drives.tell(axis, "silent 1")
        self.start()

    def run(self):
        have_started = False
        while True:
            level = gpio_line(POWER)[0] == 1
            if level != self.is_on:
                self.is_on, self.since, have_started = level, time.monotonic(), False
                if not level:
                    for axis in {0, 1, 2} - self.failed:
                        self.drives.tell(axis, "silent 1")
                    self.failed = set()
            if self.is_on and not have_started and time.monotonic() - self.since > START_S:
                have_started = True
                for axis in range(3):
                    self.drives.tell(axis, "silent 0")
            time.sleep(0.005)


def line_off_ms(since):
    """Time from an instant until the line went off, ms."""
    until(lambda: gpio_line(POWER)[0] == 0, "the supply is off")
    return min(t for t, levels in gpio_trace() if t >= since and not levels >> POWER & 1) * 1e-6 - since * 1e-6


def main():
    bring_up()
    drives = Drives(build(), "mit")
    supply = Supply(drives)
    configuration = (f'gpio_chip = "{gpio_chip()}"\npower_line = {POWER}\npower_line_role = "supply"\n'
                     f'power_line_boot_ms = 1500\n' + settings("mit"))
    board.start(configuration, rate=500, timeout_ms=100)
    until(lambda: supply.is_on, "the supply is on, while no drive answers")
    names = board.names() | board.names("notices")
    check("drives_starting" in names and "drive_silent" not in names, f"the drives start, and are not expected to answer: {sorted(names)}")
    until(lambda: drives.are_on, "three drives are on")
    drives_status = board.status()["can"]["drives"]
    check(all(abs(d["watchdog_ms"] - 25) < 0.1 for d in drives_status), "each drive has confirmed its watchdog of 25 ms")

    board.ctl("mode", "inactive")
    until(lambda: drives.are_off, "mode inactive: the drives are off")
    time.sleep(1)
    check(supply.is_on and "drive_silent" not in board.names(), "the supply stays on, and the drives still answer")
    board.ctl("mode", "locked")
    until(lambda: drives.are_on, "mode locked: the drives are on")

    # The memory of airframed is not locked here, so the first stop would load the program's pages from the disk, for up to 0.3 s.
    subprocess.run(["cat", str(BIN / "airframed")], stdout=subprocess.DEVNULL, check=True)
    gpio_trace_clear()
    asked = board.ask("stop")
    took = line_off_ms(asked)
    until(lambda: drives.are_off, "the drives are off")
    first = (max(j.off_at for j in drives.joints) - asked) * 1e-6
    check(took <= LIMIT_MS, f"{took:.1f} ms after the request for a stop; the drives: {first:.1f} ms; {[(t - asked) * 1e-6 for t, _ in gpio_trace()]}")
    time.sleep(3)
    check(not supply.is_on, "the supply stays off until the reset")
    board.ctl("stop", "--reset")
    board.ctl("mode", "locked")
    until(lambda: drives.are_on, "reset: supply, drives and motors are on again")

    gpio_trace_clear()
    supply.failed = {1}
    drives.tell(1, "silent 1")
    until(lambda: not (drives.joints[0].is_on or drives.joints[2].is_on), "a drive is silent: the others are off")
    check(drives.reaction_ms(1) <= LIMIT_MS, f"after {drives.reaction_ms(1):.1f} ms")
    took = line_off_ms(drives.joints[1].fault_at)
    check(took <= 2 * LIMIT_MS, f"{took:.1f} ms after the drive's last answer")
    check({"drive_silent", "drives_starting"} <= board.names(), "the cause stays visible while the supply is off")
    until(lambda: drives.are_on, "the drives get supply again after a pause, and all are on")

    board.daemon.send_signal(signal.SIGKILL)
    board.daemon.wait()
    done = subprocess.run([BIN / "airframed", "--config", board.folder / "airframed.toml", "--outputs-off"], capture_output=True, text=True)
    check(done.returncode == 0, f"--outputs-off after a kill: {(done.stdout + done.stderr).strip()}")
    check(gpio_line(POWER)[0] == 0, "the supply is off")
    until(lambda: drives.are_off, "the drives are off")

    board.start(configuration, rate=500, timeout_ms=100)
    until(lambda: drives.are_on, "started again: the drives are on")
    board.end()
    check(gpio_line(POWER)[0] == 0, "the supply is off at the end")
    until(lambda: drives.are_off, "the drives are off")
    drives.stop()
    board.done()


main()
