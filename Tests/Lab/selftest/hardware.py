"""Devices of the guest in addition to Bluetooth: i2c-stub, the fake chips of kmod/, real-time scheduling.
    Tests/Lab/vm --bluetooth off -- python3 Tests/Lab/selftest/hardware.py
"""
import ctypes, fcntl, glob, os, resource, subprocess, sys, time

I2C_SLAVE, I2C_FUNCS, I2C_RDWR, I2C_SMBUS = 0x0703, 0x0705, 0x0707, 0x0720
READ, WRITE = 1, 0
SIZES = {"quick": 0, "byte": 1, "byte data": 2, "word data": 3, "process call": 4, "block data": 5, "i2c block": 8}


class Msg(ctypes.Structure):
    _fields_ = [("addr", ctypes.c_uint16), ("flags", ctypes.c_uint16), ("len", ctypes.c_uint16), ("buf", ctypes.c_void_p)]


class Rdwr(ctypes.Structure):
    _fields_ = [("msgs", ctypes.POINTER(Msg)), ("n", ctypes.c_uint32)]


class Smbus(ctypes.Structure):
    _fields_ = [("rw", ctypes.c_uint8), ("command", ctypes.c_uint8), ("size", ctypes.c_uint32), ("data", ctypes.c_void_p)]


def rdwr(fd, address, out, count=0):
    """Write bytes, then (repeated start) read count."""
    w = ctypes.create_string_buffer(bytes(out), len(out))
    r = ctypes.create_string_buffer(max(count, 1))
    m = (Msg * 2)(Msg(address, 0, len(out), ctypes.addressof(w)), Msg(address, 1, count, ctypes.addressof(r)))
    fcntl.ioctl(fd, I2C_RDWR, Rdwr(m, 2 if count else 1))
    return r.raw[:count]


def smbus(fd, rw, command, size, data=b""):
    block = ctypes.create_string_buffer(bytes(data), 34)
    fcntl.ioctl(fd, I2C_SMBUS, Smbus(rw, command, size, ctypes.addressof(block)))
    return block.raw


def attempt(name, call):
    try:
        result = call()
        print(f"  {name}: ok", "" if result is None else result, flush=True)
        return True
    except OSError as e:
        print(f"  {name}: {e.strerror} ({e.errno})", flush=True)
        return False


def bus_named(word):
    for p in glob.glob("/sys/class/i2c-adapter/i2c-*/name") or glob.glob("/sys/bus/i2c/devices/i2c-*/name"):
        if word in open(p).read():
            return "/dev/" + p.split("/")[-2]


def bus(title, path, address):
    print(f"{title}: {path}")
    fd = os.open(path, os.O_RDWR)
    funcs = ctypes.c_ulong()
    fcntl.ioctl(fd, I2C_FUNCS, funcs)
    print(f"  functionality {funcs.value:#010x}, plain I2C: {bool(funcs.value & 1)}")
    fcntl.ioctl(fd, I2C_SLAVE, address)
    attempt("SMBus quick", lambda: smbus(fd, WRITE, 0, 0) and None)
    attempt("SMBus write byte data", lambda: smbus(fd, WRITE, 0x10, 2, b"\x5a") and None)
    attempt("SMBus read byte data", lambda: hex(smbus(fd, READ, 0x10, 2)[0]))
    attempt("SMBus send byte + receive byte", lambda: (smbus(fd, WRITE, 0x10, 1), hex(smbus(fd, READ, 0, 1)[0]))[1])
    attempt("SMBus write word data", lambda: smbus(fd, WRITE, 0x12, 3, b"\x34\x12") and None)
    attempt("SMBus read word data", lambda: smbus(fd, READ, 0x12, 3)[:2].hex())
    attempt("SMBus write i2c block (14)", lambda: smbus(fd, WRITE, 0x3b, 8, bytes([14]) + bytes(range(14))) and None)
    attempt("SMBus read i2c block (14)", lambda: smbus(fd, READ, 0x3b, 8, bytes([14]))[1:15].hex())
    attempt("SMBus block write", lambda: smbus(fd, WRITE, 0x60, 5, bytes([3, 1, 2, 3])) and None)
    attempt("SMBus block read", lambda: smbus(fd, READ, 0x60, 5)[:4].hex())
    attempt("SMBus process call", lambda: smbus(fd, READ, 0x12, 4, b"\x01\x02")[:2].hex())
    plain = attempt("I2C_RDWR write + repeated start + read (14)", lambda: rdwr(fd, address, [0x3b], 14).hex())
    attempt("write() + read()", lambda: (os.write(fd, b"\x3b"), os.read(fd, 14).hex())[1])
    attempt("absent address", lambda: (fcntl.ioctl(fd, I2C_SLAVE, 0x23), smbus(fd, READ, 0x10, 2))[1])
    count, began = 500, time.monotonic()
    fcntl.ioctl(fd, I2C_SLAVE, address)
    for _ in range(count):
        rdwr(fd, address, [0x3b], 14) if plain else smbus(fd, READ, 0x3b, 8, bytes([14]))
    print(f"  {(time.monotonic() - began) / count * 1e6:.0f} us per 14-byte read from Python")
    return fd


print("i2c-stub")
subprocess.run(["modprobe", "i2c-stub", "chip_addr=0x68,0x40"], check=True)
bus("i2c-stub", bus_named("stub"), 0x68)

here = os.path.dirname(os.path.abspath(__file__))
cuse = subprocess.Popen([sys.executable, here + "/../cuse_i2c.py", "9", "0x68"])
while not os.path.exists("/dev/i2c-9"):
    time.sleep(0.1)
bus("cuse_i2c.py", "/dev/i2c-9", 0x68)
cuse.terminate()
cuse.wait()

if subprocess.run(["modprobe", "airframe_lab", "bus=1", "chips=0x68,0x40"]).returncode == 0:
    lab = "/sys/kernel/debug/airframe_lab/"
    fd = bus("airframe_lab", bus_named("airframe lab"), 0x68)
    with open(lab + "i2c-0x68/regs", "r+b", buffering=0) as regs:
        regs.seek(0x75)
        regs.write(b"\x68")
        attempt("register set by the test", lambda: rdwr(fd, 0x68, [0x75], 1).hex())
    for errno, count in ((6, 1), (110, 2)):
        open(lab + "i2c-0x68/fail_count", "w").write(str(count))
        open(lab + "i2c-0x68/fail", "w").write(str(errno))
        while not attempt(f"with fail={errno}", lambda: rdwr(fd, 0x68, [0x75], 1).hex()):
            pass

    print("gpio:", subprocess.run(["gpiodetect"], capture_output=True, text=True).stdout.strip())
    chip = next(line.split()[0] for line in os.popen("gpiodetect") if "airframe-lab" in line)
    held = subprocess.Popen(["gpioset", "--mode=signal", chip, "5=1"])
    time.sleep(0.5)
    print("  line 5 driven high by gpioset:", open(lab + "gpio", "rb").read()[5])
    held.terminate(); held.wait()
    watch = subprocess.Popen(["gpiomon", "--num-events=2", chip, "7"], stdout=subprocess.PIPE, text=True)
    time.sleep(0.5)
    with open(lab + "gpio", "r+b", buffering=0) as lines:
        for v in b"\x01\x00":
            lines.seek(7)
            lines.write(bytes([v]))
            time.sleep(0.05)
    print("  edges seen on line 7:", watch.communicate(timeout=10)[0].split("\n")[:2])
    print("  sysfs gpio:", os.path.exists("/sys/class/gpio/export"))

    pwm = next(p for p in glob.glob("/sys/class/pwm/pwmchip*") if "airframe-lab" in os.path.realpath(p))
    for name, value in (("export", "2"), ("pwm2/period", "20000000"), ("pwm2/duty_cycle", "1500000"), ("pwm2/enable", "1")):
        open(f"{pwm}/{name}", "w").write(value)
    print("pwm:", pwm, open(pwm + "/npwm").read().strip(), "channels; channel 2:", open(lab + "pwm").read().split("\n")[2])
else:
    print("no fake chips: Tests/Lab/install --kmod")

print("real time:", open("/proc/version").read().split("(")[0], os.uname().version)
libc = ctypes.CDLL(None, use_errno=True)
print("  mlockall:", "ok" if libc.mlockall(3) == 0 else os.strerror(ctypes.get_errno()), "RLIMIT_MEMLOCK", resource.getrlimit(resource.RLIMIT_MEMLOCK))
attempt("SCHED_FIFO 50", lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50)))
late, period, due = [], 0.005, time.monotonic() + 0.01
for _ in range(400):
    time.sleep(max(0, due - time.monotonic()))
    late.append(time.monotonic() - due)
    due += period
late.sort()
print(f"  200 Hz sleep loop, 2 s: late by {late[200] * 1e6:.0f} us median, {late[-4] * 1e6:.0f} us 99%, {late[-1] * 1e6:.0f} us worst")
