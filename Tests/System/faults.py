"""A table of faults. For each fault, the test causes the fault and records: the time until the motors' power is off (from the
kernel's trace of the GPIO line), the reported condition, the counter, and the time from the end of the fault until the power is
on.
"""
import time

from plant import gpio_trace
from stalls import METER

POWER = 17
# If the machine stalls for longer than this, the reaction time to a fault is not checked, s.
STILL = 0.02


class Fault:
    """A fault. `begin` causes it, `end` ends it; without `end`, it ends automatically. `named`: one of these conditions must be
    reported. `counted`: this counter in `status` must increase. `is_bridged`: if true, the outputs must stay on; otherwise they
    must be off within `limit_ms`."""

    def __init__(self, words, begin, end=None, named=(), counted=None, is_bridged=False, limit_ms=65):
        self.words, self.begin, self.end = words, begin, end
        self.named, self.counted, self.is_bridged, self.limit_ms = set(named), counted, is_bridged, limit_ms


class FaultTable:
    def __init__(self, board):
        self.board, self.rows = board, []

    def power(self, level, since):
        """Time at which the line of the motors' power changed to this level, ns; None if it did not change."""
        return next((t for t, levels in gpio_trace() if t >= since and levels >> POWER & 1 == level), None)

    def is_on(self):
        trace = gpio_trace()
        return bool(trace) and trace[-1][1] >> POWER & 1 == 1

    def wait(self, condition, words, seconds=60):
        began = time.monotonic()
        while not (found := condition()):
            if time.monotonic() - began > seconds:
                self.board.check(False, f"{words}: not within {seconds} s")
            time.sleep(0.02)
        return found

    def run(self, wiring, faults):
        for fault in faults:
            self.board.comes_on(self.is_on, f"{wiring}: the motors are on")
            self.measure(wiring, fault)

    def count(self, fault):
        """Value of the fault's counter in `status`."""
        status = self.board.status()
        counters = status["imu"]["faults"] | status["faults"]["rejected_samples"] | status["joints"]["encoder_faults"]
        return counters[fault.counted] if fault.counted else 0

    def measure(self, wiring, fault):
        board, before = self.board, self.count(fault)
        METER.take()
        began = time.monotonic_ns()
        fault.begin()
        off = None
        if fault.is_bridged:
            time.sleep(1)
            still = METER.take()
            board.check(self.power(0, began) is None or still > STILL, f"{fault.words}: the motors stay on")
        else:
            off = self.wait(lambda: self.power(0, began), f"{fault.words}: power off") - began
            still = METER.take()
        names = set()
        if fault.named:
            self.wait(lambda: names.update(board.names() | board.names("notices")) or names & fault.named, f"{fault.words}: status lists the condition")
        if fault.counted:
            self.wait(lambda: self.count(fault) > before, f"{fault.words}: status counts {fault.counted}")
        status = board.status()
        words = status["faults"].get("last_error") if status["faults"]["bus_errors"] else None
        ended = began + off if off and not fault.end else time.monotonic_ns()
        if fault.end:
            fault.end()
        back = None if fault.is_bridged else self.wait(lambda: self.power(1, ended), f"{fault.words}: power on") - ended
        named = ", ".join(sorted(names & fault.named)) or "-"
        board.check(off is None or off < fault.limit_ms * 1e6 or still > STILL, f"{fault.words}: {named}; counter {fault.counted}; "
                    + ("motors stay on" if off is None else f"off after {off * 1e-6:.0f} ms, back after {back * 1e-9:.2f} s")
                    + (f"; {words}" if words else ""))
        self.rows.append((wiring, fault.words, named, fault.counted or "-", "stays on" if off is None else f"{off * 1e-6:.0f} ms",
                          "" if back is None else f"{back * 1e-9:.2f} s", f"{still * 1e3:.0f} ms" if still > STILL else ""))

    def show(self):
        heads = ("wiring", "fault", "condition", "counter", "off after", "back after", "machine stalled")
        widths = [max(len(row[n]) for row in [heads, *self.rows]) for n in range(len(heads))]
        for row in [heads, *self.rows]:
            print("  " + "  ".join(word.ljust(width) for word, width in zip(row, widths)).rstrip())
