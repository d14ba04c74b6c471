"""Tests of the Python client against a running airframed: AIRFRAME_SOCKET names its socket, and
AIRFRAMECTL the program airframectl. The motors of the simulated gimbal are on.

    PYTHONPATH=Sources/Python python3 Tests/Python/test_airframe.py
"""

import ast
import doctest
import importlib.util
import json
import os
import pathlib
import re
import socket
import sys
import tempfile
import threading
import time
import typing
import unittest

import airframe

ROOT = pathlib.Path(__file__).resolve().parents[2]


class ClientTests(unittest.TestCase):
    def setUp(self):
        self.gimbal = airframe.connect(name="test")
        self.addCleanup(self.gimbal.close)

    def test_names_its_connection_in_the_history(self):
        self.gimbal.set("tracking.max_rate_dps", 44, rollback=1)
        self.assertIn("(test,", self.gimbal.history()[-1]["who"])

    def test_a_refusal_has_code_field_and_remedy(self):
        with self.assertRaises(airframe.Refused) as caught, self.gimbal.control() as camera:
            camera.rate(yaw=5000)
        self.assertEqual((caught.exception.code, caught.exception.field), ("out_of_range", "yaw"))
        self.assertIn("-720...720", str(caught.exception))

    def test_control_is_released_after_an_exception(self):
        with self.assertRaises(ZeroDivisionError):
            with self.gimbal.control():
                self.assertIn("test", self.gimbal.status()["holder"])
                raise ZeroDivisionError
        self.assertNotIn("holder", self.gimbal.status())

    def test_a_turn_ends(self):
        with self.gimbal.control() as camera:
            # A pause of the computer makes the turn longer; such a turn is repeated.
            for _ in range(3):
                before = self.gimbal.status()["attitude"]["yaw_deg"]
                begin = time.monotonic()
                camera.turn(yaw=20, seconds=0.6)
                if time.monotonic() - begin < 0.75:
                    break
            time.sleep(0.5)
            first = self.gimbal.status()["attitude"]["yaw_deg"]
            time.sleep(0.3)
            self.assertAlmostEqual(self.gimbal.status()["attitude"]["yaw_deg"], first, delta=0.5)
        self.assertAlmostEqual(first - before, 12, delta=4)

    def waiting(self, wait, interrupt):
        """Error that ends a wait of 10 s after a second client interrupts it, and the duration of the wait, s."""
        with airframe.connect(name="other") as other, self.gimbal.control() as camera:
            timer = threading.Timer(0.3, interrupt, [other])
            timer.start()
            begin = time.monotonic()
            with self.assertRaises(airframe.Refused) as caught:
                wait(camera)
            timer.join()
        return caught.exception, time.monotonic() - begin

    def test_a_wait_ends_with_an_error_after_a_stop_or_a_loss_of_control(self):
        waits = [lambda camera: camera.point(yaw=10, duration=10, wait=True), lambda camera: camera.turn(yaw=1, seconds=10)]
        for wait in waits:
            error, seconds = self.waiting(wait, lambda other: other.stop())
            self.gimbal.request("reset_stop")
            self.gimbal.mode("locked")
            deadline = time.monotonic() + 20
            while self.gimbal.status()["state"] != "running" and time.monotonic() < deadline:
                time.sleep(0.1)
            self.assertRegex(str(error), "stop")
            self.assertLess(seconds, 5)
            error, seconds = self.waiting(wait, lambda other: other.request("take"))
            self.assertEqual(error.code, "not_in_control")
            self.assertLess(seconds, 5)

    def test_a_trial_reverts_after_an_exception_and_on_a_table(self):
        before = self.gimbal.get("tracking.max_rate_dps")
        with self.assertRaises(KeyError):
            with self.gimbal.trial() as trial:
                trial["tracking.max_rate_dps"] = 61
                trial["tracking"] = 1
        self.assertEqual(self.gimbal.get("tracking.max_rate_dps"), before)

    def test_a_trial_reverts_its_newest_change_first(self):
        # The second value is only valid in combination with the first.
        keys = ["commander.release_after_s", "commander.dead_man_s"]
        before = {key: self.gimbal.get(key)[key] for key in keys}
        with self.gimbal.trial() as trial:
            trial["commander.release_after_s"] = 8
            trial["commander.dead_man_s"] = 5
        self.assertEqual({key: self.gimbal.get(key)[key] for key in keys}, before)

    def test_a_kept_trial_lasts(self):
        with self.gimbal.trial() as trial:
            trial["tracking.max_rate_dps"] = 45
            trial.keep()
        self.assertEqual(self.gimbal.get("tracking.max_rate_dps"), {"tracking.max_rate_dps": 45})
        self.gimbal.store_baseline("python")
        self.assertIn("python", self.gimbal.baselines())
        self.gimbal.restore_baseline("python")

    def test_a_trial_whose_time_has_passed_is_not_kept(self):
        key = "tracking.max_rate_dps"
        before = self.gimbal.get(key)
        with self.assertRaisesRegex(airframe.AirframeError, "tracking.max_rate_dps: .*repeat the trial"):
            with self.gimbal.trial(seconds=1) as trial:
                trial[key] = 63
                deadline = time.monotonic() + 10
                while self.gimbal.get(key) != before and time.monotonic() < deadline:
                    time.sleep(0.05)
                trial.keep()
        self.assertEqual(self.gimbal.get(key), before)

    def test_a_stream_delivers_samples_in_time(self):
        with self.gimbal.subscribe(["setpoint.pitch", "attitude.pitch"], rate=100) as stream:
            self.assertEqual(stream.names, ("setpoint.pitch", "attitude.pitch"))
            samples = [next(stream) for _ in range(20)]
        times = [sample.t for sample in samples]
        self.assertEqual(times, sorted(times))
        self.assertTrue(all(abs(sample.values["attitude.pitch"]) < 90 for sample in samples))
        with self.assertRaises(airframe.Refused):
            self.gimbal.subscribe("nothing.*")

    def test_the_values_of_a_sample_have_the_declared_type(self):
        declared = typing.get_args(typing.get_type_hints(airframe.Sample)["values"])[1]
        with self.gimbal.subscribe("*", rate=10) as stream:
            for name, value in next(stream).values.items():
                self.assertTrue(declared is typing.Any or isinstance(value, typing.get_args(declared)), name)

    def test_a_reader_cannot_move_the_camera(self):
        with airframe.connect(read_only=True) as reader:
            with self.assertRaises(airframe.Refused) as caught:
                reader.mode("locked")
            self.assertEqual(caught.exception.code, "permission_denied")

    def test_a_recording_becomes_columns(self):
        state = self.gimbal.record_last(2)
        file = state["last_file"]
        columns = airframe.load_recording(file, airframectl=os.environ["AIRFRAMECTL"])
        name = next(name for name in columns if "attitude" in name)
        self.assertGreater(len(columns[name]), 500, state)
        self.assertEqual(len({len(column) for column in columns.values()}), 1)
        page = (ROOT / "etc/manual/python.md").read_text()
        documented = re.findall(r'columns\["([^"]+)"\]', page)
        self.assertTrue(documented)
        self.assertLessEqual(set(documented), set(columns))
        pattern = r"airframe-\d{8}T\d{6}Z-[\w-]+\.mcap"
        self.assertRegex(os.path.basename(file), f"^{pattern}$")
        self.assertRegex(page, f'load_recording\\("{pattern}"\\)')
        if importlib.util.find_spec("numpy"):
            self.assertEqual(str(columns[name].dtype), "float64")
        else:
            self.assertIsInstance(columns[name][0], float)
        with self.assertRaises(airframe.AirframeError):
            airframe.load_recording("/nonexistent.mcap", airframectl=os.environ["AIRFRAMECTL"])


class ColumnTests(unittest.TestCase):
    """Columns of a recording, with a made-up table instead of that of airframectl."""

    def columns(self, *lines):
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder, "airframectl")
            program.write_text("\n".join(["#!/bin/sh", "cat <<'END'", *lines, "END", ""]))
            program.chmod(0o700)
            return airframe.load_recording("x.mcap", airframectl=str(program))

    def test_integers_keep_every_digit(self):
        columns = self.columns(
            "time_ns,conditions,valid_until_ns,fault", f"1795313730123456789,{2**63 + 1},-9007199254740993,1")
        values = {name: [int(value) for value in column] for name, column in columns.items()}
        self.assertEqual(values, {
            "time_ns": [1795313730123456789], "conditions": [2**63 + 1], "valid_until_ns": [-9007199254740993], "fault": [1]})

    def test_numbers_with_a_point_are_floats(self):
        column = self.columns("torque", "0.0", "nan", "1e-05")["torque"]
        self.assertEqual([float(value) for value in column if value == value], [0, 1e-05])
        self.assertTrue(column[1] != column[1])

    def test_texts_stay_texts(self):
        columns = self.columns("name,form,mode,what", '"","5",locked,"a ""b"",', 'c"', '"","nan",fpv,""')
        self.assertEqual(columns, {
            "name": ["", ""], "form": ["5", "nan"], "mode": ["locked", "fpv"], "what": ['a "b",\nc', ""]})

    def test_a_channel_without_messages_has_empty_columns(self):
        self.assertEqual([len(column) for column in self.columns("time_ns,name").values()], [0, 0])


class SourceTests(unittest.TestCase):
    """The source of the module: Python 3.9, only the standard library, typed."""

    # ast.parse checks the syntax, but not the library, of another version of Python.
    tree = ast.parse(pathlib.Path(airframe.__file__).read_text(), feature_version=(3, 9))

    @unittest.skipIf(sys.version_info < (3, 10), "Python 3.9 does not list its standard library")
    def test_imports_only_the_standard_library(self):
        def is_guarded(node):
            return any(node in ast.walk(other) for other in ast.walk(self.tree) if isinstance(other, ast.Try))
        for node in ast.walk(self.tree):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module] if isinstance(node, ast.ImportFrom) else []
            for name in names:
                self.assertTrue(name.split(".")[0] in sys.stdlib_module_names or name == "numpy" and is_guarded(node), name)

    def test_every_function_has_types(self):
        for node in ast.walk(self.tree):
            if isinstance(node, ast.FunctionDef):
                arguments = node.args.posonlyargs + node.args.args + node.args.kwonlyargs
                untyped = [argument.arg for argument in arguments if argument.annotation is None and argument.arg != "self"]
                self.assertEqual(untyped, [], node.name)
                self.assertIsNotNone(node.returns, node.name)
        self.assertTrue(pathlib.Path(airframe.__file__).with_name("py.typed").exists())


class OtherDaemonTests(unittest.TestCase):
    """Tests with servers that are not airframed, or that fail."""

    def serve(self, *answers, hang=False):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = os.path.join(folder.name, "s")
        server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.addCleanup(server.close)
        server.bind(path)
        server.listen(1)
        self.received = []

        def run():
            connection, _ = server.accept()
            with connection:
                for answer in answers:
                    line = connection.recv(4096)
                    if not line:
                        break
                    self.received.append(line)
                    connection.sendall(answer)
                if hang:
                    time.sleep(1)
        self.server = threading.Thread(target=run)
        self.server.start()
        self.addCleanup(self.server.join)
        return path

    def test_an_absent_daemon_is_reported_with_a_remedy(self):
        with self.assertRaisesRegex(airframe.Unreachable, "Is airframed running"):
            airframe.connect("/nonexistent/socket")

    def test_the_socket_of_a_killed_daemon_is_reported_with_a_remedy(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "s")
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as server:
                server.bind(path)
            with self.assertRaisesRegex(airframe.Unreachable, "Is airframed running"):
                airframe.connect(path)

    def test_a_refused_name_closes_the_connection(self):
        # The server waits for a second request, until the client closes the connection.
        refusal = b'{"id":1,"error":{"code":"out_of_range","field":"name","message":"too long"}}\n'
        try:
            airframe.connect(self.serve(refusal, b""), name="x" * 97)
        except airframe.Refused as error:
            # The traceback of the error refers to the connection.
            held = error
            self.server.join(5)
            is_open = self.server.is_alive()
            held.__traceback__ = None
        self.assertFalse(is_open)

    def test_a_silent_daemon_is_a_timeout(self):
        # The server waits for a second request, until the client closes the connection.
        with airframe.connect(self.serve(b"", b""), timeout=0.2) as gimbal:
            with self.assertRaises(airframe.Timeout):
                gimbal.status()

    def test_a_stream_waits_for_its_period_in_addition_to_the_timeout(self):
        answer = b'{"id":1,"result":{"subscription":1,"rate_hz":0.1,"names":["mode"],"dropped":0}}\n'
        with airframe.Stream(self.serve(answer, hang=True), 0.5, ["mode"], 1) as stream:
            # The server sends no message, and closes the connection after 1 s.
            with self.assertRaises(airframe.Unreachable):
                next(stream)

    def test_a_stream_that_airframed_ends_states_the_reason(self):
        answer = (b'{"id":1,"result":{"subscription":1,"rate_hz":10,"names":["mode"],"dropped":0}}\n'
                  b'{"id":null,"t":1,"error":{"code":"too_many","message":"closed to admit another client"}}\n')
        with airframe.Stream(self.serve(answer), 5, ["mode"], 10) as stream:
            with self.assertRaisesRegex(airframe.Refused, "another client"):
                next(stream)

    def test_a_recording_is_complete_or_an_error(self):
        waiting = b'{"id":1,"result":{"requested":2,"finished":1,"last_file":"older.mcap","directory":"d"}}\n'
        for rest, name in [(b'"last_file":"new.mcap"', "new.mcap"), (b'"problem":"The disk is full."', None)]:
            complete = b'{"id":2,"result":{"requested":2,"finished":2,' + rest + b'}}\n'
            with self.subTest(rest), airframe.connect(self.serve(waiting, complete)) as gimbal:
                if name:
                    self.assertEqual(gimbal.record_last(1)["last_file"], name)
                else:
                    with self.assertRaisesRegex(airframe.AirframeError, "disk is full"):
                        gimbal.record_last(1)

    def motion(self, times, move):
        """Methods that the client sends while a simulator's time has these values, one for each answer."""
        result = {"mode": "locked", "duration_s": 0.5}
        path = self.serve(*[
            json.dumps({"id": index + 1, "t": t, "result": result}).encode() + b"\n"
            for index, t in enumerate(times)])
        with airframe.connect(path) as gimbal, airframe.Control(gimbal) as camera:
            move(camera)
        return [json.loads(line)["method"] for line in self.received]

    def test_a_wait_ends_at_a_time_of_a_slow_simulator(self):
        # Between two answers, 0.1 s pass on the computer's clock, and mostly 0.02 s on the simulator's clock.
        times = [7, 7, 7, 7, 7.02, 7.04, 7.06, 7.08, 7.1, 7.1, 7.12, 7.5, 7.5]
        methods = self.motion(times, lambda camera: camera.point(pitch=-10, duration=0.5, wait=True))
        self.assertEqual(methods, ["take", "status", "point"] + ["status"] * 9 + ["release"])

    def test_a_turn_repeats_its_rate_within_the_dead_man_time_of_a_fast_simulator(self):
        # Without a limit of the pauses by the simulator's clock, 2 s would pass on it between two rates.
        speed, seconds = 20, 20
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = os.path.join(folder.name, "s")
        server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.addCleanup(server.close)
        server.bind(path)
        server.listen(1)
        rates = []

        def run():
            connection, _ = server.accept()
            with connection, connection.makefile("rb") as lines:
                for line in lines:
                    request = json.loads(line)
                    t = speed * time.monotonic()
                    if request["method"] == "rate":
                        rates.append((t, request["params"]["yaw"]))
                    settings = [{"key": "commander.dead_man_s", "value": 1}]
                    result = settings if request["method"] == "get" else {"mode": "locked"}
                    connection.sendall(json.dumps({"id": request["id"], "t": t, "result": result}).encode() + b"\n")
        thread = threading.Thread(target=run)
        thread.start()
        self.addCleanup(thread.join)
        with airframe.connect(path) as gimbal, gimbal.control() as camera:
            camera.turn(yaw=5, seconds=seconds)
        gaps = sorted(later[0] - earlier[0] for earlier, later in zip(rates, rates[1:]))
        self.assertLess(gaps[len(gaps) // 2], 1)
        self.assertEqual(rates[-1][1], 0)
        self.assertGreaterEqual(rates[-1][0] - rates[0][0], seconds)

    def test_a_wait_ends_with_an_error_if_the_simulator_begins_again(self):
        with self.assertRaisesRegex(airframe.Refused, "simulator"):
            self.motion([7, 7, 7, 7.1, 0, 0], lambda camera: camera.point(pitch=-10, duration=0.5, wait=True))

    def test_the_end_of_the_daemon_is_reported(self):
        with airframe.connect(self.serve(b'{"id":1,')) as gimbal:
            with self.assertRaises(airframe.Unreachable):
                gimbal.status()

    def test_a_request_after_airframed_has_closed_the_connection_states_the_reason(self):
        reason = b'{"id":null,"t":1,"error":{"code":"too_many","message":"closed to admit another client"}}\n'
        for rest, error, text in [(reason, airframe.Refused, "another client"), (b"", airframe.Unreachable, "Has it stopped")]:
            with self.subTest(text), airframe.connect(self.serve(b'{"id":1,"result":{}}\n' + rest)) as gimbal:
                gimbal.status()
                self.server.join()
                with self.assertRaisesRegex(error, text):
                    gimbal.status()

    def test_a_request_after_close_is_not_reported_as_the_end_of_the_daemon(self):
        with airframe.connect(self.serve(b"")) as gimbal:
            pass
        with self.assertRaisesRegex(airframe.Unreachable, "program has closed this connection"):
            gimbal.status()

    def test_lines_that_are_not_answers_are_errors(self):
        for answer in [b"not json\n", b"[1]\n", b"\xff\n"]:
            with self.subTest(answer), airframe.connect(self.serve(answer)) as gimbal:
                with self.assertRaises(airframe.AirframeError):
                    gimbal.status()

    def test_an_answer_can_arrive_in_pieces_after_messages_of_a_stream(self):
        answer = b'{"subscription":1,"t":1,"dropped":0,"values":{}}\n{"id":9,"result":1}\n{"id":1,"result":{"mode":"x"}}\n'
        with airframe.connect(self.serve(answer)) as gimbal:
            self.assertEqual(gimbal.status(), {"mode": "x"})


def load_tests(loader, tests, pattern):
    tests.addTests(doctest.DocTestSuite(airframe, extraglobs={"airframe": airframe}))
    page = ROOT / "etc/manual/python.md"
    # The lines with Markdown's code fences are not part of the output.
    text = page.read_text().replace("```", "")
    tests.addTest(doctest.DocTestCase(doctest.DocTestParser().get_doctest(text, {}, page.name, str(page), 0)))
    return tests


if __name__ == "__main__":
    print(f"Python {sys.version.split()[0]}")
    unittest.main()
