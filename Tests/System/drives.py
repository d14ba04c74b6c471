"""The simulated gimbal of drives.c with its three drives, and the virtual CAN bus to airframed."""
import fcntl, mmap, os, socket, struct, subprocess, tempfile, threading
from pathlib import Path

from plant import DEBUGFS

INTERFACE = "vcan0"
AXES = ("yaw", "roll", "pitch")
# Constants of linux/can.h and linux/can/error.h.
ERROR_FRAME, CONTROLLER, BUS_OFF, RESTARTED = 0x20000000, 0x04, 0x40, 0x100
# Settings of each protocol, for [hardware.linux], and the identifiers of the drives.
PROTOCOLS = {
    "odrive": ('odrive_firmware = "0.6.9"\nodrive_timeout_id = 214\nodrive_enable_id = 215\n', (1, 2, 3)),
    "gm6020": ("", (1, 2, 3)),
    "gm6020_voltage": ("", (1, 2, 5)),
    "mit": ("can_host_id = 0x11\n", (1, 2, 3)),
    "cybergear": ("can_host_id = 0x7d\n", (1, 2, 3)),
    "moteus": ("", (1, 2, 3)),
}


def settings(protocol):
    """Settings of airframed: lines below [hardware.linux], then other tables."""
    more, ids = PROTOCOLS[protocol]
    return (f'motors = "can"\nencoders = "drives"\ncan_interface = "{INTERFACE}"\ncan_protocol = "{protocol}"\n'
            f'can_id = [{ids[0]}, {ids[1]}, {ids[2]}]\n{more}[motors]\ntype = "torque"\ntorque_limit_nm = [0.3, 0.3, 0.3]\n')


def build():
    program = Path(tempfile.mkdtemp()) / "drives"
    subprocess.run(["gcc", "-O2", "-o", program, Path(__file__).with_name("drives.c"), "-lm"], check=True)
    return program


def bring_up():
    """A virtual CAN bus that carries CAN FD."""
    subprocess.run(["modprobe", "vcan"], check=True)
    subprocess.run(["modprobe", "can-raw"], check=True)
    if not Path("/sys/class/net", INTERFACE).exists():
        subprocess.run(["ip", "link", "add", "dev", INTERFACE, "type", "vcan"], check=True)
    subprocess.run(["ip", "link", "set", INTERFACE, "mtu", "72"], check=True)
    subprocess.run(["ip", "link", "set", INTERFACE, "up"], check=True)


def set_interface(is_up):
    """Sets or clears the flag IFF_UP (1) with ioctl, without a child process. The numbers are those of
    linux/sockios.h and linux/if.h."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = bytearray(struct.pack("16sh22x", INTERFACE.encode(), 0))
        fcntl.ioctl(any_socket, 0x8913, request)
        flags = struct.unpack_from("h", request, 16)[0]
        struct.pack_into("h", request, 16, flags | 1 if is_up else flags & ~1)
        fcntl.ioctl(any_socket, 0x8914, request)


class Joint:
    """State of one joint in the shared memory of the processes."""

    def __init__(self, memory, index):
        self.memory, self.offset = memory, 72 * index

    def field(self, number, kind="q"):
        return struct.unpack_from("<" + kind, self.memory, self.offset + 8 * number)[0]

    torque = property(lambda self: self.field(0, "d"))
    is_on = property(lambda self: self.field(3) == 1)
    off_at = property(lambda self: self.field(4))
    fault_at = property(lambda self: self.field(5))
    commands = property(lambda self: self.field(6))
    faults = property(lambda self: self.field(7))


class Drives:
    """The running simulation of the gimbal and its drives. `history` holds rows (time, drives that are on, handle roll and pitch,
    camera yaw, roll and pitch, joints yaw, roll and pitch), degrees."""

    def __init__(self, program, protocol):
        path = Path(tempfile.mkdtemp()) / "gimbal"
        path.write_bytes(bytes(216))
        self.memory = mmap.mmap(os.open(path, os.O_RDWR), 216)
        self.joints = [Joint(self.memory, index) for index in range(3)]
        self.history, self.program, self.protocol, self.path = [], program, protocol, path
        self.plant = subprocess.Popen([program, "plant", path, DEBUGFS], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                      text=True, bufsize=1)
        threading.Thread(target=self.follow, daemon=True).start()
        self.busy = subprocess.Popen([program, "busy", "0", "0"])
        self.processes = [self.start_drive(axis) for axis in range(3)]

    def start_drive(self, axis):
        number = PROTOCOLS[self.protocol][1][axis]
        return subprocess.Popen([self.program, "drive", self.path, INTERFACE, self.protocol, str(axis), str(number)],
                                stdin=subprocess.PIPE, text=True, bufsize=1)

    def follow(self):
        for line in self.plant.stdout:
            self.history.append(tuple(float(word) for word in line.split()))

    def swing(self, degrees):
        self.plant.stdin.write(f"amplitude {degrees}\n")

    def tell(self, axis, words):
        self.processes[axis].stdin.write(words + "\n")

    @property
    def are_on(self):
        return all(joint.is_on for joint in self.joints)

    @property
    def are_off(self):
        return not any(joint.is_on for joint in self.joints)

    def reaction_ms(self, axis):
        """Time from the fault of one drive until the last of the other drives is off, ms."""
        return max(j.off_at for i, j in enumerate(self.joints) if i != axis) * 1e-6 - self.joints[axis].fault_at * 1e-6

    def stop(self):
        for process in [*self.processes, self.plant]:
            process.stdin.close()
            process.wait(10)
        self.busy.kill()
        self.busy.wait()


def report_error(classes):
    """Sends a CAN error frame like that of a CAN controller's driver."""
    with socket.socket(socket.PF_CAN, socket.SOCK_RAW, socket.CAN_RAW) as can:
        can.bind((INTERFACE,))
        can.send(struct.pack("<IB3x8x", ERROR_FRAME | classes, 8))
