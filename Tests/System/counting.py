"""Counts what airframed's threads do: calls of the allocator (with the preloaded library MallocCounter) and system calls
(with the kernel's histogram triggers)."""
import re, struct
from pathlib import Path

from board import BIN

COUNTER = BIN / "libMallocCounter.so"
TRIGGER = Path("/sys/kernel/debug/tracing/events/raw_syscalls/sys_enter")
# System call numbers of x86_64.
# `RESTART` continues a sleep after SIGSTOP.
IOCTL, PWRITE, FUTEX, RESTART, SLEEP = 16, 18, 202, 219, 230


def environment(board):
    """Environment variables with which the preloaded library counts airframed's allocations."""
    return {"LD_PRELOAD": str(COUNTER), "MALLOC_COUNTER_FILE": str(board.folder / "mallocs")}


def threads(board):
    """Threads of airframed: name → thread ID."""
    return {(task / "comm").read_text().strip(): int(task.name) for task in Path(f"/proc/{board.daemon.pid}/task").iterdir()}


def mallocs(board):
    """Total calls of the allocator: thread's name → count."""
    counts = dict(struct.iter_unpack("<i4xq", (board.folder / "mallocs").read_bytes()))
    return {name: counts.get(number, 0) for name, number in threads(board).items()}


def system_calls(board):
    """System calls since `trace_system_calls`: (thread's name, number of the call) → count."""
    names = {number: name for name, number in threads(board).items()}
    found = re.findall(r"common_pid:\s*(\d+), id:\s*(\d+).*hitcount:\s*(\d+)", (TRIGGER / "hist").read_text())
    return {(names[int(thread)], int(call)): int(count) for thread, call, count in found if int(thread) in names}


def trace_system_calls():
    (TRIGGER / "trigger").write_text("hist:keys=common_pid,id:size=4096")
