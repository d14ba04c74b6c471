import Configuration
import Testing
import Wire

@testable import Daemon

@Suite("Checks of doctor for network links") struct LinkDoctorTests {
    private func findings(_ change: (inout Settings) -> Void) -> [String] {
        var settings = Settings()
        change(&settings)
        return LinkDoctor(settings: settings).checks.map { "\($0.level.rawValue): \($0.finding)" }
    }

    @Test("a link that only this computer can reach causes no finding")
    func closed() {
        #expect(findings { _ in } == [])
        #expect(findings { $0.mavlink.listen = "127.0.0.1:14550" } == [])
        #expect(findings { $0.rider.listen = "[::1]:4210" } == [])
    }

    @Test("an open port without a key causes a warning")
    func open() {
        let mavlink = findings { $0.mavlink.listen = "0.0.0.0:14550" }
        #expect(
            mavlink == [
                "warn: mavlink without a key: anyone who can reach the port can move the gimbal"
            ])
        let both = findings {
            $0.mavlink.listen = "0.0.0.0:14550"
            $0.rider.listen = "192.168.4.1:4210"
        }
        #expect(both.first?.contains("mavlink and rider") == true)
    }

    @Test("a link with a key, or without permission to move the camera, causes no warning")
    func guarded() {
        let keyed = findings {
            $0.mavlink.listen = "0.0.0.0:14550"
            $0.mavlink.requireSignature = true
        }
        #expect(keyed == ["ok: mavlink with a key"])
        let barred = findings {
            $0.mavlink.listen = "0.0.0.0:14550"
            $0.commander.allowMavlink = false
        }
        #expect(barred == [])
    }
}
