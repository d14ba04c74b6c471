"""Twenty restarts of bluetoothd, and twenty phones that go out of range: the link recovers every time, and keeps no resources.
For a minute, none of the four notifications is lost. 2,000 random writes move no motor. CYCLES=n sets the number of restarts.
"""
import os, random, time
from gimbal import CONTROL, MODE, PITCH, BlueZ, Client, Gimbal, PhoneError, connect, step, wait

OTHERS = ("43a85368-8422-4573-a554-411a4a6e87f1", "e974ac4a-8182-4458-9419-4ac9c6c5184e",
          "c8a4a58b-1579-4451-b016-1f38e3115a3a")
PID = ("b16b472c-88a4-4734-9f85-01458e08d669", "8184457e-85a8-4217-a9a3-a7d57947a612",
       "5d9b73b3-81e0-4368-910a-e322359b8676", "6e13e51a-f3c2-46a4-b203-92147395c5d0")

CYCLES = int(os.environ.get("CYCLES", "20"))
phone, bluez = Client(), BlueZ()
gimbal = Gimbal("bluetooth.max_writes_hz=5000")
gimbal.wait_radio("advertising")
step("airframed advertises its services")


def use():
    began = time.monotonic()
    connect(phone)
    phone.subscribe(PITCH)
    assert phone.notifications(PITCH, count=1, timeout=20), "no notification"
    return time.monotonic() - began


use()
phone.disconnect()
wait(lambda: not gimbal.radio()["centrals"], what="the phone to be gone")
before = (gimbal.descriptors(), gimbal.memory_kb(), gimbal.radio()["matches"])
registered = []
for cycle in range(CYCLES):
    bluez.kill()
    gimbal.wait_radio("no bluetoothd")
    bluez.start()
    # The time starts when bluetoothd is on D-Bus and has switched its adapter on.
    wait(lambda: gimbal.radio()["state"] not in ("no bluetoothd", "starting", "no adapter"), 60, 0.005, "the adapter")
    began = time.monotonic()
    gimbal.wait_radio("advertising")
    registered.append(time.monotonic() - began)
    wait(lambda: not phone.status()["connected"], what="the phone to notice")
    took = use()
    phone.disconnect()
    wait(lambda: not gimbal.radio()["centrals"], what="the phone to be gone")
    step(f"restart {cycle + 1}: registered {registered[-1]:.2f} s after bluetoothd had returned; first notification after {took:.2f} s")
print(f"          registration after the return of bluetoothd: median {sorted(registered)[CYCLES // 2]:.2f} s, "
      f"worst {max(registered):.2f} s")
for cycle in range(CYCLES):
    took = use()
    phone.vanish()
    wait(lambda: not gimbal.radio()["centrals"], what="the vanished phone to be gone")
    step(f"lost phone {cycle + 1}: first notification after {took:.2f} s, then removed from status")

use()
for characteristic in OTHERS:
    phone.subscribe(characteristic)
time.sleep(1)
for characteristic in (PITCH, *OTHERS):
    phone.notifications(characteristic, count=10_000, timeout=0)
sent, dropped = (gimbal.radio()["counters"][k] for k in ("notifications", "dropped_notifications"))
began = time.monotonic()
time.sleep(60)
# Unsubscribes first, so that the number of sent notifications no longer increases.
for characteristic in (PITCH, *OTHERS):
    phone.unsubscribe(characteristic)
took = time.monotonic() - began
time.sleep(1)
seen = [len(phone.notifications(c, count=10_000, timeout=0)) for c in (PITCH, *OTHERS)]
sent = gimbal.radio()["counters"]["notifications"] - sent
dropped = gimbal.radio()["counters"]["dropped_notifications"] - dropped
step(f"{took:.1f} s of notifications: {seen} received, {sent} sent, {dropped} dropped by airframed")
assert dropped == 0 and min(seen) >= 590, "notifications were lost"

def attitude():
    return gimbal.status()["attitude"]


randomly, refused, rest = random.Random(5), 0, attitude()
for n in range(2000):
    value = bytes(randomly.randrange(256) for _ in range(randomly.randrange(20)))
    target = randomly.choice((MODE, CONTROL, *PID))
    if target == MODE and len(value) == 1 and value[0] < 5:
        continue    # The number of an existing mode is a valid request.
    try:
        phone.write(target, value)
        print("          accepted:", target[:8], value)
    except PhoneError as e:
        assert e.att, e
        refused += 1
moved = max(abs(attitude()[k] - rest[k]) for k in ("yaw_deg", "roll_deg", "pitch_deg"))
step(f"2000 random writes over the air: {refused} refused, the camera moved {moved:.3f} deg")
assert moved < 1 and gimbal.status()["mode"] == "locked", gimbal.tail()
phone.disconnect()
wait(lambda: not gimbal.radio()["centrals"], what="the phone to be gone")
after = (gimbal.descriptors(), gimbal.memory_kb(), gimbal.radio()["matches"])
print("          descriptors, memory in kB, matches: before", before, "after", after)
print("          ", gimbal.radio()["counters"])
assert after[0] == before[0] and after[2] == before[2]
assert after[1] < before[1] + 4096, "memory has grown"
step(f"SIGTERM: airframed ended after {gimbal.stop():.2f} s")
step("PASSED")
