"""The AirLink app, a flight display and a robot controller over the real Bluetooth stack, with the exact bytes that they send."""
# lab: --own-time
import struct, time
from gimbal import AIROS, MODE, CONTROL, NAME, PITCH, RBL, Client, Gimbal, PhoneError, connect, step, wait
from stalls import judged

ROLL, YAW = "43a85368-8422-4573-a554-411a4a6e87f1", "e974ac4a-8182-4458-9419-4ac9c6c5184e"
STATUS = "c8a4a58b-1579-4451-b016-1f38e3115a3a"
PITCH_PID, ROLL_PID = "b16b472c-88a4-4734-9f85-01458e08d669", "8184457e-85a8-4217-a9a3-a7d57947a612"
YAW_PID, KALMAN = "5d9b73b3-81e0-4368-910a-e322359b8676", "6e13e51a-f3c2-46a4-b203-92147395c5d0"
READ_NOTIFY, READ_WRITE = {"read", "notify"}, {"read", "write"}
TABLE = {PITCH: READ_NOTIFY, ROLL: READ_NOTIFY, YAW: READ_NOTIFY, STATUS: READ_NOTIFY, MODE: READ_WRITE,
         CONTROL: {"write"}, PITCH_PID: READ_WRITE, ROLL_PID: READ_WRITE, YAW_PID: READ_WRITE, KALMAN: READ_WRITE}
RBL_CHARACTERISTIC = "713d{:04x}-503e-4c75-ba94-3148f18d941e".format
LOCKED, PAN_FOLLOW, FPV, TRACKING = 2, 3, 4, 5

phone = Client()
gimbal = Gimbal()
gimbal.wait_radio("advertising")
wait(lambda: gimbal.status()["enabled"], what="the outputs")
step("airframed advertises its services, and the motors are on")


def refused(code, characteristic, value, words):
    try:
        phone.write(characteristic, value)
    except PhoneError as e:
        assert e.att == code, f"{words}: {e}, expected ATT error 0x{code:02x}"
        return
    raise SystemExit(f"{words}: the write was accepted")


def characteristics(service):
    """Characteristics that the phone has discovered: UUID → properties."""
    found = next(s for s in phone.services() if s["uuid"] == service)
    return {c["uuid"]: set(c["properties"]) for c in found["characteristics"]}


def latest(characteristic):
    """Value of the next notification; notifications received before the call are discarded."""
    phone.notifications(characteristic, count=1000, timeout=0)
    return bytes.fromhex(phone.notifications(characteristic, count=1, timeout=60)[-1]["value"])


def angle(characteristic):
    return struct.unpack("<f", latest(characteristic))[0]


def wait_status(value, words):
    wait(lambda: latest(STATUS)[0] == value, what=f"status {value} ({words})")
    step(f"status {value}: {words}")


# ---- AirLink: scans for the exact name, finds ten characteristics, makes four subscriptions
began = time.monotonic()
connect(phone, name=NAME)
found = characteristics(AIROS)
assert found == TABLE, found
for characteristic in (PITCH, ROLL, YAW, STATUS):
    phone.subscribe(characteristic)
assert len(latest(PITCH)) == 4
step(f"AirLink: scan, connect, ten characteristics, four subscriptions, first angle after {time.monotonic() - began:.2f} s")

assert phone.read(MODE) == b"\x01"
assert phone.read(PITCH_PID) == phone.read(ROLL_PID) == bytes.fromhex("9a99993fcdcccc3dcdcc4c3d")
assert phone.read(YAW_PID) == struct.pack("<3f", 0.8, 0.05, 0.02)
assert phone.read(KALMAN) == struct.pack("<3f", 0.001, 0.003, 0.03)
step("the first read of mode, PID and Kalman returns their values")


def sent():
    """Number of notifications that the service has sent to the radio; the status is at most 0.2 s old."""
    return next(a["counts"]["notifications"] for a in gimbal.radio()["advertisements"] if a["uuid"] == AIROS)


before, began = sent(), time.monotonic()
time.sleep(10.5)
handed, took = (sent() - before) / 4, time.monotonic() - began
assert handed <= 10 * took + 4, f"notifications of {handed} periods in {took:.1f} s"
counts = [sum(began < n["t"] < began + 10 for n in phone.notifications(c, count=10000, timeout=0))
          for c in (PITCH, ROLL, YAW, STATUS)]
assert max(counts) - min(counts) <= 1 and counts[0] >= 0.8 * handed >= 30, (counts, handed)
step(f"10 s of notifications: {counts}, complete in every period; {handed / took:.1f} periods per second passed to bluetoothd")
# Fewer notifications, because a slow machine would deliver the next ones too late.
gimbal.ctl("set", "airos.notify_hz", "3")

for byte, status, words in ((2, PAN_FOLLOW, "pan follow"), (3, FPV, "FPV"), (1, LOCKED, "locked")):
    phone.write(MODE, bytes([byte]))
    assert phone.read(MODE) == bytes([byte])
    wait_status(status, words)

# ---- the app tracks a person: speeds have an effect only in mode 4; a timeout ends the motion
def track(pan, tilt):
    """Sends speeds for 2 s, or until the camera is in mode `locked` again."""
    end = time.monotonic() + 2
    while time.monotonic() < end:
        phone.write(CONTROL, b"track_pan:%.2f" % pan)
        phone.write(CONTROL, b"track_tilt:%.2f" % tilt)


def ignored():
    before = gimbal.status()["setpoint_deg"]
    track(30, 8)
    after = gimbal.status()["setpoint_deg"]
    moved = max(abs(after[axis] - before[axis]) for axis in ("yaw", "pitch"))
    return moved < 0.1, f"speeds outside mode 4 do not move the camera: {moved:.3f} deg"


def tracked():
    yaw, pitch = angle(YAW), angle(PITCH)

    def is_tracking():
        # Without speeds, the mode ends after 1 s, also during a stall of the machine.
        phone.write(MODE, b"\x04")
        phone.write(CONTROL, b"track_pan:0.00")
        phone.write(CONTROL, b"track_tilt:0.00")
        return latest(STATUS)[0] == TRACKING

    wait(is_tracking, what="tracking")
    step(f"status {TRACKING}: tracking")
    track(12.5, 8)
    wait_status(LOCKED, "the mode is locked 1 s after the last speed")
    panned, tilted = angle(YAW) - yaw, angle(PITCH) - pitch
    return 10 < panned < 60 and 6 < tilted < 40, f"tracked right by {panned:.1f} deg and down by {tilted:.1f}"


def start_motors():
    """Resets a latched fault."""
    gimbal.ctl("stop", "--reset", check=False)
    phone.write(MODE, b"\x01")
    time.sleep(3)


for trial in (ignored, tracked):
    holds, words = judged(trial, start_motors)
    assert holds is not False, f"{words}\n{gimbal.text('status')}\n{gimbal.tail()}"
    step(words)
assert phone.read(MODE) == b"\x01"

# ---- tuning like the app: three triples, then save
triple = struct.pack("<3f", 2.5, 0.2, 0.1)
for characteristic in (PITCH_PID, ROLL_PID, YAW_PID):
    phone.write(characteristic, triple)
    assert phone.read(characteristic) == triple
phone.write(CONTROL, b"save")
step("the PID values of three axes are written, read back and saved")

refused(0x0D, PITCH_PID, triple[:11], "eleven bytes of PID")
refused(0x81, PITCH_PID, struct.pack("<3f", float("nan"), 0, 0), "a PID value that is not a number")
refused(0x80, PITCH_PID, struct.pack("<3f", 99, 0, 0), "a PID value out of range")
refused(0x80, MODE, b"\x09", "mode 9")
refused(0x0D, MODE, b"", "an empty mode")
refused(0x06, CONTROL, b"make_coffee", "an unknown command")
assert phone.read(PITCH_PID) == triple and phone.read(MODE) == b"\x01"
step("six invalid writes are refused with their codes, and change nothing")

phone.write(CONTROL, b"calibrate")
wait_status(1, "calibrating")
wait_status(LOCKED, "locked again")

phone.write(MODE, b"\x04")
phone.write(CONTROL, b"track_pan:20.00")
phone.disconnect()
wait(lambda: not gimbal.radio()["centrals"], what="the phone to be gone")
wait(lambda: abs(gimbal.status()["rate_dps"]["yaw"]) < 3, what="the camera to stop")
step("the camera stops when the phone disconnects during tracking")

took = gimbal.stop()
gimbal = Gimbal()
gimbal.wait_radio("advertising")
connect(phone, name=NAME)
assert phone.read(YAW_PID) == triple, phone.read(YAW_PID)
step(f"the saved PID is in effect after a restart (airframed ended after {took:.2f} s)")
phone.write(CONTROL, b"defaults")
assert phone.read(PITCH_PID) == bytes.fromhex("9a99993fcdcccc3dcdcc4c3d")
step("defaults")
phone.disconnect()
wait(lambda: not gimbal.radio()["centrals"], what="the phone to be gone")

# ---- the flight display: finds the service, 0002 to 0004, subscribes, then writes 0003 without response
connect(phone, service=RBL)
found = characteristics(RBL)
assert found == {
    RBL_CHARACTERISTIC(2): {"notify"}, RBL_CHARACTERISTIC(3): {"write-without-response"},
    RBL_CHARACTERISTIC(4): READ_WRITE | {"write-without-response"}, RBL_CHARACTERISTIC(5): READ_WRITE,
    RBL_CHARACTERISTIC(6): {"read"}, RBL_CHARACTERISTIC(7): READ_WRITE}, found
phone.subscribe(RBL_CHARACTERISTIC(2))
phone.write(RBL_CHARACTERISTIC(4), b"\x03", response=False)
assert phone.read(RBL_CHARACTERISTIC(4)) == b"BAUD_57600"
assert phone.read(RBL_CHARACTERISTIC(6)) == b"Biscuit_2.0" and phone.read(RBL_CHARACTERISTIC(7)) == b"0 dBm"
phone.write(RBL_CHARACTERISTIC(4), b"\x09", response=False)
assert phone.read(RBL_CHARACTERISTIC(4)) == b"BAUD_57600"
wait(lambda: [a["counts"].get("invalid_bauds") for a in gimbal.radio()["advertisements"]] == [None, 1],
     what="the invalid baud in status")
step("flight display: table, notify, baud without an answer, version, power")

# ---- the robot controller: writes 0003 without response, one command per write
for command in (b"F>", b"S>", b"R45>", b"U-7>"):
    phone.write(RBL_CHARACTERISTIC(3), command, response=False)
wait(lambda: gimbal.status()["enabled"], what="the motors after the commands")
step("robot controller: four commands written")
step(f"SIGTERM: airframed ended after {gimbal.stop():.2f} s")
step("PASSED")
