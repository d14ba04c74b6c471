"""Virtual input devices (uinput) for the system tests, with the constants of linux/input-event-codes.h and linux/uinput.h."""
import fcntl, os, struct, time

EV_SYN, EV_KEY, EV_REL, EV_ABS, EV_LED = 0, 1, 2, 3, 17
BTN_SOUTH, BTN_NORTH, BTN_TL, BTN_TR, BTN_SELECT = 0x130, 0x133, 0x136, 0x137, 0x13A
ABS_X, ABS_Y, ABS_HAT0X = 0, 1, 16
BUS_USB, BUS_HOST = 3, 0x19
# Constants of linux/uinput.h.
UI_DEV_CREATE, UI_DEV_DESTROY = 0x5501, 0x5502
UI_DEV_SETUP, UI_ABS_SETUP = 0x405C5503, 0x401C5504
UI_SET_EVBIT, UI_SET_KEYBIT, UI_SET_RELBIT, UI_SET_ABSBIT = 0x40045564, 0x40045565, 0x40045566, 0x40045567
UI_SET_LEDBIT, UI_SET_SNDBIT, UI_SET_FFBIT = 0x40045569, 0x4004556A, 0x4004556B
UI_BEGIN_FF_UPLOAD, UI_END_FF_UPLOAD, UI_BEGIN_FF_ERASE, UI_END_FF_ERASE = 0xC06855C8, 0x406855C9, 0xC00C55CA, 0x400C55CB
EV_UINPUT, UI_FF_UPLOAD, UI_FF_ERASE = 0x0101, 1, 2
EV_SND, EV_FF, FF_RUMBLE, SND_TONE = 0x12, 0x15, 0x50, 0x02
EVENT = struct.Struct("qqHHi")


class Device:
    """A virtual input device (uinput)."""

    def __init__(self, name, bus, keys=(), axes={}, dials=(), leds=(), sounds=(), effects=()):
        self.file = os.open("/dev/uinput", os.O_RDWR | os.O_NONBLOCK)
        for kind, codes, bit in ((EV_KEY, keys, UI_SET_KEYBIT), (EV_ABS, axes, UI_SET_ABSBIT), (EV_REL, dials, UI_SET_RELBIT),
                                 (EV_LED, leds, UI_SET_LEDBIT), (EV_SND, sounds, UI_SET_SNDBIT),
                                 (EV_FF, effects, UI_SET_FFBIT)):
            if codes:
                fcntl.ioctl(self.file, UI_SET_EVBIT, kind)
            for code in codes:
                fcntl.ioctl(self.file, bit, code)
        for code, (low, high) in axes.items():
            fcntl.ioctl(self.file, UI_ABS_SETUP, struct.pack("HxxiiiiiI", code, 0, low, high, 0, 0, 0))
        fcntl.ioctl(self.file, UI_DEV_SETUP, struct.pack("HHHH80sI", bus, 1, 1, 1, name.encode(), 4 if effects else 0))
        fcntl.ioctl(self.file, UI_DEV_CREATE)

    def send(self, kind, code, value):
        now = struct.pack("qq", 0, 0)
        os.write(self.file, now + struct.pack("HHi", kind, code, value) + now + struct.pack("HHi", EV_SYN, 0, 0))

    def press(self, code, seconds=0.1):
        self.send(EV_KEY, code, 1)
        time.sleep(seconds)
        self.send(EV_KEY, code, 0)

    def unplug(self):
        fcntl.ioctl(self.file, UI_DEV_DESTROY)
        os.close(self.file)
