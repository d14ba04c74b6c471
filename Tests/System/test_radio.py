"""A phone finds airframed, connects, reads, writes and receives notifications; bluetoothd, D-Bus, adapter and phone vanish and
return."""
# lab: --own-time
import subprocess, time
from gimbal import AIROS, MODE, NAME, PHONE, PITCH, RBL, BlueZ, Gimbal, Client, PhoneError, connect, handles, step, wait
from stalls import METER

phone, bluez = Client(), BlueZ()
step("phone answers")
# The kernel's simulated battery has a charge of 80 %.
subprocess.run(["modprobe", "airframe_power"], check=True)
gimbal = Gimbal("battery.source=power_supply")
gimbal.wait_radio("advertising")
step("airframed advertises its services")


def names():
    """Both advertisements must have the adapter's address; the phone scans for one after the other."""
    seen = {}
    for service, name in ((AIROS, NAME), (RBL, None)):
        entry = phone.scan(seconds=10, service=service)
        assert entry, f"{service} is not advertised"
        seen[service] = entry[0]["name"]
    return seen


def use(text):
    """Connects like the AirLink app, and uses all features."""
    began = time.monotonic()
    connect(phone)
    phone.subscribe(PITCH)
    first = phone.notifications(PITCH, count=1, timeout=60)
    assert first, "no notification"
    took = time.monotonic() - began
    phone.write(MODE, b"\x01")
    assert phone.read(MODE) == b"\x01"
    step(f"{text}: scan, connect, discover, subscribe, first notification after {took:.2f} s; then write and read")


step(f"advertised: {names()}")
use("first connection")
table = handles(phone)
print("         ", {c[:8]: hex(h) for (_, c), h in table.items()})
assert phone.read("2a00") == NAME.encode(), phone.read("2a00")
step("the GAP name equals the alias of the adapter")
assert phone.read("2a19") == bytes([80]), phone.read("2a19")
step("the battery service reports 80 %")
try:
    phone.write(MODE, b"\x01\x02\x03")
    raise SystemExit("a mode of three bytes was accepted")
except PhoneError as e:
    assert e.att == 0x0D, e
step("a write of the wrong length is refused with ATT error 0x0D")
got = phone.notifications(PITCH, count=30, timeout=60)
step(f"{len(got)} notifications")
status = gimbal.radio()
assert [c["address"] for c in status["centrals"]] == [PHONE] and status["centrals"][0]["mtu"] >= 185, status
step("status contains the phone and its MTU")
print(gimbal.text("status").split("bluetooth")[1].split("\n")[0])
for line in gimbal.text("doctor").splitlines():
    if any(w in line for w in ("bluetooth", "advertising", "phone name", "pairing", "pop-up", "remedy")):
        print("         ", line)
resources = (gimbal.descriptors(), gimbal.radio()["matches"])

phone.disconnect()
wait(lambda: not gimbal.radio()["centrals"], what="the phone to be gone")
use("second connection")
phone.vanish()
wait(lambda: not gimbal.radio()["centrals"], what="the removal of the lost phone from status")
step("status no longer contains a phone that was lost")
use("after vanishing")

# The kernel would keep the dead link and its phone for 4 s, so airframed switches the adapter off and on to end the link.
times = []
for turn in range(10):
    bluez.kill()
    gimbal.wait_radio("no bluetoothd")
    assert not gimbal.radio()["centrals"]
    METER.take()
    began = time.monotonic()
    bluez.start()
    wait(lambda: not phone.status()["connected"], what="the phone to notice")
    noticed = time.monotonic() - began
    use(f"bluetoothd was killed and restarted; the phone noticed the disconnection after {noticed:.2f} s")
    # A stall of the emulated machine is not time that airframed needs.
    times.append(time.monotonic() - began - METER.take())
    assert handles(phone) == table, "handles have moved"
step("the same phone uses all services again after " + ", ".join(f"{t:.2f}" for t in times) + " s; same handles")
assert max(times) < 2, times
phone.disconnect()
wait(lambda: not gimbal.radio()["centrals"], what="the phone to be gone")

bluez.powered(False)
gimbal.wait_radio("adapter off")
step("the adapter is switched off")
time.sleep(1)
bluez.powered(True)
gimbal.wait_radio("advertising")
step("the adapter is switched on: airframed advertises again")
use("after the adapter was switched off and on")
phone.disconnect()
wait(lambda: not gimbal.radio()["centrals"], what="the phone to be gone")

bluez.blocked(True)
gimbal.wait_radio("adapter off")
step("rfkill blocks the adapter")
bluez.blocked(False)
gimbal.wait_radio("advertising")
step("rfkill releases the adapter: airframed advertises again")

phone.adapter(present=False)
gimbal.wait_radio("no adapter")
step("the adapter is unplugged")
phone.adapter(present=True)
gimbal.wait_radio("advertising")
step("the adapter is plugged in: airframed advertises again")
use("after the adapter was unplugged")
assert handles(phone) == table, "handles have moved"

# ---- a second phone: it receives all data, but cannot control the gimbal, which the first phone controls
tablet = Client(phone=2)
connect(tablet)
tablet.subscribe(PITCH)
assert tablet.notifications(PITCH, count=1, timeout=60) and phone.notifications(PITCH, count=1, timeout=60)
assert len(gimbal.radio()["centrals"]) == 2
step("two connected phones receive notifications")
phone.write(MODE, b"\x03")
assert tablet.read(MODE) == b"\x03"
try:
    tablet.write(MODE, b"\x01")
    raise SystemExit("the second phone has control although the first phone is in control")
except PhoneError as e:
    assert e.att == 0x08, e
assert phone.read(MODE) == b"\x03"
step("the second phone can read the mode, but cannot change it")
phone.write(MODE, b"\x01")
phone.disconnect()
wait(lambda: len(gimbal.radio()["centrals"]) == 1, what="the first phone to be gone")
tablet.write(MODE, b"\x03")
assert tablet.read(MODE) == b"\x03"
tablet.write(MODE, b"\x01")
step("the second phone takes control after the first phone has disconnected")
tablet.disconnect()
wait(lambda: not gimbal.radio()["centrals"], what="the second phone to be gone")

bluez.end_bus()
gimbal.wait_radio("no bus")
step("D-Bus and bluetoothd have ended")
bluez.start_bus()
gimbal.wait_radio("advertising")
step("D-Bus and bluetoothd have started: airframed advertises again")
use("after the restart of D-Bus")
assert handles(phone) == table, "handles have moved"
wait(lambda: (gimbal.descriptors(), gimbal.radio()["matches"]) == resources, what=f"resources {resources} again")
step(f"the numbers of descriptors and D-Bus matches are as before: {resources}")
print("         ", gimbal.radio()["counters"])
print("         ", "last error:", gimbal.radio().get("last_error"))
step(f"SIGTERM: airframed ended after {gimbal.stop():.2f} s")
wait(lambda: not phone.status()["connected"], what="the phone to be disconnected")
step("PASSED")
