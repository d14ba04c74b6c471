"""Steps of the tests that have real chips' registers below them: each is printed, the first that fails ends the test."""
import sys, time


def rms(values):
    """About the mean."""
    values = list(values)
    mean = sum(values) / len(values)
    return (sum((v - mean) ** 2 for v in values) / len(values)) ** 0.5


class Checks:
    """Called with whether something holds, and its words. `explain` prints what helps when it does not; `recover` starts the
    motors again that a machine too slow to hold the camera has turned off."""

    def __init__(self, explain, recover=lambda: None):
        self.count, self.explain, self.recover = 0, explain, recover

    def __call__(self, holds, words):
        self.count += 1
        print(f"  {'ok  ' if holds else 'FAIL'} {words}", flush=True)
        if not holds:
            self.explain()
            sys.exit(1)

    def until(self, condition, words, seconds=60, every=0.02):
        """Waits for it. The machine is emulated: a limit only says that something hangs."""
        began = time.monotonic()
        while time.monotonic() - began < seconds:
            if condition():
                return self(True, f"{words}: {time.monotonic() - began:.2f} s")
            time.sleep(every)
        self(False, f"{words}: not within {seconds} s")

    def closes_loop(self, plant, windows=8):
        """The camera swings less than a third of the handle, in one of some windows of 8 s: a host that is busy stops the whole
        machine for tens of milliseconds, and that is no fault of the loop."""
        plant.tell("amplitude 10")
        time.sleep(4)
        for _ in range(windows):
            first = len(plant.history)
            time.sleep(8)
            rows = plant.history[first:]
            swings = {name: (rms(r[column] for r in rows), rms(r[column + 2] for r in rows))
                      for column, name in ((2, "roll"), (3, "pitch"))}
            if all(camera < handle / 3 for handle, camera in swings.values()):
                break
            self.recover()
        for name, (handle, camera) in swings.items():
            self(camera < handle / 3, f"{name}: handle {handle:.2f} deg RMS, camera {camera:.2f}")
        plant.tell("amplitude 0")
        time.sleep(1)
