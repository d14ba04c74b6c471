"""Client of airframed, the controller of a camera gimbal, for Python 3.9 and newer.

The client uses the diagnostics socket of airframed and only Python's standard library. Angles are in degrees
in the earth frame: yaw right, roll right and pitch up are positive. Rates are in degrees per second, times in
seconds.

>>> import airframe
>>> with airframe.connect(name="example") as gimbal:
...     mode = gimbal.status()["mode"]
...     with gimbal.control() as camera:
...         seconds = camera.point(pitch=-5, duration=0.5)
>>> mode
'locked'
>>> seconds >= 0.5
True

`connect` opens a connection; one thread at a time can use it. Errors are `Unreachable`, `Timeout` and `Refused`,
whose text contains the remedy.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
import socket
import subprocess
import time
from collections import deque
from types import TracebackType
from typing import Any, Deque, Dict, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Type, Union

__all__ = [
    "AirframeError", "Control", "Gimbal", "Refused", "Sample", "Stream", "Timeout", "Trial", "Unreachable",
    "connect", "load_recording",
]

DEFAULT_SOCKET = "/run/airframe/airframed.sock"

_LONGEST_LINE = 1 << 22
_MOST_HELD = 4096
_LARGEST_INT64 = (1 << 63) - 1
# A field of a table of comma-separated values, as it is written.
_FIELD = re.compile(r'("(?:[^"]|"")*"|[^,\n]*)[,\n]')


class AirframeError(Exception):
    """An error in the communication with airframed."""


class Unreachable(AirframeError):
    """airframed is not running, or the connection was lost."""


class Timeout(AirframeError):
    """airframed did not answer in time."""


class Refused(AirframeError):
    """airframed refused the request.

    `code` is a word for programs, such as "out_of_range"; `field` names the wrong parameter, or is None.
    """

    def __init__(self, message: str, code: str, field: Optional[str]) -> None:
        super().__init__(message)
        self.code = code
        self.field = field


class Sample(NamedTuple):
    """One message of a stream: values by name at the time `t` on the loop's clock, s.

    A value is a number, a str such as the mode, or a list of str such as the conditions; an unknown value is None.
    `dropped` is the number of messages that airframed has left out because the program did not read fast enough.
    """

    t: float
    values: Dict[str, Any]
    dropped: int


class _Connection:
    """Lines of JSON over a UNIX socket, with a time limit for each answer."""

    def __init__(self, path: str, timeout: float) -> None:
        self._path = path
        self._timeout = timeout
        self._received = bytearray()
        self._held: Deque[Dict[str, Any]] = deque(maxlen=_MOST_HELD)
        self._next = 1
        # Time of the newest answer on the loop's clock, s.
        self.time = 0.0
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.settimeout(timeout)
        try:
            self._socket.connect(path)
        except FileNotFoundError:
            self._socket.close()
            raise Unreachable(f"There is no socket {path}. Is airframed running? If not, start it.") from None
        except ConnectionRefusedError:
            # A program that was killed leaves its socket behind.
            self._socket.close()
            raise Unreachable(f"No program answers at {path}. Is airframed running? If not, start it.") from None
        except PermissionError:
            self._socket.close()
            raise Unreachable(
                f"Permission denied at {path}. Join the socket's group (sudo usermod -aG airframe $USER)."
            ) from None
        except OSError as error:
            self._socket.close()
            raise Unreachable(f"Cannot connect to {path}: {error}.") from None

    def close(self) -> None:
        self._socket.close()

    def request(self, method: str, params: Mapping[str, Any]) -> Any:
        number = self._next
        self._next += 1
        line = json.dumps({"id": number, "method": method, "params": dict(params)}, allow_nan=False)
        deadline = time.monotonic() + self._timeout
        try:
            self._socket.settimeout(self._timeout)
            self._socket.sendall(line.encode() + b"\n")
        except socket.timeout:
            raise self._late() from None
        except OSError:
            # airframed states the reason before it closes a connection to admit another client.
            while True:
                message = self._line(deadline)
                if message.get("id") is None:
                    self._raise_error(message)
        while True:
            message = self._line(deadline)
            if "subscription" in message and "id" not in message:
                self._held.append(message)
                continue
            # An error without an id concerns the whole connection.
            if message.get("id") not in (number, None):
                continue
            if message.get("t") is not None:
                self.time = float(message["t"])
            self._raise_error(message)
            return message.get("result")

    def next_message(self, timeout: Optional[float]) -> Dict[str, Any]:
        if self._held:
            return self._held.popleft()
        message = self._line(None if timeout is None else time.monotonic() + timeout)
        # airframed states the reason before it closes a connection to admit another client.
        self._raise_error(message)
        return message

    @staticmethod
    def _raise_error(message: Dict[str, Any]) -> None:
        error = message.get("error")
        if error is not None:
            raise Refused(
                str(error.get("message", "refused")), str(error.get("code", "refused")), error.get("field"))

    def _line(self, deadline: Optional[float]) -> Dict[str, Any]:
        scanned = 0
        while True:
            end = self._received.find(b"\n", scanned)
            if end >= 0:
                line = bytes(self._received[:end])
                del self._received[: end + 1]
                try:
                    message = json.loads(line)
                except ValueError:
                    raise AirframeError("airframed sent a line that is not JSON.") from None
                if not isinstance(message, dict):
                    raise AirframeError("airframed sent a line that is not an object.")
                return message
            scanned = len(self._received)
            if scanned > _LONGEST_LINE:
                raise AirframeError(f"airframed sent a line longer than {_LONGEST_LINE} bytes.")
            rest = None if deadline is None else deadline - time.monotonic()
            if rest is not None and rest <= 0:
                raise self._late()
            try:
                self._socket.settimeout(rest)
                chunk = self._socket.recv(1 << 16)
            except socket.timeout:
                raise self._late() from None
            except OSError:
                raise self._lost() from None
            if not chunk:
                raise self._lost()
            self._received += chunk

    def _late(self) -> Timeout:
        return Timeout(f"airframed at {self._path} did not answer within {self._timeout} s.")

    def _lost(self) -> Unreachable:
        if self._socket.fileno() < 0:
            return Unreachable("The program has closed this connection; open another one with airframe.connect.")
        return Unreachable(f"airframed closed the connection at {self._path}. Has it stopped?")


class Gimbal:
    """Connection to airframed. Use it in a `with` statement, or call `close`."""

    def __init__(
        self, path: Optional[str] = None, *, name: Optional[str] = None, read_only: bool = False,
        timeout: float = 5.0,
    ) -> None:
        self.path = path or os.environ.get("AIRFRAME_SOCKET") or DEFAULT_SOCKET
        self.timeout = timeout
        self._connection = _Connection(self.path, timeout)
        identity: Dict[str, Any] = {}
        if name is not None:
            identity["name"] = name
        if read_only:
            identity["read_only"] = True
        try:
            if identity:
                self._connection.request("client", identity)
        except BaseException:
            self._connection.close()
            raise

    def __enter__(self) -> Gimbal:
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType],
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection; airframed then ends the continuous rotations and the tasks of this connection. A
        `point` continues to its target, unless `rate(yaw=0)` before `close` stops it."""
        self._connection.close()

    def request(self, method: str, **params: Any) -> Any:
        """Send any request of the diagnostics protocol, and return its result. Parameters that are None
        are left out.

        >>> with airframe.connect() as gimbal:
        ...     [method["name"] for method in gimbal.request("methods") if method["name"] == "point"]
        ['point']
        """
        return self._connection.request(
            method, {name: value for name, value in params.items() if value is not None})

    # Questions

    def status(self) -> Dict[str, Any]:
        """The present state of the gimbal, as `airframectl --json status` prints it."""
        return dict(self.request("status"))

    def doctor(self) -> List[Dict[str, Any]]:
        """The findings of the daemon's checks, each with `name`, `level`, `finding` and `remedy`."""
        return list(self.request("doctor"))

    def history(self) -> List[Dict[str, Any]]:
        """The newest changes, with their authors, also from before the start of airframed."""
        return list(self.request("history"))

    def variables(self) -> List[Dict[str, Any]]:
        """The variables for `subscribe`, each with `name`, `unit` and `summary`."""
        return list(self.request("variables"))

    # Motion without control that lasts

    def mode(self, mode: str) -> None:
        """Change the mode, for example to "locked" or "inactive"."""
        self.request("mode", mode=mode)

    def stop(self) -> None:
        """Emergency stop: switch the motors off, until a person resets the stop."""
        self.request("stop")

    def control(self) -> Control:
        """Take control of the camera for a `with` statement.

        At the end of the statement the camera stops turning, and control is released, also after an
        exception.

        >>> with airframe.connect() as gimbal, gimbal.control() as camera:
        ...     camera.turn(yaw=5, seconds=0.3)
        """
        return Control(self)

    # Settings

    def get(self, *keys: str) -> Dict[str, Any]:
        """Values of settings by key; the name of a table means all its settings.

        >>> with airframe.connect() as gimbal:
        ...     gimbal.get("loop.rate_hz")
        {'loop.rate_hz': 1000}
        """
        return {setting["key"]: setting["value"] for setting in self.settings(*keys)}

    def settings(self, *keys: str) -> List[Dict[str, Any]]:
        """Settings with `key`, `value`, `default`, `unit`, `range`, `summary`, `origin` and `live`."""
        return list(self.request("get", keys=list(keys)))

    def set(self, key: str, value: Any, *, rollback: Optional[float] = None) -> None:
        """Change a setting until airframed ends, unless it is saved. With `rollback` the change reverts
        after this time, s, unless it is saved."""
        self.request("set", key=key, value=value, rollback=rollback)

    def save(self) -> None:
        """Save all live changes, including temporary changes."""
        self.request("save")

    def trial(self, seconds: float = 30.0) -> Trial:
        """Try changes of settings, which revert at the end of the `with` statement unless they are kept.

        The changes revert `seconds` after the last change, also during the `with` statement; `keep` then raises
        `AirframeError`. Therefore they also revert if the program ends unexpectedly.

        >>> with airframe.connect() as gimbal:
        ...     with gimbal.trial() as trial:
        ...         trial["tracking.max_rate_dps"] = 60
        ...         during = gimbal.get("tracking.max_rate_dps")
        ...     during, gimbal.get("tracking.max_rate_dps")
        ({'tracking.max_rate_dps': 60}, {'tracking.max_rate_dps': 45})
        """
        return Trial(self, seconds)

    def baselines(self) -> List[str]:
        """Names of the stored tunings."""
        return list(self.request("baseline", action="list")["names"])

    def store_baseline(self, name: str) -> None:
        """Store the present tuning under a name."""
        self.request("baseline", action="store", name=name)

    def restore_baseline(self, name: str) -> None:
        """Restore the tuning with this name."""
        self.request("baseline", action="restore", name=name)

    # Streams and recordings

    def subscribe(self, names: Union[str, Sequence[str]], rate: float = 10.0) -> Stream:
        """Stream variables over a separate connection; iterate over the stream for the samples.

        `rate` is in messages per second, 1 to 200. "attitude.*" means all variables whose names begin with "attitude.".
        The iteration raises `Timeout` if a sample is late by more than the `timeout` of the connection, and `Refused` if
        airframed ends the connection to admit another client.

        >>> with airframe.connect() as gimbal, gimbal.subscribe("attitude.*", rate=50) as stream:
        ...     sorted(next(stream).values)
        ['attitude.pitch', 'attitude.roll', 'attitude.yaw']
        """
        return Stream(self.path, self.timeout, [names] if isinstance(names, str) else list(names), rate)

    def record_last(self, seconds: float = 60.0) -> Dict[str, Any]:
        """Write the newest seconds of the flight recorder to a file, and wait until the file is complete.

        Return the recorder's state; `last_file` is the path of the file. Raise `AirframeError` if the disk does
        not store the file.
        """
        state = self.request("record", action="last", seconds=seconds)
        requested = state["requested"]
        deadline = time.monotonic() + max(self.timeout, 30)
        while state["finished"] < requested:
            if time.monotonic() > deadline:
                raise Timeout(f"The disk has not stored the recording yet: {state['directory']}.")
            time.sleep(0.05)
            state = self.request("record", action="status")
        if state.get("problem") is not None:
            raise AirframeError(str(state["problem"]))
        return dict(state)


class Control:
    """Control of the camera during a `with` statement, see `Gimbal.control`."""

    # Longest time between two looks at the state during a motion, s on the computer's clock.
    _PERIOD = 0.1

    def __init__(self, gimbal: Gimbal) -> None:
        self._gimbal = gimbal
        self._holder: Optional[str] = None

    def __enter__(self) -> Control:
        self._gimbal.request("take")
        self._holder = self._gimbal.status().get("holder")
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType],
    ) -> None:
        try:
            self._gimbal.request("release")
        except AirframeError:
            # The loss of the connection also releases control; the first exception is more useful.
            if error is None:
                raise

    def point(
        self, *, yaw: Optional[float] = None, roll: Optional[float] = None, pitch: Optional[float] = None,
        duration: Optional[float] = None, rate: Optional[float] = None, wait: bool = False,
    ) -> Optional[float]:
        """Turn the camera to angles, degrees; an axis without a value is not moved.

        Return the expected time of the turn, s; None if the motors are off. With `wait`, return at the end
        of this time on the loop's clock, which is the simulator's clock in lockstep, or raise `Refused` as soon
        as an emergency stop, a fault or another client ends the motion.
        """
        answer = self._gimbal.request(
            "point", yaw=yaw, roll=roll, pitch=pitch, duration=duration, rate=rate)
        seconds: Optional[float] = answer.get("duration_s")
        if wait and seconds is not None:
            self._wait(seconds)
        return seconds

    def _wait(self, seconds: float) -> None:
        begin, start = self._gimbal._connection.time, time.monotonic()
        while True:
            self._check()
            rest = self._rest(begin, seconds)
            if rest <= 0:
                return
            self._pause(rest, begin, start)

    def _pause(self, seconds: float, begin: float, start: float) -> None:
        """Sleep for a time on the loop's clock, s, but at most for `_PERIOD`. The motion began at the time `begin` on
        the loop's clock, and at `start` on the computer's clock: a simulator can be faster than real time."""
        passed = max(time.monotonic() - start, 0.001)
        speed = max((self._gimbal._connection.time - begin) / passed, 1)
        time.sleep(min(seconds / speed, self._PERIOD))

    def _rest(self, begin: float, seconds: float) -> float:
        """Remaining time of a motion that lasts `seconds` and began at the time `begin`, s, on the loop's clock.

        In lockstep this clock is not the computer's clock: a simulator can be slower or faster than real time.
        """
        passed = self._gimbal._connection.time - begin
        if passed < 0:
            raise Refused("A new simulator has connected, which ended the motion.", "refused", None)
        return seconds - passed

    def _check(self) -> None:
        """Raise `Refused` if the requested motion has ended early."""
        status = self._gimbal.status()
        if "stopped_by" in status:
            raise Refused(f"An emergency stop of {status['stopped_by']} ended the motion.", "emergency_stop", None)
        if status.get("inhibitions"):
            raise Refused(f"The motors are off: {status['inhibitions'][0]['sentence']}", "refused", None)
        if status["mode"] == "inactive":
            raise Refused("A client has switched the motors off (mode inactive).", "refused", None)
        # Without a client in control, a turn to angles continues.
        holder = status.get("holder")
        if holder is not None and holder != self._holder:
            raise Refused(f"{holder} is in control now.", "not_in_control", None)

    def rate(self, *, yaw: float = 0.0, roll: float = 0.0, pitch: float = 0.0) -> None:
        """Turn the camera at the given rates, degrees per second, until `commander.dead_man_s` has passed without
        another request."""
        self._gimbal.request("rate", yaw=yaw, roll=roll, pitch=pitch)

    def turn(self, *, yaw: float = 0.0, roll: float = 0.0, pitch: float = 0.0, seconds: float) -> None:
        """Turn the camera at the given rates, degrees per second, for a time, s, then stop it.

        The time is on the loop's clock, like that of `point` with `wait`.
        Raise `Refused` if an emergency stop or another client ends the motion.
        """
        dead_man = float(self._gimbal.get("commander.dead_man_s")["commander.dead_man_s"])
        self.rate(yaw=yaw, roll=roll, pitch=pitch)
        begin, start = self._gimbal._connection.time, time.monotonic()
        try:
            while True:
                # Another request of this connection would take control from the other client.
                self._check()
                rest = self._rest(begin, seconds)
                if rest <= 0:
                    break
                self.rate(yaw=yaw, roll=roll, pitch=pitch)
                self._pause(min(rest, dead_man / 3), begin, start)
        except Refused:
            # The motion has ended, and the camera belongs to another client or is off.
            raise
        except BaseException:
            self.rate()
            raise
        else:
            self.rate()


class Trial:
    """Temporary changes of settings during a `with` statement, see `Gimbal.trial`."""

    def __init__(self, gimbal: Gimbal, seconds: float) -> None:
        self._gimbal = gimbal
        self._seconds = seconds
        self._before: Dict[str, Any] = {}
        self._tried: Dict[str, Any] = {}
        self._kept = False

    def __enter__(self) -> Trial:
        return self

    def __setitem__(self, key: str, value: Any) -> None:
        before = self._gimbal.get(key)
        if list(before) != [key]:
            raise KeyError(f"{key} is a table, not a setting")
        self._tried[key] = self._gimbal.request("set", key=key, value=value, rollback=self._seconds)["value"]
        self._before.setdefault(key, before[key])

    def keep(self) -> None:
        """Save the changes, so that they last.

        Raise `AirframeError` if a setting no longer has the value of the trial, because the `seconds` of the trial
        have passed since the last change, or because another client has changed the setting. Nothing is saved then.
        """
        if self._tried:
            values = self._gimbal.get(*self._tried)
            lost = [key for key, value in self._tried.items() if values[key] != value]
            if lost:
                raise AirframeError(
                    f"{', '.join(lost)}: the value of the trial has been reverted or replaced, and is not saved. "
                    f"Changes revert {self._seconds} s after the last change; repeat the trial with more seconds.")
        self._gimbal.save()
        self._kept = True

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType],
    ) -> None:
        if self._kept:
            return
        # A change can depend on an earlier change, so the newest change reverts first. The daemon's own
        # rollback, to the same values, follows later.
        failure: Optional[AirframeError] = None
        for key, value in reversed(list(self._before.items())):
            try:
                self._gimbal.set(key, value, rollback=self._seconds)
            except AirframeError as problem:
                failure = failure or problem
        if failure is not None and error is None:
            raise failure


class Stream(Iterator[Sample]):
    """Samples of variables, see `Gimbal.subscribe`. Use it in a `with` statement, or call `close`."""

    def __init__(self, path: str, timeout: float, names: List[str], rate: float) -> None:
        self._connection = _Connection(path, timeout)
        try:
            info = self._connection.request("subscribe", {"names": names, "rate": rate})
        except AirframeError:
            self._connection.close()
            raise
        self.names: Tuple[str, ...] = tuple(info["names"])
        # The next message is due after one period of the stream, which can be longer than the timeout.
        self._timeout = timeout + 1 / float(info["rate_hz"])

    def __enter__(self) -> Stream:
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType],
    ) -> None:
        self.close()

    def __iter__(self) -> Stream:
        return self

    def __next__(self) -> Sample:
        message = self._connection.next_message(self._timeout)
        return Sample(float(message["t"]), message["values"], int(message["dropped"]))

    def close(self) -> None:
        """End the stream."""
        self._connection.close()


def connect(
    path: Optional[str] = None, *, name: Optional[str] = None, read_only: bool = False, timeout: float = 5.0,
) -> Gimbal:
    """Open a connection to airframed.

    `path` is the socket: by default AIRFRAME_SOCKET, or else /run/airframe/airframed.sock. `name` appears in
    `airframectl history`, and in `status` while the program is in control. `read_only` withdraws the right to
    write. `timeout` is the longest wait for an answer, s.

    Raise `Unreachable`, with a remedy.
    """
    return Gimbal(path, name=name, read_only=read_only, timeout=timeout)


def load_recording(file: str, channel: str = "tick", *, airframectl: str = "airframectl") -> Dict[str, Any]:
    """Read a channel ("tick", "sample", "command" or "event") of a recording as columns by name.

    A column of integers is a numpy array of int64 if numpy is installed, or of uint64 if a value needs it; otherwise
    a list of int. A column of other numbers is a numpy array of float64, or a list of float. A column of texts is a
    list of str. `airframectl` is the program that reads the file.

    Raise `AirframeError` if the file cannot be read.
    """
    command = [airframectl, "record", "export", "--channel", channel, "--csv", "-", "--", file]
    try:
        run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    except OSError as error:
        raise AirframeError(f"Cannot start {airframectl}: {error}.") from None
    if run.returncode != 0:
        raise AirframeError(run.stderr.decode(errors="replace").strip() or f"{airframectl} failed")
    table = run.stdout.decode()
    rows = csv.reader(io.StringIO(table, newline=""))
    names = next(rows, [])
    columns: List[List[str]] = [[] for _ in names]
    for row in rows:
        for column, field in zip(columns, row):
            column.append(field)
    # airframectl quotes the fields of a text in each row, also if a text is empty or looks like a number.
    first = _FIELD.finditer(table, table.find("\n") + 1)
    texts = {name for name, field in zip(names, first) if field[1].startswith('"')}
    return {name: column if name in texts else _numbers(column) for name, column in zip(names, columns)}


def _numbers(column: List[str]) -> Any:
    """Numbers of a column; the column itself if it contains words. airframectl writes other numbers than integers with
    a decimal point or an exponent."""
    values: List[Any]
    try:
        values = [int(field) for field in column]
        kind = "uint64" if max(values, default=0) > _LARGEST_INT64 else "int64"
    except ValueError:
        try:
            values = [float(field) for field in column]
        except ValueError:
            return column
        kind = "float64"
    try:
        import numpy
    except ImportError:
        return values
    return numpy.array(values, dtype=kind)
