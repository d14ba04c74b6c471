import Glibc
import SystemPackage
import TestSupport
import Testing

/// Conversations with MAVLink peers, which use an independent implementation of the protocol over
/// real sockets.
@Suite("A ground station made of pymavlink") struct GroundStationTests {
    private static let root = FilePath(#filePath).removingLastComponent().removingLastComponent()
        .removingLastComponent()
    private static let python = root.appending(".build/peers/venv/bin/python").string
    static let isThere =
        access(root.appending(".build/peers/venv/mavlink").string, F_OK) == 0

    @Test(
        "the ground station finds the gimbal, takes control, points the camera, and regains lost control",
        .enabled(if: isThere, "pymavlink is not installed: make mavlink-peer"))
    func conversation() throws {
        let port = try unusedPort()
        try withPeer(["--set", "mavlink.listen=127.0.0.1:\(port)"], seconds: 180) { daemon in
            try daemon.status("the motors follow") { $0.isFollowing }
            return try Self.script("ground_station.py", port, daemon)
        }
    }

    @Test(
        "the ground station points the camera at locations and at another vehicle",
        .enabled(if: isThere, "pymavlink is not installed: make mavlink-peer"))
    func regions() throws {
        let port = try unusedPort()
        try withPeer(["--set", "mavlink.listen=127.0.0.1:\(port)"], seconds: 90) { daemon in
            try daemon.status("the motors follow") { $0.isFollowing }
            return try Self.script("region.py", port, daemon)
        }
    }

    @Test(
        "the gimbal passes MAVSDK's gimbal_device_tester in the role of a device of an autopilot",
        .enabled(if: isThere, "pymavlink is not installed: make mavlink-peer"))
    func deviceConformance() throws {
        let port = try unusedPort()
        let settings = ["mavlink.listen=127.0.0.1:\(port)", "mavlink.role=device"]
        try withPeer(settings.flatMap { ["--set", $0] }, seconds: 120) { daemon in
            try daemon.status("the motors follow") { $0.isFollowing }
            return try Program(
                [
                    Self.python, Self.root.appending("Tests/Peers/device_conformance.py").string,
                    "--port", "\(port)", "--pace", "0.4",
                ], in: daemon.directory)
        }
    }

    @Test(
        "MAVLink works on a serial port that is unplugged and plugged in, and over mavlink.connect",
        .enabled(if: isThere, "pymavlink is not installed: make mavlink-peer"))
    func otherEnds() throws {
        let port = try unusedPort()
        try withTemporaryDirectory { directory throws in
            let adapter = "\(directory)/adapter"
            let settings = ["mavlink.connect=127.0.0.1:\(port)", "mavlink.serial=\(adapter)"]
            try withPeer(settings.flatMap { ["--set", $0] }, seconds: 120) { daemon in
                // A run that has failed can leave its link.
                unlink(adapter)
                try daemon.status("the motors follow") { $0.isFollowing }
                return try Self.script("other_ends.py", port, daemon, "--tty", adapter)
            }
        }
    }

    @Test(
        "with required signatures, only a peer with the key can move the camera; other peers can only stop it",
        .enabled(if: isThere, "pymavlink is not installed: make mavlink-peer"))
    func signed() throws {
        let (port, riderPort) = (try unusedPort(), try unusedPort())
        try withTemporaryDirectory { directory throws in
            let keys = directory.appending("keys")
            mkdir(keys.string, 0o700)
            for link in ["mavlink", "rider"] {
                let file = try FileDescriptor.open(
                    keys.appending("\(link).key"), .writeOnly, options: [.create],
                    permissions: [.ownerReadWrite])
                try file.closeAfter { _ = try file.writeAll("correct horse\n".utf8) }
            }
            let settings = [
                "persistence.directory=\(keys)", "drive.board=simulated",
                "mavlink.listen=127.0.0.1:\(port)", "mavlink.require_signature=true",
                "rider.listen=127.0.0.1:\(riderPort)", "rider.require_signature=true",
            ]
            try withPeer(settings.flatMap { ["--set", $0] }, seconds: 120) { daemon in
                try daemon.status("the motors follow") { $0.isFollowing }
                return try Self.script(
                    "signed.py", port, daemon, "--rider", "\(riderPort)", "--passphrase",
                    "correct horse")
            }
        }
    }

    @Test("without a signed frame, no newest timestamp is written, even if the clock is ahead")
    func noFrame() throws {
        let port = try unusedPort()
        try withTemporaryDirectory { directory throws in
            let file = try FileDescriptor.open(
                directory.appending("mavlink.key"), .writeOnly, options: [.create],
                permissions: [.ownerReadWrite])
            try file.closeAfter { _ = try file.writeAll("correct horse\n".utf8) }
            try withDaemon([
                "--set", "persistence.directory=\(directory)",
                "--set", "mavlink.listen=127.0.0.1:\(port)",
                "--set", "mavlink.require_signature=true",
            ]) { daemon in
                let end = try daemon.stop()
                #expect(end.status == 0, "\(daemon.log)")
                #expect(access(directory.appending("mavlink.newest").string, F_OK) != 0)
            }
        }
    }

    @Test(
        "the ground station finds the video stream of a companion program while the stream exists",
        .enabled(if: isThere, "pymavlink is not installed: make mavlink-peer"))
    func camera() throws {
        let port = try unusedPort()
        try withPeer(["--set", "mavlink.listen=127.0.0.1:\(port)"], seconds: 60) { daemon in
            try Self.script("camera.py", port, daemon)
        }
    }

    /// Starts a script of Tests/Peers that talks to a daemon.
    static func script(
        _ name: String, _ port: UInt16, _ daemon: RunningDaemon, _ more: String...
    ) throws -> Program {
        try Program(
            [
                python, root.appending("Tests/Peers/\(name)").string, "--port", "\(port)",
                "--socket", daemon.socket,
            ] + more, in: daemon.directory)
    }
}

/// A free UDP port on the loopback interface.
func unusedPort() throws -> UInt16 {
    let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
    guard descriptor >= 0 else { throw Errno(rawValue: errno) }
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let result = withUnsafeMutablePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            bind(descriptor, $0, length) == 0 ? getsockname(descriptor, $0, &length) : -1
        }
    }
    guard result == 0 else { throw Errno(rawValue: errno) }
    return UInt16(bigEndian: address.sin_port)
}
