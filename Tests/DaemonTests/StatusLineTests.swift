import GimbalCore
import Testing
import Wire

@testable import Daemon

@Suite("What systemd is told")
struct StatusLineTests {
    private func line(_ conditions: Conditions, enabled: Bool = false) -> String {
        var snapshot = StabilizerSnapshot()
        snapshot.conditions = conditions
        snapshot.output.enabled = enabled
        snapshot.mode = .locked
        return StatusLine.text(snapshot)
    }

    @Test("motors that hold: the mode")
    func holding() {
        #expect(line(.none, enabled: true) == "Stabilising, mode locked.")
        // What is only reported does not hide that it works.
        #expect(line(.jointLimit, enabled: true) == "Stabilising, mode locked.")
    }

    @Test("motors off: the most severe reason, with what helps")
    func inhibited() {
        #expect(line(.inactiveMode).hasPrefix("Motors off: The mode is inactive."))
        #expect(line([.inactiveMode, .imuMissing].union()).contains("IMU"))
        #expect(line(.none).hasPrefix("Motors off; they come on"))
    }

    @Test("a condition's message id is 32 hexadecimal digits, and its own")
    func messageIDs() {
        let ids = Conditions.catalogue.map(\.messageID)
        #expect(Set(ids).count == ids.count)
        #expect(ids.allSatisfy { $0.count == 32 && $0.allSatisfy(\.isHexDigit) })
    }
}

extension [Conditions] {
    fileprivate func union() -> Conditions { reduce(.none) { $0 | $1 } }
}
