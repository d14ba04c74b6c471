"""End to end: peripheral.py at bluetoothd, the phone as central. Run with:
    Tests/Lab/vm -- python3 Tests/Lab/selftest/ble.py
"""
import os, subprocess, sys, time
from pathlib import Path
here = Path(__file__).resolve().parent
sys.path.insert(0, str(here.parent))
from phone import Client, PhoneError

SERVICE = "a1b20000-1f2e-4d3c-8b5a-6f7e8d9c0b1a"
NOTIFY, WRITE, SECRET, GUARDED, STREAM = (SERVICE.replace("a1b20000", f"a1b2000{n}") for n in range(1, 6))
PASSKEY = "/run/lab/passkey"
began = last = time.monotonic()


def step(text):
    global last
    now = time.monotonic()
    print(f"{now - began:6.2f} s (+{now - last:.2f})  {text}", flush=True)
    last = now


def peripheral(capability="none"):
    p = subprocess.Popen([os.environ["LAB_PYTHON"], str(here / "peripheral.py"), capability, PASSKEY],
                         stdout=subprocess.PIPE, text=True)
    for line in p.stdout:
        if line.startswith("advertising"):
            return p
    sys.exit("the peripheral did not start")


def refused(call, att):
    try:
        call()
    except PhoneError as e:
        assert e.att == att, e
        return str(e)
    sys.exit("the request was not refused")


phone = Client()
step("phone answers")
app = peripheral()
step("peripheral registered (no agent)")
found = phone.scan(seconds=10, service=SERVICE)
assert found and found[0]["name"] == "Lab gimbal" and found[0]["connectable"], found
step(f"scan: {found[0]}")
connected = phone.connect(address=found[0]["address"], mtu=185)
assert connected["mtu"] == 185, connected
step(f"connect, MTU, discover: {connected}")
for s in phone.services():
    print("        ", s["uuid"], *(f"{c['uuid'][:8]}:{'+'.join(c['properties'])}" for c in s["characteristics"]))
step("discover again")
phone.write(WRITE, b"\x01\x02\x03")
assert phone.read(WRITE) == b"\x01\x02\x03"
step("write, read back")
phone.write(STREAM, bytes(range(20)), response=False)
while phone.read(STREAM) != bytes(range(20)):
    time.sleep(0.02)
step("write without response")
phone.write(WRITE, bytes(180))
assert phone.read(WRITE) == bytes(180)
step("180 bytes")
step("refused write: " + refused(lambda: phone.write(WRITE, b"\xff"), 0x0D))
phone.subscribe(NOTIFY)
got = phone.notifications(NOTIFY, count=20, timeout=10)
assert len(got) >= 20, got
span = got[-1]["t"] - got[0]["t"]
phone.unsubscribe(NOTIFY)
step(f"subscribe: {len(got)} notifications, {(len(got) - 1) / span:.1f}/s")
step("without encryption: " + refused(lambda: phone.write(SECRET, b"\x01"), 0x0F))
phone.disconnect()
time.sleep(0.3)
assert phone.status()["connected"] is False
phone.connect(service=SERVICE)
step("disconnect, scan, reconnect")
phone.vanish()
step(f"out of range: {phone.log()[-1]}")
phone.connect(service=SERVICE)
step("reconnect")
phone.disconnect()
app.terminate(); app.wait()

for capability, io, mitm, characteristic in (("NoInputNoOutput", "none", False, SECRET), ("DisplayOnly", "keyboard", True, GUARDED)):
    if os.path.exists(PASSKEY):
        os.unlink(PASSKEY)
    app = peripheral(capability)
    phone.connect(service=SERVICE)
    step(f"agent {capability}: connected")
    step("not paired: " + refused(lambda: phone.write(characteristic, b"\x01"), 0x0F if characteristic == SECRET else 0x05))
    step(f"pair: {phone.pair(io=io, passkey=PASSKEY)}")
    phone.write(characteristic, b"\x07")
    step("protected write")
    phone.disconnect()
    phone.connect(service=SERVICE)
    assert phone.status()["encrypted"]
    step("reconnected, encrypted with the keys")
    phone.write(characteristic, b"\x08")
    phone.disconnect()
    step("protected write over the bond, disconnect")
    time.sleep(0.5)     # a device that bluetoothd still takes for connected is disconnected again 2 s later
    subprocess.run(["bluetoothctl", "remove", "C0:1A:B0:00:00:02"], stdout=subprocess.DEVNULL)
    phone.forget()
    app.terminate(); app.wait()
step("PASSED")
