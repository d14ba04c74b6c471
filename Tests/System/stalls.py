"""Measures stalls of the emulated machine. On a busy host, the machine stalls for tenths of a second. The motors keep their
last torque during a stall, so the camera's motion then does not show the quality of the controller."""
import threading, time

# The simulated camera moves by about a degree during a stall of this length, s.
TOO_LONG = 0.1


class StallMeter(threading.Thread):
    """Thread that sleeps repeatedly for 10 ms, and records the longest delay."""

    def __init__(self):
        super().__init__(daemon=True)
        self.longest = 0.0
        self.start()

    def run(self):
        while True:
            began = time.monotonic()
            time.sleep(0.01)
            self.longest = max(self.longest, time.monotonic() - began - 0.01)

    def take(self):
        """The longest delay since the last call, s."""
        longest, self.longest = self.longest, 0.0
        return longest


METER = StallMeter()


def judged(trial, recover, times=6):
    """Runs `trial`, which returns whether a check holds, and its description. If the check fails, and the machine stalled since
    the previous trial, `recover` runs, because the stall can have latched a fault; then the trial is repeated.

    Returns (holds, words); holds is None if the machine stalled in every trial, and words contains this reason."""
    for _ in range(times):
        holds, words = trial()
        longest = METER.take()
        if holds or longest < TOO_LONG:
            return holds, words
        print(f"  repeated: {words}, but the virtual machine stalled for {longest * 1000:.0f} ms", flush=True)
        recover()
    return None, f"SKIPPED: {words}, because the virtual machine stalled for {longest * 1000:.0f} ms, in {times} successive attempts"
