"""Other sensors over kernel interfaces: an ICM-42688-P on the camera whose data-ready line sets the pace (GPIO events), an
MPU-6050 on the handle, servos between them (plant.py). The bus thread must not allocate memory.
"""
# lab: --bluetooth off --own-time
import struct, time
from pathlib import Path

from board import BIN, Board
from plant import Chip, Plant, gpio_chip

CAMERA, HANDLE, PWM = 0x68, 0x69, 0x40
LINE = 5
COUNTER = BIN / "libMallocCounter.so"
board = Board([CAMERA, HANDLE, PWM])
COUNTS = board.folder / "mallocs"
check, until, comes_on, status, names = board.check, board.until, board.comes_on, board.status, board.names


def edges(plant):
    def late_share():
        before = status()
        time.sleep(3)
        after = status()
        late = after["imu"]["faults"]["late_edge"] - before["imu"]["faults"]["late_edge"]
        return late / (after["loop"]["ticks"] - before["loop"]["ticks"])

    share = late_share()
    check(share < 0.5, f"{share * 100:.0f} % of the periods began without an edge, because the simulated plant was late")
    plant.tell("edges 0")
    time.sleep(1)
    without = late_share()
    check(without > max(share, 0.4), f"with a constant data-ready line, status counts {without * 100:.0f} % of the periods as late")
    check(plant.is_driven, "the clock replaces the data-ready line, and the outputs stay on")
    plant.tell("edges 1")
    time.sleep(1)


def faults_of_both(plant):
    """Tests that long_faults does not contain: a sensor on the handle."""
    camera, handle = Chip(CAMERA), Chip(HANDLE)
    camera.fail(6)
    until(lambda: not plant.is_driven, "the camera's sensor does not acknowledge: the outputs are switched off")
    board.is_named("imu_stale", "imu_missing")
    camera.fail(0)
    comes_on(lambda: plant.is_driven, "the sensor acknowledges again: the outputs are switched on without a restart")

    handle.fail(6)
    until(lambda: "handle_imu_missing" in names("notices"), "status reports that the handle's sensor is missing")
    check(plant.is_driven, "airframed holds the camera without the handle's sensor")
    handle.fail(0)
    until(lambda: "handle_imu_missing" not in names("notices"), "status reports no missing sensor after the handle's sensor returns")


def mallocs():
    """Total calls of the allocator by the bus thread; None without the counting library."""
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
    comes_on(lambda: plant.is_driven, "sensors and servo chip are configured, the outputs are on")
    check("handle_imu_missing" not in names("notices"), "the handle's sensor delivers samples")
    board.closes_loop(plant)
    warm = mallocs()
    edges(plant)
    faults_of_both(plant)
    if warm is None:
        print(f"  SKIPPED: the count of the bus thread's allocations, because {COUNTER} is missing", flush=True)
    else:
        check(mallocs() == warm, f"the bus thread has called malloc {mallocs() - warm} times during all faults")
    board.end()
    until(lambda: not plant.is_driven, "the outputs are off at the end")
    plant.stop()
    board.done()


main()
