"""Types a command line into an interactive fish on a pseudo-terminal, presses Tab, and prints the completions, one a line.

    complete_fish.py SCRIPT WORD...

SCRIPT is the completion script. The last word is the one to complete. `complete -C` is not enough: the script asks fish for
the position of the cursor."""

import os
import pty
import re
import select
import sys
import time

script, words = sys.argv[1], sys.argv[2:]
child, terminal = pty.fork()
if child == 0:
    os.environ["TERM"] = "xterm"
    os.execvp("fish", ["fish", "--no-config", "--interactive"])
seen = b""


def read(seconds, until=None):
    """Returns the output of fish until it is silent for 0.7 s, or until a text appears."""
    global seen
    end = time.monotonic() + seconds
    quiet = time.monotonic() + 0.7
    while time.monotonic() < end:
        if select.select([terminal], [], [], 0.05)[0]:
            try:
                seen += os.read(terminal, 65536)
            except OSError:
                return
            quiet = time.monotonic() + 0.7
        if until is not None:
            if until in seen:
                return
        elif time.monotonic() > quiet:
            return


read(10)
os.write(terminal, f"source {script}; echo REA''DY\r".encode())
read(10, b"READY")
read(5)
seen = b""
os.write(terminal, " ".join(words).encode())
read(5)
typed = len(seen)
os.write(terminal, b"\t")
# The script starts airframectl, which can take seconds on a busy machine.
end = time.monotonic() + 10
while len(seen) == typed and time.monotonic() < end:
    read(0.1)
read(5)
os.close(terminal)
text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07]*\x07|\x1b[()=>].?", " ", seen.decode(errors="replace"))
print("\n".join(sorted(set(text.split()))))
