import SystemPackage
import TestSupport
import Testing
import Wire

/// The remote control's app over a real socket, datagram for datagram, with wheels on paper.
@Suite("A rider's remote control") struct RiderTests {
    @Test(
        "drives, is stopped by silence, survives a flood, and stops everything",
        .enabled(
            if: GroundStationTests.isThere,
            "`make mavlink-peer` installs the Python that the script runs in"))
    func conversation() throws {
        let port = try unusedPort()
        try withDaemon([
            "--set", "rider.listen=127.0.0.1:\(port)", "--set", "drive.board=simulated",
        ]) { daemon in
            try daemon.status("it ticks") { $0["state"]?.string != "starting" }
            let app = try GroundStationTests.script("rider.py", port, daemon)
            #expect(try app.wait(seconds: 120) == 0, "\(app.output)\(app.errors)\(daemon.log)")
        }
    }
}
