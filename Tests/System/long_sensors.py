"""Other sensors over kernel interfaces: an ICM-42688-P on the camera whose data-ready line sets the pace (GPIO events), an
MPU-6050 on the handle, servos between them (plant.py). The table of faults, each with what it is called and how long it takes.
"""
# lab: --bluetooth off --own-time
import struct, time
from pathlib import Path

from board import BIN, Board
from plant import Chip, Plant, gpio_chip

BUS = Path("/dev/i2c-1")
CAMERA, HANDLE, PWM = 0x68, 0x69, 0x40
LINE = 5
COUNTER = BIN / "libMallocCounter.so"
board = Board([CAMERA, HANDLE, PWM])
COUNTS = board.folder / "mallocs"
check, until, comes_on, status, names = board.check, board.until, board.comes_on, board.status, board.names


def faults():
    return status()["imu"]["faults"]


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
        until(lambda: not plant.is_driven, f"{words}: outputs off")

    def on():
        comes_on(lambda: plant.is_driven, "back: outputs on without a restart")

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
    until(lambda: camera.read(0x4E) == b"\x0f", "a reset in flight: configured again")
    on()
    check(status()["imu"]["lost_configurations"] == lost + 1, "counted as a lost configuration")

    camera.write(0x75, [0x12])
    camera.write(0x4E, [0])
    off("another chip in its place")
    until(lambda: "ICM-42688-P" in (status()["imu"].get("set_up_failure") or ""), "named")
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
    until(lambda: not status()["inhibitions"], "the bus is back: nothing holds the outputs off")

    handle.fail(6)
    until(lambda: "handle_imu_missing" in names("notices"), "the handle's sensor is gone: named")
    check(plant.is_driven, "and the camera is held without it")
    handle.fail(0)
    until(lambda: "handle_imu_missing" not in names("notices"), "the handle's sensor is back")


def mallocs():
    """Calls of the allocator by the bus thread so far; None without the library that counts them."""
    if not COUNTER.exists():
        return None
    bus = next(int(task.name) for task in Path(f"/proc/{board.daemon.pid}/task").iterdir()
               if (task / "comm").read_text().strip() == "airframed-bus0")
    counts = dict(struct.iter_unpack("<i4xq", COUNTS.read_bytes()))
    return counts.get(bus, 0)


def main():
    plant = Plant("icm42688p", "handle")
    board.start(f"""imu = "icm42688p"
data_ready_chip = "{gpio_chip()}"
data_ready_line = {LINE}
handle_imu = "mpu6050"
[motors]
type = "servo"
""", {"LD_PRELOAD": str(COUNTER), "MALLOC_COUNTER_FILE": str(COUNTS)} if COUNTER.exists() else {})
    comes_on(lambda: plant.is_driven, "sensors and servo chip brought up, outputs on")
    check("handle_imu_missing" not in names("notices"), "the handle's sensor is there")
    board.closes_loop(plant)
    warm = mallocs()
    edges(plant)
    fault_table(plant)
    if warm is None:
        print(f"  not counted: allocations of the bus thread, because there is no {COUNTER}", flush=True)
    else:
        check(mallocs() == warm, f"the bus thread has called malloc {mallocs() - warm} times in all this")
    board.end()
    until(lambda: not plant.is_driven, "outputs off at the end")
    plant.stop()
    board.done()


main()
