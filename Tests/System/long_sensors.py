"""Other sensors over kernel interfaces: an ICM-42688-P on the camera whose data-ready line sets the pace (GPIO events), an
MPU-6050 on the handle, servos between them (plant.py). The table of faults, each with what it is called and how long it takes.
"""
# lab: --bluetooth off
import json, os, signal, struct, subprocess, sys, tempfile, time
from pathlib import Path

from checks import Checks
from plant import Chip, Plant

BIN = Path(os.environ["BIN"])
FOLDER = Path(tempfile.mkdtemp())
SOCKET = FOLDER / "airframed.sock"
BUS = Path("/dev/i2c-1")
CAMERA, HANDLE, PWM = 0x68, 0x69, 0x40
LINE = 5
CONFIGURATION = f"""
[hardware]
backend = "linux"
[hardware.linux]
imu = "icm42688p"
imu_self_test = false
data_ready_chip = "{{chip}}"
data_ready_line = {LINE}
handle_imu = "mpu6050"
[loop]
rate_hz = 100
lock_memory = false
[imu]
timeout_ms = 250
[motors]
type = "servo"
[servo]
delay_ms = 15
lag_ms = 20
tracker_bandwidth = 15
[diagnostics]
socket = "{SOCKET}"
[persistence]
directory = "{FOLDER}/state"
"""
COUNTER = BIN / "libMallocCounter.so"
COUNTS = FOLDER / "mallocs"


def ctl(*arguments):
    done = subprocess.run([BIN / "airframectl", "--socket", SOCKET, "--json", *arguments], capture_output=True, text=True)
    return json.loads(done.stdout) if done.stdout else {"error": done.stderr}


def status():
    return ctl("status")


def explain():
    print(json.dumps(status(), indent=1)[:7000])
    print((FOLDER / "log").read_text()[-3000:])


def recover():
    ctl("stop", "--reset")
    ctl("mode", "locked")


check = Checks(explain, recover)


def faults():
    return status()["imu"]["faults"]


def names(kind="inhibitions"):
    return {c["name"] for c in status()[kind]}





def lab_chip():
    """The GPIO chip of the lab's module."""
    for chip in sorted(Path("/sys/bus/gpio/devices").glob("gpiochip*")):
        label = next(Path("/sys/class/gpio").glob("gpiochip*/label"), None)
        if label is None or "airframe" in label.read_text():
            return f"/dev/{chip.name}"
    sys.exit("the lab has no GPIO chip")



def edges(plant):
    def late_share():
        before = status()
        time.sleep(3)
        after = status()
        late = after["imu"]["faults"]["late_edge"] - before["imu"]["faults"]["late_edge"]
        return late / (after["loop"]["ticks"] - before["loop"]["ticks"])

    share = late_share()
    check(share < 0.5, f"periods begin with an edge, but for {share * 100:.0f} %: a plant that was held up")
    plant.tell("edges 0")
    time.sleep(1)
    without = late_share()
    check(without > max(share, 0.4), f"a data-ready line that stands still is counted: {without * 100:.0f} %")
    check(plant.is_driven, "and the clock goes on in its place")
    plant.tell("edges 1")
    time.sleep(1)


def fault_table(plant):
    camera, handle = Chip(CAMERA), Chip(HANDLE)

    def off(words):
        check.until(lambda: not plant.is_driven, f"{words}: outputs off")

    def on():
        check.until(lambda: plant.is_driven, "back: outputs on without a restart")

    for words, errno in (("no acknowledge", 6), ("bus held low", 110), ("transfer cut short", 5)):
        before = faults()
        camera.fail(errno)
        off(words)
        check(names() & {"imu_stale", "imu_missing", "bus_error"}, f"named: {sorted(names())}")
        print(f"       {status()['faults']['last_error']}", flush=True)
        check(faults()["outage"] > before["outage"], "counted as an outage")
        camera.fail(0)
        on()

    lost = status()["imu"]["lost_configurations"]
    camera.write(0x4E, [0])
    check.until(lambda: camera.read(0x4E) == b"\x0f", "a reset in flight: configured again")
    on()
    check(status()["imu"]["lost_configurations"] == lost + 1, "counted as a lost configuration")

    camera.write(0x75, [0x12])
    camera.write(0x4E, [0])
    off("another chip in its place")
    check.until(lambda: "ICM-42688-P" in (status()["imu"].get("set_up_failure") or ""), "named")
    camera.write(0x75, [0x47])
    on()

    plant.tell("frozen 1")
    off("data that stand still")
    check("imu_frozen" in names() or "imu_stale" in names(), f"named: {sorted(names())}")
    plant.tell("frozen 0")
    on()

    hidden = BUS.with_name("i2c-away")
    BUS.rename(hidden)
    for address in (CAMERA, HANDLE, PWM):
        Chip(address).fail(19)
    time.sleep(1)
    check("No such" in status()["faults"]["last_error"], f"bus removed: {status()['faults']['last_error']}")
    check(names() & {"imu_stale", "imu_missing", "bus_error"}, f"named: {sorted(names())}")
    for address in (CAMERA, HANDLE, PWM):
        Chip(address).fail(0)
    hidden.rename(BUS)
    check.until(lambda: not status()["inhibitions"], "the bus is back: nothing holds the outputs off")

    handle.fail(6)
    check.until(lambda: "handle_imu_missing" in names("notices"), "the handle's sensor is gone: named")
    check(plant.is_driven, "and the camera is held without it")
    handle.fail(0)
    check.until(lambda: "handle_imu_missing" not in names("notices"), "the handle's sensor is back")


def mallocs(daemon):
    """Calls of the allocator by the bus thread so far; None without the library that counts them."""
    if not COUNTER.exists():
        return None
    bus = next(int(task.name) for task in Path(f"/proc/{daemon.pid}/task").iterdir()
               if (task / "comm").read_text().strip() == "airframed-bus0")
    counts = dict(struct.iter_unpack("<i4xq", COUNTS.read_bytes()))
    return counts.get(bus, 0)


def main():
    subprocess.run(["modprobe", "airframe_lab", "bus=1", "chips=0x68,0x69,0x40"], check=True)
    (FOLDER / "airframed.toml").write_text(CONFIGURATION.format(chip=lab_chip()))
    (FOLDER / "state").mkdir()
    plant = Plant(layout="icm42688p")
    with open(FOLDER / "log", "w") as log:
        counting = {"LD_PRELOAD": str(COUNTER), "MALLOC_COUNTER_FILE": str(COUNTS)} if COUNTER.exists() else {}
        daemon = subprocess.Popen([BIN / "airframed", "--config", FOLDER / "airframed.toml"], stdout=log, stderr=log,
                                  env=os.environ | counting)
    check.until(SOCKET.exists, "the daemon answers")
    check.until(lambda: plant.is_driven, "sensors and servo chip brought up, outputs on")
    check("handle_imu_missing" not in names("notices"), "the handle's sensor is there")
    check.closes_loop(plant)
    warm = mallocs(daemon)
    edges(plant)
    fault_table(plant)
    if warm is None:
        print(f"  not counted: allocations of the bus thread, because there is no {COUNTER}", flush=True)
    else:
        check(mallocs(daemon) == warm, f"the bus thread has called malloc {mallocs(daemon) - warm} times in all this")
    daemon.send_signal(signal.SIGTERM)
    check(daemon.wait(60) == 0, "SIGTERM ends it")
    check.until(lambda: not plant.is_driven, "outputs off at the end")
    plant.stop()
    print(f"  {check.count} checks", flush=True)


main()
