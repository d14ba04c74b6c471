"""Three ODrives on a virtual CAN bus, each a process with its own motor, hold a camera: the loop is closed at 500 Hz. If a
drive loses its supply, the other drives switch off; if airframed ends, all drives switch off.
"""
# lab: --bluetooth off --own-time --mips 500
import time

from board import Board, rms
from drives import INTERFACE, Drives, bring_up, build, settings
from plant import ACCEL, GYRO

board = Board([ACCEL, GYRO])
check, until = board.check, board.until
LIMIT_MS = 50


def main():
    bring_up()
    program = build()
    drives = Drives(program, "odrive")
    board.start(settings("odrive"), rate=500, timeout_ms=100)
    until(lambda: drives.are_on, "three drives are switched on, in torque control")
    until(lambda: not board.names("notices") & {"inertia_unknown"}, "the inertia is measured")
    drives.swing(8)
    time.sleep(2)
    first = len(drives.history)
    time.sleep(3)
    rows = drives.history[first:]
    for axis, handle, camera in (("roll", 2, 5), ("pitch", 3, 6)):
        swing, held = rms(r[handle] for r in rows), rms(r[camera] for r in rows)
        check(held < 0.2, f"{axis}: handle {swing:.2f} deg RMS, camera {held:.4f} deg RMS")
    can = board.status()["can"]
    check(all(d["state"] == "on" and d["supply_v"] > 24 for d in can["drives"]),
          "status lists the drives: " + ", ".join(f'{d["axis"]} {d["state"]} {d["supply_v"]:.1f} V' for d in can["drives"]))
    check(can["malformed_frames"] == 0 and can["error_reports"] == 0, "status counts no malformed frame and no error")

    drives.tell(1, "silent 1")
    until(lambda: drives.are_off, "one drive loses its supply: the other drives are switched off")
    check(drives.reaction_ms(1) <= LIMIT_MS, f"the drives were switched off after {drives.reaction_ms(1):.1f} ms")
    board.is_named("drive_silent")
    drives.tell(1, "silent 0")
    until(lambda: drives.are_on, "the drive answers again: all drives are on without a restart")

    board.end()
    check(drives.are_off, "the drives are off at the end")
    check(sum(j.faults for j in drives.joints) == 0, "no watchdog has expired: a command switched each drive off")
    drives.stop()

    drives = Drives(program, "moteus")
    board.start_profile("can-gimbal", can_interface=INTERFACE)
    until(lambda: drives.are_on, "airframed starts with the profile of the CAN gimbal, and switches the drives on")
    board.end()
    check(drives.are_off, "airframed switches the drives off at the end")
    drives.stop()
    board.done()


main()
