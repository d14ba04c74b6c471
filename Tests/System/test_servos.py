"""A pan-tilt head with two Feetech servos on a pseudoterminal, the model of the servos in its own process: the servos are found and
numbered with airframectl, then airframed stabilises the camera over a line that echoes all bytes and damages 3 % of them. If a
servo loses its supply or is overloaded, the battery is empty, or airframed ends, the servos switch off.
"""
# lab: --bluetooth off --own-time --mips 500
import subprocess, time

from board import BIN, Board, rms
from plant import ACCEL, GYRO
from servos import SERVO, Motors, build, settings

board = Board([ACCEL, GYRO])
check, until = board.check, board.until
LIMIT_MS = 50


def motor(line, *words):
    done = subprocess.run([BIN / "airframectl", "motor", *words, "--port", line], capture_output=True, text=True)
    return done.stdout + done.stderr


def main():
    servos = Motors(build(), "feetech", count=2)
    until(lambda: servos.line.exists(), "the serial line exists")
    check("servo 2 at 1000000 bit/s: model 777, 180.0°, 7.4 V" in (text := motor(servos.line, "scan", "--last", "3")), text.strip())
    check("Servo 2 now has the identifier 9." in motor(servos.line, "id", "9", "--from", "2"), "airframectl assigns a new identifier to a servo")
    check("identifier 2." in motor(servos.line, "id", "2", "--from", "9"), "airframectl assigns the old identifier again")

    busy = subprocess.Popen(["chrt", "-i", "0", "sh", "-c", "while :; do :; done"])
    board.start(settings("feetech", servos.line, count=2), rate=250, timeout_ms=100,
                servo=SERVO.format(rate=250))
    until(lambda: servos.are_on, "two servos are switched on")
    servos.tell("damaged 0.03")
    servos.tell("amplitude 8")
    time.sleep(3)
    first = len(servos.history)
    time.sleep(4)
    rows = servos.history[first:]
    handle, camera = rms(r[3] for r in rows), rms(r[6] for r in rows)
    check(camera < handle / 3, f"pitch: handle {handle:.2f} deg RMS, camera {camera:.3f} deg RMS, with 3 % of the bytes damaged")
    serial = board.status()["serial"]
    check(serial["damaged"] > 0 and all(m["state"] == "on" for m in serial["motors"]),
          f'{serial["damaged"]} of {serial["requests"]} exchanges damaged, supply {serial["supply_v"]} V')
    check(board.status()["joints"]["source"] == "encoders", "the joint angles come from the servos")
    servos.tell("damaged 0")
    servos.tell("amplitude 0")
    time.sleep(1)

    for words, name, end in (("silent 1 1", "drive_silent", "silent 1 0"), ("fault 0 0x20", "drive_overload", None)):
        servos.tell(words)
        until(lambda: servos.last[1] == 0, f"simulated fault '{words}': all servos are off")
        check(0 < servos.reaction_ms <= LIMIT_MS, f"the servos were switched off after {servos.reaction_ms:.1f} ms")
        board.is_named(name)
        if end:
            servos.tell(end)
        until(lambda: servos.are_on, "the servos are on again without a restart")

    servos.tell("voltage 6.8")
    until(lambda: "supply_low" in board.names("notices"), "status reports a low supply")
    check(servos.are_on, "the servos stay on with a low supply")
    servos.tell("voltage 6.0")
    until(lambda: servos.are_off, "with an empty supply, airframed switches the servos off")
    check(abs(servos.last[9] + 60) < 3, f"the camera is at the rest pose: pitch {servos.last[9]:.1f} deg")
    check("supply_empty" in board.names() | board.names("notices"), "status reports an empty supply")
    servos.tell("voltage 7.8")
    until(lambda: "supply_empty" not in board.names() | board.names("notices"), "status no longer reports an empty supply")
    board.ctl("mode", "locked")
    until(lambda: servos.are_on, "a mode request switches the servos on")
    board.end()
    until(lambda: servos.are_off, "the servos are off at the end", seconds=2)

    board.start_profile("bus-servo-head", motor_port=servos.line)
    until(lambda: servos.are_on, "airframed starts with the profile of the pan-tilt head, and switches the servos on")
    until(lambda: board.status()["serial"]["supply_v"] > 7, "status shows the supply voltage")
    board.end()
    busy.kill()
    busy.wait()
    servos.stop()
    board.done()


main()
