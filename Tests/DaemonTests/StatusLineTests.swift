import GimbalCore
import Testing
import Wire

@testable import Daemon

@Suite("Status line for systemd")
struct StatusLineTests {
    private func line(_ conditions: Conditions, enabled: Bool = false) -> String {
        var snapshot = StabilizerSnapshot()
        snapshot.conditions = conditions
        snapshot.output.enabled = enabled
        snapshot.mode = .locked
        return StatusLine.text(snapshot)
    }

    @Test("the line contains the mode while the motors are on")
    func holding() {
        #expect(line(.none, enabled: true) == "Stabilising, mode locked.")
        // A condition that is only reported does not change the line.
        #expect(line(.jointLimit, enabled: true) == "Stabilising, mode locked.")
    }

    @Test("the line contains the most severe reason while the motors are off")
    func inhibited() {
        #expect(line(.inactiveMode).hasPrefix("Motors off: The mode is inactive."))
        #expect(line([.inactiveMode, .imuMissing].union()).contains("IMU"))
        #expect(line(.none).hasPrefix("Motors off; they are switched on"))
    }

    @Test("the advice for a joint beyond its servo's range also helps if servos measure the joints")
    func outOfReach() throws {
        let words = try #require(Conditions.jointsOutOfReach.words.first)
        #expect(words.sentence.contains("by hand"))
        #expect(words.sentence.contains("hardware.linux.encoder_zero_deg"))
    }

    @Test("each condition has a unique message ID of 32 hexadecimal digits")
    func messageIDs() {
        let ids = Conditions.catalogue.map(\.messageID)
        #expect(Set(ids).count == ids.count)
        #expect(ids.allSatisfy { $0.count == 32 && $0.allSatisfy(\.isHexDigit) })
    }
}

extension [Conditions] {
    fileprivate func union() -> Conditions { reduce(.none) { $0 | $1 } }
}
