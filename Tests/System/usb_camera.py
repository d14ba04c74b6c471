"""A USB camera (USB Video Class 1.1) in user space, connected to this computer's kernel by USB/IP.

    usb_camera.py FOLDER       plugs the camera in while the program runs

The kernel's virtual host controller (`modprobe vhci-hcd`) reads a device's side of the bus from a socket, so the kernel's USB
core and its driver uvcvideo see an ordinary high-speed device: descriptors, control requests, alternate settings, isochronous
packets. (The kernel's own gadget for cameras cannot be used, because dummy_hcd fails each isochronous transfer.) If the
program is killed, the socket closes, and the kernel detects an unplugged cable.

Formats, as those of many cameras: JPEG at 10 Hz; uncompressed pictures of the same size at 5 Hz; larger H.264 at 10 Hz. A test
recognises the format by the colours of the left and right half of the pictures. `make_pictures(FOLDER)` draws the pictures.
"""
import collections, os, select, socket, struct, subprocess, sys, time
from pathlib import Path

NAME = "Laboratory camera"
CONTROLLER = Path("/sys/devices/platform/vhci_hcd.0")

Format = collections.namedtuple("Format", "name width height rates left right")
FORMATS = [Format("jpeg", 320, 180, (10, 5), "red", "blue"),
           Format("yuyv", 320, 180, (5,), "lime", "magenta"),
           Format("h264", 640, 360, (10,), "yellow", "navy")]
PICTURES = 10
ACCESS_UNIT_DELIMITER = b"\0\0\0\1\t"


def make_pictures(folder):
    """Draws a second of pictures in each format. The noise is different in each picture."""
    coders = {"jpeg": ["-pix_fmt", "yuvj422p", "-q:v", "5", "-f", "image2", "%s/%%02d.jpg" % folder],
              "yuyv": ["-pix_fmt", "yuyv422", "-f", "rawvideo", "%s/yuyv" % folder],
              "h264": ["-pix_fmt", "yuv420p", "-c:v", "libx264", "-crf", "32", "-profile:v", "baseline", "-x264-params",
                       f"aud=1:keyint={PICTURES}:repeat-headers=1:sliced-threads=0", "-f", "h264", "%s/h264" % folder]}
    for form in FORMATS:
        half = f"s={form.width // 2}x{form.height}:r=10"
        subprocess.run(
            ["ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", f"color={form.left}:{half}", "-f", "lavfi", "-i",
             f"color={form.right}:{half}", "-filter_complex", "hstack,noise=alls=8:allf=t", "-frames:v", str(PICTURES),
             *coders[form.name]], check=True)


def read_pictures(folder):
    """The pictures of each format, in the order of the formats' numbers."""
    raw = (folder / "yuyv").read_bytes()
    size = FORMATS[1].width * FORMATS[1].height * 2
    units = (folder / "h264").read_bytes().split(ACCESS_UNIT_DELIMITER)[1:]
    return [[file.read_bytes() for file in sorted(folder.glob("*.jpg"))],
            [raw[start:start + size] for start in range(0, len(raw), size)],
            [ACCESS_UNIT_DELIMITER + unit for unit in units]]


# ---- Descriptors: USB 2.0, chapter 9; USB Video Class 1.1, chapter 3 -------------------------------------------------------
def descriptor(kind, layout, *values):
    body = struct.pack("<" + layout, *values)
    return bytes([len(body) + 2, kind]) + body


def of_class(subtype, layout, *values):
    return descriptor(0x24, "B" + layout, subtype, *values)


PACKET = 1024                        # bytes
PACKETS_PER_SECOND = 1000            # bInterval 4: each eighth microframe
INTERVALS = 10_000_000               # units of 100 ns per second
GUID_END = bytes.fromhex("0000100080 0000aa00389b71".replace(" ", ""))
COLOURS = of_class(0x0D, "BBB", 1, 1, 4)
# Subtypes of a format and of its frames, and the fields of the format after the number of its frames.
KINDS = {"jpeg": (0x06, 0x07, bytes([1, 1, 0, 0, 0, 0])),
         "yuyv": (0x04, 0x05, b"YUY2" + GUID_END + bytes([16, 1, 0, 0, 0, 0])),
         "h264": (0x10, 0x11, b"H264" + GUID_END + bytes([16, 1, 0, 0, 0, 0, 1]))}


def largest_picture(form):
    return form.width * form.height * 2


def format_descriptors(number, form):
    kind, frame, rest = KINDS[form.name]
    intervals = [INTERVALS // rate for rate in form.rates]
    bits = largest_picture(form) * 8
    fields = [1, 0, form.width, form.height, bits * min(form.rates), bits * max(form.rates)]
    steps = f"{len(intervals)}I"
    if form.name == "h264":          # this frame descriptor contains the bytes per line instead of the size of a picture
        frames = of_class(frame, "BBHHIIIBI" + steps, *fields, intervals[0], len(intervals), 0, *intervals)
    else:
        frames = of_class(frame, "BBHHIIIIB" + steps, *fields, largest_picture(form), intervals[0], len(intervals), *intervals)
    return of_class(kind, f"BB{len(rest)}s", number, 1, rest) + frames + COLOURS


def configuration():
    units = (of_class(0x02, "BHBBHHHB3s", 1, 0x0201, 0, 0, 0, 0, 0, 3, bytes(3))       # camera
             + of_class(0x05, "BBHB2sBB", 2, 1, 0, 2, bytes(2), 0, 0)                   # processing unit
             + of_class(0x03, "BHBBB", 3, 0x0101, 0, 2, 0))                             # stream
    control = of_class(0x01, "HHIBB", 0x0110, 13 + len(units), 1_000_000, 1, 1) + units
    formats = b"".join(format_descriptors(number, form) for number, form in enumerate(FORMATS, 1))
    length = 13 + len(FORMATS)
    stream = of_class(0x01, f"BHBBBBBBB{len(FORMATS)}s", len(FORMATS), length + len(formats), 0x81, 0, 3, 0, 0, 0, 1,
                      bytes(len(FORMATS))) + formats
    parts = (descriptor(0x0B, "BBBBBB", 0, 2, 14, 3, 0, 2)                              # both interfaces are one function
             + descriptor(0x04, "BBBBBBB", 0, 0, 0, 14, 1, 0, 2) + control
             + descriptor(0x04, "BBBBBBB", 1, 0, 0, 14, 2, 0, 0) + stream
             + descriptor(0x04, "BBBBBBB", 1, 1, 1, 14, 2, 0, 0)
             + descriptor(0x05, "BBHB", 0x81, 0x05, PACKET, 4))
    return descriptor(0x02, "HBBBBB", 9 + len(parts), 2, 1, 0, 0x80, 250) + parts


DEVICE = descriptor(0x01, "HBBBBHHHBBBB", 0x0200, 0xEF, 2, 1, 64, 0x1209, 0x0001, 0x0100, 1, 2, 3, 1)
TEXTS = ["", "airframe", NAME, "0001"]
PIPE_ERROR, CONNECTION_RESET = -32, -104


class Camera:
    """The device: control requests, and the pictures as isochronous packets."""

    def __init__(self, pictures):
        self.pictures = pictures
        self.is_streaming = False
        self.settings = {1: self.settle(1, 0), 2: self.settle(1, 0)}    # probe, commit
        self.frame_number, self.next_frame, self.rest, self.toggle = 0, 0.0, b"", 0

    @staticmethod
    def settle(number, interval):
        """The nearest supported setting of a stream, in the host's format."""
        number = min(max(number, 1), len(FORMATS))
        form = FORMATS[number - 1]
        rate = min(form.rates, key=lambda rate: abs(INTERVALS // rate - interval)) if interval else form.rates[0]
        return struct.pack("<HBBIHHHHHIIIBBBB", 1, number, 1, INTERVALS // rate, 0, 0, 0, 0, 0, largest_picture(form), PACKET,
                           1_000_000, 0, 0, 0, 0)

    def control(self, setup, data):
        """Answers a control request: the bytes to the host, or None to refuse it."""
        kind, request, value, index, length = struct.unpack("<BBHHH", setup)
        if kind == 0x80 and request == 6:
            number, which = value & 0xFF, value >> 8
            if which == 1: return DEVICE[:length]
            if which == 2: return configuration()[:length]
            if which == 3 and number < len(TEXTS): return self.text(number)[:length]
            return None                                        # includes the device qualifier: the camera supports only high speed
        if request == 0 and kind & 0xE0 == 0x80: return bytes(2)[:length]
        if kind in (0x00, 0x01, 0x02) and request in (1, 3, 9, 11):
            if kind == 0x01 and request == 11 and index == 1: self.stream(value == 1)
            return b""
        if kind == 0x81 and request == 10: return bytes([self.is_streaming if index == 1 else 0])
        selector = value >> 8
        if kind & 0x7F != 0x21 or index != 1 or selector not in self.settings: return None
        if request == 0x01:                                    # SET_CUR
            self.settings[selector] = self.settle(data[2], struct.unpack_from("<I", data, 4)[0])
            return b""
        current = self.settings[selector]
        answers = {0x81: current, 0x82: current, 0x83: current, 0x87: self.settle(1, 0), 0x85: struct.pack("<H", len(current)),
                   0x86: b"\x03"}
        return answers[request][:length] if request in answers else None

    @staticmethod
    def text(number):
        text = TEXTS[number].encode("utf-16-le") if number else b"\x09\x04"      # string 0 contains the language, English
        return bytes([len(text) + 2, 3]) + text

    def stream(self, is_streaming):
        self.is_streaming = is_streaming
        self.frame_number, self.next_frame, self.rest = 0, time.monotonic(), b""

    def packet(self, size, now):
        """The content of the next isochronous packet; empty between two pictures."""
        _, number, _, interval = struct.unpack_from("<HBBI", self.settings[2])
        if not self.rest:
            if now < self.next_frame: return b""
            self.next_frame = max(self.next_frame + interval / INTERVALS, now - 1)
            pictures = self.pictures[number - 1]
            self.rest = pictures[self.frame_number % len(pictures)]
            self.frame_number += 1
            self.toggle ^= 1
        piece, self.rest = self.rest[:size - 2], self.rest[size - 2:]
        return bytes([2, 0x80 | self.toggle | (0 if self.rest else 2)]) + piece


# ---- USB/IP: Documentation/usb/usbip_protocol.rst of the kernel --------------------------------------------------------------
SUBMIT, UNLINK, SUBMITTED, UNLINKED = 1, 2, 3, 4


class Bus:
    """The device's end of the socket. Completes each list of isochronous packets at the time of its transfer on a real bus."""

    def __init__(self, socket, camera):
        self.socket, self.camera = socket, camera
        self.waiting = collections.deque()                     # (number, [(offset, length)])
        self.due = 0.0

    def read(self, count):
        data = bytearray()
        while len(data) < count:
            piece = self.socket.recv(count - len(data))
            if not piece: raise EOFError
            data += piece
        return bytes(data)

    def reply(self, number, status, data=b"", packets=0, descriptors=b"", length=None):
        header = struct.pack(">IIIII", SUBMITTED, number, 0, 0, 0) + struct.pack(
            ">iIIII8x", status, len(data) if length is None else length, 0, packets, 0)
        self.socket.sendall(header + data + descriptors)

    def receive(self):
        command, number, _, direction, endpoint = struct.unpack(">IIIII", self.read(20))
        rest = self.read(28)
        if command == UNLINK:
            victim = struct.unpack_from(">I", rest)[0]
            known = [entry for entry in self.waiting if entry[0] == victim]
            for entry in known: self.waiting.remove(entry)
            self.socket.sendall(struct.pack(">IIIIIi24x", UNLINKED, number, 0, 0, 0, CONNECTION_RESET if known else 0))
            return
        _, length, _, count, _ = struct.unpack_from(">IIIII", rest)
        data = self.read(length) if direction == 0 else b""
        if endpoint == 0:
            answer = self.camera.control(rest[20:], data)
            if answer is None: self.reply(number, PIPE_ERROR)
            elif direction == 0: self.reply(number, 0, length=len(data))
            else: self.reply(number, 0, answer)
            return
        packets = [struct.unpack(">II8x", self.read(16)) for _ in range(count)]
        if not self.waiting: self.due = max(self.due, time.monotonic() + count / PACKETS_PER_SECOND)
        self.waiting.append((number, packets))

    def complete(self, now):
        number, packets = self.waiting.popleft()
        contents = [self.camera.packet(length, now) for _, length in packets]
        descriptors = b"".join(struct.pack(">IIIi", offset, length, len(content), 0)
                               for (offset, length), content in zip(packets, contents))
        self.reply(number, 0, b"".join(contents), len(packets), descriptors)
        # A delayed program sends the packets of at most the last 0.1 s.
        following = len(self.waiting[0][1]) if self.waiting else 0
        self.due = max(self.due, now - 0.1) + following / PACKETS_PER_SECOND

    def run(self):
        while True:
            pause = max(0.0, self.due - time.monotonic()) if self.waiting else None
            ready, _, _ = select.select([self.socket], [], [], pause)
            if ready: self.receive()
            elif self.waiting: self.complete(time.monotonic())


def attach(device):
    """Plugs a socket into the first free port of the virtual controller for high speed."""
    for line in (CONTROLLER / "status").read_text().splitlines()[1:]:
        hub, port, state = line.split()[:3]
        if hub == "hs" and int(state) == 4:
            (CONTROLLER / "attach").write_text(f"{int(port)} {device.fileno()} {1 << 16 | 2} 3")
            return
    sys.exit("usb_camera: the virtual USB controller has no free port")


def main():
    camera = Camera(read_pictures(Path(sys.argv[1])))
    ours, kernels = socket.socketpair()
    attach(kernels)
    kernels.close()
    try:
        Bus(ours, camera).run()
    except (EOFError, ConnectionError):
        sys.exit("usb_camera: the kernel has disconnected the camera")


if __name__ == "__main__":
    main()
