"""The unit's resource limits under a real systemd. The maximum number of clients, each of which sends requests of 64 KiB and does
not read the replies, stays below the limits. Only a process that exceeds the limits is affected. With too few tasks, airframed
reports which thread is missing.
"""
# lab: --init systemd --bluetooth off
import json, re, socket, subprocess, sys, time
from pathlib import Path

from gimbal import BIN, step

ROOT = Path(__file__).resolve().parents[2]
SOCKET, UNIT = Path("/run/limits/airframed.sock"), "limits.service"
UNIT_TEXT = (ROOT / "systemd/airframed.service").read_text()
LIMITS = {name: re.search(rf"^{name}=(\S+)$", UNIT_TEXT, re.M).group(1) for name in ("MemoryMax", "TasksMax")}
CLIENTS = 64
QUESTION = json.dumps({"id": 1, "method": "get", "params": {"keys": ["hardware"] * 4000}}).encode() + b"\n"


def show(name, unit=UNIT):
    return subprocess.run(["systemctl", "show", unit, "--property", name, "--value"], capture_output=True, text=True, check=True).stdout.strip()


def run(unit, *command):
    subprocess.run(["systemd-run", "--quiet", f"--unit={unit}", "--property=RuntimeDirectory=limits", "--property=MemorySwapMax=0",
                    *(f"--property={name}={value}" for name, value in LIMITS.items()), *map(str, command)], check=True)


def until(condition, what, seconds=120):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            sys.exit(f"still waiting for {what}")
        time.sleep(0.1)


def connect():
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(60)
    connection.connect(str(SOCKET))
    return connection


def group(name):
    """A value of the unit's control group."""
    return int(Path("/sys/fs/cgroup" + show("ControlGroup"), name).read_text())


if Path("/proc/1/comm").read_text() != "systemd\n":
    sys.exit("process 1 is not systemd")
run(UNIT, BIN / "airframed", f"--set=diagnostics.socket={SOCKET}", "--set=persistence.directory=/run/limits/state", "--set=loop.rate_hz=200",
    "--set=hardware.simulation.motion=still", "--set=imu.timeout_ms=250", "--set=control.find_inertia=false")
until(SOCKET.exists, "the socket")
step(f"airframed under {LIMITS}: {group('memory.current') >> 20} MiB, {group('pids.current')} tasks")
assert 0 < int(show("MemoryMax")) < 1 << 30 and 0 < int(show("TasksMax")) < 1000, (show("MemoryMax"), show("TasksMax"))

crowd = [connect() for _ in range(CLIENTS - 1)]
for connection in crowd:
    for _ in range(4):
        connection.setblocking(False)
        try:
            connection.sendall(QUESTION)
        except BlockingIOError:
            break
began = time.monotonic()
last = connect()
last.sendall(b'{"id":2,"method":"stop"}\n')
answer = last.makefile("r").readline()
assert '"result"' in answer, answer
step(f"`airframectl stop` takes {time.monotonic() - began:.2f} s while {len(crowd)} clients have sent {len(QUESTION)} bytes of requests each")
time.sleep(20)
peak, tasks = group("memory.peak"), group("pids.peak") if Path("/sys/fs/cgroup" + show("ControlGroup"), "pids.peak").exists() else group("pids.current")
assert show("ActiveState") == "active" and show("NRestarts") == "0", show("Result")
limit = int(show("MemoryMax"))
assert peak < limit and tasks < int(show("TasksMax")), (peak, tasks)
step(f"peak use: {peak >> 20} of {limit >> 20} MiB, {tasks} of {show('TasksMax')} tasks")
for connection in crowd + [last]:
    connection.close()
subprocess.run(["systemctl", "stop", UNIT], check=True)

run("greedy.service", sys.executable, "-c", "b = b'x' * (300 << 20)")
until(lambda: show("ActiveState", "greedy.service") == "failed", "the end of a process that allocates 300 MiB")
assert show("Result", "greedy.service") == "oom-kill", show("Result", "greedy.service")
step("the kernel ends a process that allocates 300 MiB under the same limit (oom-kill)")

# The number of threads reaches the limit: the next thread is refused, and no process is killed.
run("crowded.service", sys.executable, "-c", """
import threading, time
count = 1
try:
    while True:
        threading.Thread(target=time.sleep, args=(30,), daemon=True).start()
        count += 1
except RuntimeError:
    open('/run/limits/threads', 'w').write(str(count))
    time.sleep(600)
""")
report = Path("/run/limits/threads")
until(lambda: report.exists() and report.read_text(), "the first thread over the limit")
threads = int(report.read_text())
subprocess.run(["systemctl", "stop", "crowded.service"], check=True)
assert threads == int(LIMITS["TasksMax"]), threads
step(f"a process under the same limit can start {threads} threads")

# The limit is below airframed's number of threads: airframed exits, and reports the thread and the limit.
few = subprocess.run(["systemd-run", "--quiet", "--wait", "--pipe", "--unit=few.service", "--property=TasksMax=8", "--property=RuntimeDirectory=few",
                      str(BIN / "airframed"), "--set=diagnostics.socket=/run/few/airframed.sock", "--set=persistence.directory=/run/few/state"],
                     capture_output=True, text=True, timeout=60)
assert few.returncode == 70 and "thread airframed-" in few.stderr, (few.returncode, few.stderr)
step(f"with a limit of 8 tasks, airframed ends with: {few.stderr.strip().splitlines()[-1]}")
step("PASSED")
