"""Attacks by another user of the same computer: forged signals on the system bus, and idle connections to the socket."""
# lab: --own-time
import grp, os, signal, socket, struct, subprocess, time, traceback
from gimbal import MODE, PHONE, SOCKET, Client, Gimbal, connect, step

NOBODY = 65534
BUS = "/run/dbus/system_bus_socket"
DEVICE = "/org/bluez/hci0/dev_" + PHONE.replace(":", "_")
BUS_NAME, OBJECTS, PROPERTIES = "org.freedesktop.DBus", "org.freedesktop.DBus.ObjectManager", "org.freedesktop.DBus.Properties"


class Marshal:
    """Encoder of the D-Bus types that these signals need, little-endian (D-Bus Specification, "Marshaling")."""

    def __init__(self):
        self.bytes = bytearray()

    def pad(self, n):
        self.bytes += bytes(-len(self.bytes) % n)

    def u32(self, value):
        self.pad(4)
        self.bytes += struct.pack("<I", value)

    def text(self, value):
        self.u32(len(value))
        self.bytes += value.encode() + b"\0"

    def signature(self, value):
        self.bytes += bytes([len(value)]) + value.encode() + b"\0"

    def array(self, alignment, body):
        self.u32(0)
        at = len(self.bytes) - 4
        self.pad(alignment)
        start = len(self.bytes)
        body()
        struct.pack_into("<I", self.bytes, at, len(self.bytes) - start)

    def variant(self, kind, value):
        self.signature(kind)
        {"s": self.text, "o": self.text, "g": self.signature, "b": self.u32}[kind](value)

    def properties(self, name, value):
        """A dictionary a{sv} with one Boolean value."""
        def entry():
            self.pad(8)
            self.text(name)
            self.variant("b", value)
        self.array(8, entry)


class Stranger:
    """A connection of the current user to the system bus."""

    def __init__(self, target):
        self.target, self.serial = target, 0
        self.bus = socket.socket(socket.AF_UNIX)
        self.bus.connect(BUS)
        self.bus.sendall(b"\0AUTH EXTERNAL " + str(os.getuid()).encode().hex().encode() + b"\r\n")
        assert self.bus.recv(256).startswith(b"OK"), "no access to the bus"
        self.bus.sendall(b"BEGIN\r\n")
        self.send(1, BUS_NAME, "/org/freedesktop/DBus", BUS_NAME, "Hello", "", Marshal())
        assert self.bus.recv(4096)

    def send(self, kind, to, path, interface, member, signature, body):
        self.serial += 1
        head = Marshal()
        head.bytes += struct.pack("<cBBBII", b"l", kind, 0, 1, len(body.bytes), self.serial)

        def fields():
            for code, form, value in ((1, "o", path), (2, "s", interface), (3, "s", member), (6, "s", to), (8, "g", signature)):
                if value:
                    head.pad(8)
                    head.bytes.append(code)
                    head.variant(form, value)
        head.array(8, fields)
        head.pad(8)
        self.bus.sendall(bytes(head.bytes + body.bytes))

    def signal(self, path, interface, member, signature, fill):
        body = Marshal()
        fill(body)
        self.send(4, self.target, path, interface, member, signature, body)

    def spoof(self, count):
        """Sends forged signals: bluetoothd, the phone and the adapter are removed, and new phones appear."""
        self.signal("/org/freedesktop/DBus", BUS_NAME, "NameOwnerChanged", "sss",
                    lambda b: [b.text(t) for t in ("org.bluez", ":1.0", "")])
        self.signal("/", OBJECTS, "InterfacesRemoved", "oas",
                    lambda b: (b.text("/org/bluez/hci0"), b.array(4, lambda: b.text("org.bluez.Adapter1"))))
        for n in range(count):
            for device, is_on in (DEVICE, 0), (f"/org/bluez/hci0/dev_{n:012X}", 1):
                self.signal(device, PROPERTIES, "PropertiesChanged", "sa{sv}as",
                            lambda b: (b.text("org.bluez.Device1"), b.properties("Connected", is_on), b.array(4, lambda: None)))


def as_nobody(body, groups=()):
    """Runs body in a process of another user; returns the process ID. Uses fork, because that user may not be able to start
    Python."""
    child = os.fork()
    if child:
        return child
    try:
        os.setgroups(list(groups))
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)
        body()
        os._exit(0)
    except BaseException:
        traceback.print_exc()
        os._exit(1)


def idle(count, ready):
    """Opens connections to the socket that send nothing, and keeps them until this process is killed."""
    connections = [socket.socket(socket.AF_UNIX) for _ in range(count)]
    for connection in connections:
        connection.connect(str(SOCKET))
    os.write(ready, b"!")
    signal.pause()


def main():
    group = grp.getgrnam("games")
    gimbal = Gimbal(f"diagnostics.group={group.gr_name}")
    gimbal.wait_radio("advertising")
    phone = Client()
    connect(phone)
    phone.write(MODE, b"\x01")
    before = gimbal.radio()
    names = subprocess.run(["busctl", "--system", "--no-legend", "list"], capture_output=True, text=True, check=True).stdout
    target = next(line.split()[0] for line in names.splitlines() if line.split()[1] == str(gimbal.process.pid))
    step(f"a phone uses the gimbal, whose name on the bus is {target}")

    spoofer = as_nobody(lambda: Stranger(target).spoof(500))
    assert os.waitpid(spoofer, 0)[1] == 0
    phone.write(MODE, b"\x00")
    after = gimbal.radio()
    for key in ("state", "restarts", "connections", "refused_connections"):
        assert after.get(key) == before.get(key), (key, before, after)
    assert [c["address"] for c in after["centrals"]] == [PHONE], after["centrals"]
    step("1,000 signals from another user change nothing: only the phone is connected")

    ready, there = os.pipe()
    crowd = as_nobody(lambda: idle(70, there), groups=[group.gr_gid])
    assert os.read(ready, 1) == b"!"
    gimbal.lines = None
    began = time.monotonic()
    gimbal.ctl("stop")
    step(f"while another user has 70 idle connections, root's stop takes {time.monotonic() - began:.1f} s, including the start of airframectl")
    status = gimbal.status()
    assert status["stopped_by"].startswith("diagnostics"), status["stopped_by"]
    assert status["clients"]["connected"] <= status["clients"]["limit"], status["clients"]
    os.kill(crowd, signal.SIGKILL)
    os.waitpid(crowd, 0)
    phone.disconnect()
    gimbal.stop()


main()
