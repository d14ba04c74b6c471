"""The users of the Bluetooth serial service, over the real stack, with the bytes of the original apps: a flight display, a
robot's remote control, and a telemetry radio at a serial port."""
# lab: --own-time
import os, select, struct, time, tty
from gimbal import RBL, Client, Gimbal, connect, step, wait

CHARACTERISTIC = "713d{:04x}-503e-4c75-ba94-3148f18d941e".format
NOTIFY, WRITE, BAUD = CHARACTERISTIC(2), CHARACTERISTIC(3), CHARACTERISTIC(4)
EXTRA = {0: 50, 30: 39, 74: 20, 76: 152, 77: 143, 253: 83}

phone = Client()


def crc(data):
    value = 0xFFFF
    for byte in data:
        low = (byte ^ value) & 0xFF
        low = (low ^ (low << 4)) & 0xFF
        value = (value >> 8) ^ (low << 8) ^ (low << 3) ^ (low >> 4)
    return value


def frame(sequence, system, component, message, payload):
    body = bytes([len(payload), sequence, system, component, message]) + payload
    return b"\xfe" + body + struct.pack("<H", crc(body + bytes([EXTRA[message]])))


def frames(stream):
    """The MAVLink 1 frames in a stream. Other bytes are an error, except an incomplete frame at either end."""
    found, begin = [], stream.find(b"\xfe")
    while begin + 8 <= len(stream):
        assert stream[begin] == 0xFE, f"{stream[begin]:#x} between frames at {begin}: {stream[begin - 8:begin + 40].hex()}"
        end = begin + 8 + stream[begin + 1]
        if end > len(stream):
            break
        body = stream[begin + 1:end - 2]
        assert struct.unpack("<H", stream[end - 2:end])[0] == crc(body + bytes([EXTRA[body[4]]])), "checksum"
        found.append((body[2], body[3], body[4], body[5:]))
        begin = end
    return found


def received(seconds):
    """All bytes that are notified during this time."""
    phone.notifications(NOTIFY, count=100000, timeout=0)
    time.sleep(seconds)
    return b"".join(bytes.fromhex(n["value"]) for n in phone.notifications(NOTIFY, count=100000, timeout=0))


def write(data):
    phone.write(WRITE, data, response=False)


def robot(gimbal):
    return {f"{motor['axis']}_steps": motor["position_steps"] for motor in gimbal.status()["robot"]["motors"]}


# ---- the flight display: subscribes, sets the speed, sends no other data
gimbal = Gimbal("robot.motors=simulated", "robot.dead_man_s=1")
gimbal.wait_radio("advertising")
wait(lambda: gimbal.status()["enabled"], what="the outputs")
connect(phone, service=RBL)
phone.subscribe(NOTIFY)
phone.write(BAUD, b"\x03", response=False)
wait(lambda: received(0.5), what="the first bytes")
found = frames(received(4))
kinds = {kind: sum(f[2] == kind for f in found) for kind in (0, 30, 74)}
assert min(kinds.values()) > 0 and kinds[30] > kinds[74] >= kinds[0], kinds
assert {(f[0], f[1]) for f in found} == {(1, 154)}
# The camera's direction is not checked: on a busy host the emulated machine stalls, and the motors switch off.
roll, pitch, yaw = struct.unpack_from("<3f", next(f[3] for f in reversed(found) if f[2] == 30), 4)
assert max(abs(roll), abs(pitch), abs(yaw)) <= 3.15, (roll, pitch, yaw)
step(f"flight display: MAVLink 1 only, in 4 s {kinds[0]} heartbeats, {kinds[30]} attitudes, {kinds[74]} head-up displays")
phone.disconnect()

# ---- the robot: exactly the bytes that its app writes
connect(phone, service=RBL)
write(b"R45>")
write(b"U7>")
wait(lambda: (robot(gimbal)["x_steps"], robot(gimbal)["y_steps"]) == (45, 7), what="45 and 7 steps")
write(b"L-45>D-7>")
wait(lambda: (robot(gimbal)["x_steps"], robot(gimbal)["y_steps"]) == (-45, -7), what="-45 and -7 steps")
step("robot: R45> U7>, then L-45>D-7> in one write: both motors reach their positions and stay there")
for piece in (b"F", b">F>", b"F>"):
    write(piece)
wait(lambda: robot(gimbal)["slider_steps"] == 3, what="one step for each command")
time.sleep(0.5)
assert robot(gimbal)["slider_steps"] == 3
step("robot: F>F> in two pieces, then F>: one step for each command")
write(b"B>")
wait(lambda: robot(gimbal)["slider_steps"] == 2, what="one step backwards")
write(b"S>")
assert (robot(gimbal)["x_steps"], robot(gimbal)["y_steps"]) == (-45, -7)
write(b"E>")
wait(lambda: "emergency_stop" in [i["name"] for i in gimbal.status()["inhibitions"]], what="the emergency stop")
write(b"R10>")
time.sleep(1)
assert robot(gimbal)["x_steps"] == -45
write(b"C>")
write(b"R10>")
wait(lambda: robot(gimbal)["x_steps"] == 10, what="10 steps")
step("robot: B>, S>; E> stops all motors until C>")
phone.disconnect()
gimbal.stop()

# ---- a telemetry radio at a serial port, in addition to the gimbal's MAVLink messages
radio, port = os.openpty()
tty.setraw(port)
gimbal = Gimbal("rbl.role=serial", f"rbl.device={os.ttyname(port)}", "rbl.tap=true")
gimbal.wait_radio("advertising")
connect(phone, service=RBL)
phone.subscribe(NOTIFY)
phone.write(BAUD, b"\x04", response=False)
phone.notifications(NOTIFY, count=100000, timeout=0)
sent = 0
for sequence in range(100):
    os.write(radio, frame(sequence, 1, 1, 30, struct.pack("<I6f", sequence, *[0.1] * 6)))
    sent += 1
    time.sleep(0.02)
time.sleep(2)
stream = b"".join(bytes.fromhex(n["value"]) for n in phone.notifications(NOTIFY, count=100000, timeout=0))
found = frames(stream)
vehicle, own = [sum(f[:2] == who for f in found) for who in ((1, 1), (1, 154))]
counts = next(a["counts"] for a in gimbal.radio()["advertisements"] if a["uuid"] == RBL)
assert vehicle + counts["dropped_messages"] >= sent and vehicle > 0 and own > 0, (vehicle, own, counts)
step(f"bridge with a tap: {vehicle} of the radio's {sent} frames and {own} of the gimbal's, no partial frame; {counts['dropped_messages']} whole frames omitted")
command = frame(0, 255, 190, 76, struct.pack("<7fHBBB", 1, 0, 0, 0, 0, 0, 0, 400, 1, 1, 0))
write(command)
got = b""
end = time.monotonic() + 60
while len(got) < len(command) and time.monotonic() < end:
    if select.select([radio], [], [], 1)[0]:
        got += os.read(radio, 1000)
assert got == command, got.hex()
saved = gimbal.ask("get", keys=["rbl.baud"])[0]
assert str(saved["value"]) == "115200" and "saved" in saved["origin"], saved
step("bridge: the phone's bytes reach the radio unchanged; the baud rate that the phone selected is saved")
phone.disconnect()
step(f"SIGTERM: airframed ended after {gimbal.stop():.2f} s")
step("PASSED")
