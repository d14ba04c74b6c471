#!/usr/bin/env python3
"""An I2C bus in user space: /dev/i2c-N through CUSE, with chips that are Python objects.

    cuse_i2c.py 9 0x68 0x40        creates bus 9 with register-file chips; runs until it is killed
    cuse_i2c.py --read-last 9 0x68    the same, but the bus refuses a read before the last message of a transfer, like
                                   the adapter of a Raspberry Pi 4 (i2c-bcm2835)

Implements I2C_FUNCS, I2C_SLAVE(_FORCE), I2C_RDWR, I2C_SMBUS (quick, byte, byte, word and i2c block
data), I2C_TENBIT, I2C_TIMEOUT, I2C_RETRIES, I2C_PEC, read() and write(). Needs root and the
kernel's cuse module, which Tests/Lab/vm loads. A subclass of Chip can simulate any behaviour. The kernel
module in kmod/ is faster, because each step of an ioctl here is a round trip through this process.
"""
import errno, os, struct, sys

IN, OUT, IOCTL_IN = "<IIQQIIII", "<IiQ", "<QIIQII"
OPEN, READ, WRITE, RELEASE, INTERRUPT, IOCTL, CUSE_INIT = 14, 15, 16, 18, 36, 39, 4096
I2C_RETRIES, I2C_TIMEOUT, I2C_SLAVE, I2C_TENBIT, I2C_FUNCS, I2C_SLAVE_FORCE, I2C_RDWR, I2C_PEC, I2C_SMBUS = (
    0x701, 0x702, 0x703, 0x704, 0x705, 0x706, 0x707, 0x708, 0x720)


class Chip:
    """256 registers with an address pointer that increments. Raise OSError(errno, "") to simulate a fault."""
    def __init__(self):
        self.regs, self.at = bytearray(256), 0

    def write(self, data):
        if data:
            self.at = data[0]
        for b in data[1:]:
            self.regs[self.at] = b
            self.at = (self.at + 1) & 255

    def read(self, count):
        data = bytes(self.regs[(self.at + n) & 255] for n in range(count))
        self.at = (self.at + count) & 255
        return data


class Retry(Exception):
    """Tells the kernel to copy these parts of the caller's memory and to repeat the request."""
    def __init__(self, ins, outs=()):
        self.ins, self.outs = ins, outs


class Bus:
    def __init__(self, number, chips, must_read_last=False):
        self.chips, self.slaves, self.handles, self.must_read_last = chips, {}, 0, must_read_last
        self.fd = os.open("/dev/cuse", os.O_RDWR)
        header = struct.unpack_from(IN, os.read(self.fd, 1 << 17))
        name = f"DEVNAME=i2c-{number}".encode() + b"\0"
        self.reply(header[2], struct.pack("<18I", 7, 31, 0, 1, 1 << 16, 1 << 16, *[0] * 12) + name)

    def reply(self, unique, data=b"", error=0):
        os.write(self.fd, struct.pack(OUT, 16 + len(data), -error, unique) + data)

    def chip(self, address):
        if address not in self.chips:
            raise OSError(errno.ENXIO, "no acknowledge")
        return self.chips[address]

    def serve(self):
        while True:
            request = os.read(self.fd, 1 << 18)
            _, op, unique, *_ = struct.unpack_from(IN, request)
            body = request[40:]
            try:
                if op == OPEN:
                    self.handles += 1
                    self.reply(unique, struct.pack("<QII", self.handles, 0, 0))
                elif op == RELEASE:
                    self.slaves.pop(struct.unpack_from("<Q", body)[0], None)
                    self.reply(unique)
                elif op == READ:
                    fh, _, size = struct.unpack_from("<QQI", body)
                    self.reply(unique, self.chip(self.slaves.get(fh)).read(size))
                elif op == WRITE:
                    fh, _, size = struct.unpack_from("<QQI", body)
                    self.chip(self.slaves.get(fh)).write(body[40:40 + size])
                    self.reply(unique, struct.pack("<II", size, 0))
                elif op == IOCTL:
                    fh, _, command, arg, _, room = struct.unpack_from(IOCTL_IN, body)
                    out = self.ioctl(fh, command, arg, body[32:], room)
                    self.reply(unique, struct.pack("<iIII", 0, 0, 0, 0) + out)
                elif op != INTERRUPT:
                    self.reply(unique, error=errno.ENOSYS)
            except Retry as r:
                self.reply(unique, struct.pack("<iIII", 0, 4, len(r.ins), len(r.outs))
                           + b"".join(struct.pack("<QQ", *piece) for piece in (*r.ins, *r.outs)))
            except OSError as e:
                self.reply(unique, error=e.errno)

    def ioctl(self, fh, command, arg, data, room):
        """data: bytes copied from the caller; room: number of bytes to copy to the caller. The first call has neither."""
        if command in (I2C_SLAVE, I2C_SLAVE_FORCE):
            self.slaves[fh] = arg
            return b""
        if command in (I2C_TENBIT, I2C_TIMEOUT, I2C_RETRIES, I2C_PEC):
            return b""
        if command == I2C_FUNCS:
            if not room:
                raise Retry([], [(arg, 8)])
            return struct.pack("<Q", 0x0EFF0009)
        if command == I2C_RDWR:
            if not data:
                raise Retry([(arg, 16)])
            pointer, count = struct.unpack_from("<QI", data)
            if len(data) == 16:
                raise Retry([(arg, 16), (pointer, 16 * count)])
            messages = [struct.unpack_from("<HHHxxQ", data, 16 + 16 * n) for n in range(count)]
            if self.must_read_last and any(m[1] & 1 for m in messages[:-1]):
                raise OSError(errno.EOPNOTSUPP, "")
            writes = [(m[3], m[2]) for m in messages if not m[1] & 1 and m[2]]
            reads = [(m[3], m[2]) for m in messages if m[1] & 1 and m[2]]
            at = 16 + 16 * count
            if writes and len(data) == at or reads and not room:
                raise Retry([(arg, 16), (pointer, 16 * count), *writes], reads)
            out = b""
            for address, flags, size, _ in messages:
                if flags & 1:
                    out += self.chip(address).read(size)
                else:
                    self.chip(address).write(data[at:at + size])
                    at += size
            return out
        if command == I2C_SMBUS:
            if not data:
                raise Retry([(arg, 16)])
            rw, register, size, pointer = struct.unpack_from("<BBxxIQ", data)
            chip = self.chip(self.slaves.get(fh))
            length = {2: 1, 3: 2, 8: 34}.get(size)
            if size == 0:
                return b""
            if size == 1 and not rw:
                chip.write([register])
                return b""
            if size == 1:
                length = 1
            elif length is None:
                raise OSError(errno.EOPNOTSUPP, "")
            if len(data) == 16:
                raise Retry([(arg, 16), (pointer, length)], [(pointer, length)] if rw else [])
            value = data[16:]
            if not rw:
                chip.write(bytes([register]) + (value[1:1 + value[0]] if size == 8 else value))
                return b""
            if size != 1:
                chip.write([register])
            return bytes([value[0]]) + chip.read(value[0]).ljust(33, b"\0") if size == 8 else chip.read(length)
        raise OSError(errno.ENOTTY, "")


if __name__ == "__main__":
    option = "--read-last"
    number, *addresses = [a for a in sys.argv[1:] if a != option]
    Bus(int(number), {int(a, 0): Chip() for a in addresses}, option in sys.argv).serve()
