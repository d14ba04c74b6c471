"""How long the emulated machine stands still. Where its host is busy it does so for tenths of a second: the motors keep their
last torque meanwhile, and what the camera does then says nothing about the controller."""
import threading, time

# The simulated camera moves by about a degree while the machine stands still for so long, s.
TOO_LONG = 0.1


class StallMeter(threading.Thread):
    """Sleeps 10 ms again and again, and keeps the longest delay."""

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
        """The longest since the last call, s."""
        longest, self.longest = self.longest, 0.0
        return longest


METER = StallMeter()


def judged(trial, recover, times=6):
    """Runs `trial`, which returns whether something holds and its words. One that does not hold is repeated after `recover`, if
    the machine stood still during it or before it, since the last one: what that did to the camera may be latched.

    Returns (holds, words); holds is None where the machine stood still every time, and the words say so."""
    for _ in range(times):
        holds, words = trial()
        longest = METER.take()
        if holds or longest < TOO_LONG:
            return holds, words
        print(f"  again: {words}, but the machine stood still for {longest * 1000:.0f} ms", flush=True)
        recover()
    return None, f"SKIPPED: {words}, because the machine stood still for {longest * 1000:.0f} ms, and {times} times in a row"
