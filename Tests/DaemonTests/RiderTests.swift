import SystemPackage
import TestSupport
import Testing
import Wire

/// Simulates the app of the remote control, with real datagrams and simulated wheels.
@Suite("A rider's remote control") struct RiderTests {
    @Test(
        "the remote control drives the wheels and can stop everything, the wheels stop if it sends nothing, and a flood of datagrams has no effect",
        .enabled(
            if: GroundStationTests.isThere,
            "the Python environment of the script is not installed: make mavlink-peer"))
    func conversation() throws {
        let port = try unusedPort()
        try withPeer(
            ["--set", "rider.listen=127.0.0.1:\(port)", "--set", "drive.board=simulated"],
            seconds: 120
        ) { daemon in
            try daemon.status("it ticks") { $0["state"]?.string != "starting" }
            return try GroundStationTests.script("rider.py", port, daemon)
        }
    }
}
