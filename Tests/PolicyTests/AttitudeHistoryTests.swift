import GimbalCore
import Testing

@testable import Policy

@Suite("Past attitude")
struct AttitudeHistoryTests {
    private func instant(_ seconds: Double) -> Instant { Instant(seconds: 100 + seconds) }

    /// A camera that yaws at 1 rad/s, starting at zero, recorded every millisecond.
    private func history(seconds: Double) -> AttitudeHistory {
        var history = AttitudeHistory()
        for tick in 0...Int(seconds * 1000) {
            history.note(
                .aboutZ(Double(tick) * 1e-3), rate: Vector3(0, 0, 1),
                time: instant(Double(tick) * 1e-3))
        }
        return history
    }

    private func heading(_ attitude: Quaternion) -> Double { attitude.rotationVector.z }

    @Test("the attitude between two entries of the last second is interpolated")
    func between() throws {
        for seconds in [0.8, 3] {
            let history = history(seconds: seconds)
            for back in [0.0, 0.0003, 0.1507, 0.7] {
                let attitude = try history.attitude(at: instant(seconds - back))
                #expect(abs(heading(attitude) - (seconds - back)) < 1e-6)
            }
        }
        let long = history(seconds: 3)
        #expect(abs(heading(try long.attitude(at: instant(2))) - 2) < 1e-6)
        #expect(throws: AttitudeHistory.Gap.tooEarly) { try long.attitude(at: instant(1.4)) }
    }

    @Test("shortly after the newest entry the attitude is predicted, later it is unknown")
    func prediction() throws {
        let history = history(seconds: 1)
        #expect(abs(heading(try history.attitude(at: instant(1.04))) - 1.04) < 1e-6)
        #expect(throws: AttitudeHistory.Gap.tooLate) { try history.attitude(at: instant(1.06)) }
        #expect(throws: AttitudeHistory.Gap.tooLate) {
            try AttitudeHistory().attitude(at: instant(0))
        }
    }

    @Test("a clock that jumps back starts a new history")
    func restart() throws {
        var history = history(seconds: 1)
        history.note(.aboutZ(2), rate: .zero, time: instant(0.5))
        #expect(abs(heading(try history.attitude(at: instant(0.5))) - 2) < 1e-9)
        #expect(throws: AttitudeHistory.Gap.tooEarly) { try history.attitude(at: instant(0.4)) }
    }
}
