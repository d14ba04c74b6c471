"""Bluetooth with security = "encrypted": an unpaired phone is refused. A phone pairs with the passkey that airframectl shows,
connects again with its keys, and is deleted."""
# lab: --own-time
import os
from gimbal import MODE, PHONE, PITCH, RUN, Client, Gimbal, PhoneError, connect, step, wait

phone = Client()
step("phone answers")
gimbal = Gimbal("bluetooth.security=encrypted")
gimbal.wait_radio("advertising")
step("airframed advertises its services")


def refused(what, call):
    try:
        call()
    except PhoneError as e:
        assert e.att in (0x05, 0x0F), e
        return step(f"{what}: refused, {e}")
    raise SystemExit(f"{what} was not refused")


connect(phone)
refused("writing without keys", lambda: phone.write(MODE, b"\x01"))
refused("reading without keys", lambda: phone.read(MODE))
refused("subscribing without keys", lambda: phone.subscribe(PITCH))
try:
    phone.pair(io="keyboard", passkey=123456)
    raise SystemExit("the phone paired although pairing was not allowed")
except PhoneError as e:
    step(f"pairing is refused while it is not allowed: {e}")
if phone.status()["connected"]:
    phone.disconnect()
wait(lambda: not gimbal.radio()["centrals"], what="the phone to be gone")

connect(phone)
gimbal.ask("pair", action="allow", seconds=120)
wait(lambda: (gimbal.radio().get("pairing") or {}).get("remaining_s"), what="pairing to be allowed")
passkey = RUN / "passkey"
pid = os.fork()
if pid == 0:                                 # enters the passkey that airframectl shows
    child = Gimbal.__new__(Gimbal)
    child.lines = None
    shown = wait(lambda: (child.radio().get("pairing") or {}).get("passkey"), what="a passkey")
    assert len(shown) == 6, shown
    (RUN / "passkey.new").write_text(shown)
    os.replace(RUN / "passkey.new", passkey)
    os._exit(0)
answer = phone.pair(io="keyboard", passkey=str(passkey), seconds=60)
os.waitpid(pid, 0)
assert answer == {"encrypted": True, "authenticated": True}, answer
step(f"paired: {answer}")
wait(lambda: [b["address"] for b in gimbal.radio()["bonds"]] == [PHONE], what="the bond in status")
phone.write(MODE, b"\x01")
assert phone.read(MODE) == b"\x01"
phone.subscribe(PITCH)
assert phone.notifications(PITCH, count=3, timeout=60)
step("reads, writes and notifications over the encrypted link")
print("          ", gimbal.text("pair").strip())

phone.disconnect()
wait(lambda: not gimbal.radio()["centrals"], what="the phone to be gone")
connect(phone)
assert phone.status()["encrypted"]
phone.write(MODE, b"\x01")
phone.subscribe(PITCH)
assert phone.notifications(PITCH, count=3, timeout=60), "no notification after the reconnection"
step("the phone reconnected with its keys")

phone.disconnect()
wait(lambda: not gimbal.radio()["centrals"], what="the phone to be gone")
gimbal.ask("pair", action="forget", address=PHONE)
wait(lambda: not gimbal.radio()["bonds"], what="the bond to be gone")
phone.forget()
step("forgotten")
connect(phone)
refused("writing after the removal of the keys", lambda: phone.write(MODE, b"\x01"))
print("          ", gimbal.radio()["counters"])
phone.disconnect()
step(f"SIGTERM: airframed ended after {gimbal.stop():.2f} s")
step("PASSED")
