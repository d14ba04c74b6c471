import GimbalCore
import Testing
import Wire

@testable import Daemon

@Suite("Evaluation of the balance in the set-up")
struct BalanceVerdictTests {
    @Test("an offset to the front or to a side is reported with its direction")
    func sides() {
        let verdict = BalanceVerdict(imbalance: Vector3(2e-3, -1e-3, 0), torque: 0.1)
        #expect(verdict.sentences.count == 2)
        #expect(verdict.sentences.first?.hasSuffix("move the camera back.") == true)
        #expect(verdict.sentences.last?.hasSuffix("move the camera right.") == true)
        #expect(BalanceVerdict(imbalance: .zero, torque: 0.1).sentences.isEmpty)
    }

    @Test("the height, which a level camera does not show, is neither evaluated nor reported")
    func height() {
        let verdict = BalanceVerdict(imbalance: Vector3(0, 0, 5e-3), torque: 0.1)
        #expect(verdict.sentences.isEmpty)
        #expect(verdict.values.map(\.name) == ["imbalance x", "imbalance y"])
        #expect(BalanceVerdict.balanced.contains("was not measured"))
    }
}
