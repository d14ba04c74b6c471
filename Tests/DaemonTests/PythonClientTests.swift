import Glibc
import SystemPackage
import TestSupport
import Testing
import Wire

/// Runs the tests of the Python client (unittest and doctest) with a running daemon.
@Suite("The Python client") struct PythonClientTests {
    private static let root = FilePath(#filePath).removingLastComponent().removingLastComponent()
        .removingLastComponent()
    private static let isThere = access("/usr/bin/python3", X_OK) == 0

    @Test(
        "the Python client passes its unit tests and its documented examples",
        .enabled(if: isThere, "python3 is missing: apt-get install python3"))
    func client() throws {
        try withDaemon { daemon in
            try daemon.status("the motors follow") { $0.isFollowing }
            let tests = try Program(
                [
                    "/usr/bin/env", "AIRFRAME_SOCKET=\(daemon.socket)",
                    "AIRFRAMECTL=\(try Program.built("airframectl"))",
                    "PYTHONPATH=\(Self.root)/Sources/Python", "PYTHONDONTWRITEBYTECODE=1",
                    "/usr/bin/python3", "\(Self.root)/Tests/Python/test_airframe.py",
                ], in: daemon.directory)
            let status = try tests.wait(seconds: 120)
            #expect(status == 0, "\(tests.output)\(tests.errors)\(daemon.log)")
        }
    }

    @Test(
        "the Python client is completely typed, and uses only syntax and types of Python 3.9",
        .enabled(
            if: access(root.appending(".build/peers/venv/mypy").string, F_OK) == 0,
            "mypy is not installed: make .build/peers/venv/mypy"))
    func types() throws {
        try withTemporaryDirectory { directory throws in
            // Without other packages: numpy is optional, and its types are slow to read.
            let check = try Program(
                [
                    Self.root.appending(".build/peers/venv/bin/mypy").string, "--strict",
                    "--python-version", "3.9", "--no-site-packages", "--disable-error-code",
                    "import-not-found", "--cache-dir", directory.appending("cache").string,
                    Self.root.appending("Sources/Python/airframe").string,
                ], in: directory)
            let status = try check.wait(seconds: 60)
            #expect(status == 0, "\(check.output)\(check.errors)")
        }
    }

    @Test(
        "the conversions of the ROS 2 node follow REP 103",
        .enabled(if: isThere, "python3 is missing: apt-get install python3"))
    func ros() throws {
        try withTemporaryDirectory { directory throws in
            let tests = try Program.run(
                [
                    "/usr/bin/env", "PYTHONPATH=\(Self.root)/Sources/Python:\(Self.root)/etc/ros2",
                    "PYTHONDONTWRITEBYTECODE=1", "/usr/bin/python3",
                    "\(Self.root)/Tests/Python/test_ros2.py",
                ], in: directory)
            #expect(tests.status == 0, "\(tests.errors)")
        }
    }
}
