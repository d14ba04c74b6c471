import GimbalCore
import Simulation
import Testing

@testable import airframe_bench

/// Nothing is wrong, and nothing may be named; `airframe-bench sensor-faults --only starts` has 2,025 of these starts.
@Suite("False alarms")
struct FalseAlarmTests {
    /// A loop that swings has one dispute after the other; a runner's handle does not wait for their end.
    @Test("a runner who switches on a phone-sized gimbal is told no fault while its loop swings")
    func runner() {
        var run = PointingRun.inMotion(.running, seed: 75, seconds: 4)
        run.parameters.plant.inertia = run.parameters.plant.inertia * (1 / 17.0)
        #expect(FalseAlarms.names(in: run.run().conditions) == "")
    }
}
