import GimbalCore
import Simulation
import Testing

/// Rest detection while joints move, on the complete gimbal with encoders.
@Suite("Rest detection with joints and commands")
struct JointRestTests {
    typealias Watch = SteadyTurnTests.Watch

    /// Six seconds of rest, with the motors on at the end and the bias known. Then the handle
    /// turns.
    private func settled(handleTurnsAt rate: Double) -> Watch {
        var motion = BaseMotion(.still, seed: 1, stillDuration: 6, rampDuration: 1)
        motion.turnRate.yaw = Angle.degrees(rate).radians
        var watch = Watch(motion, encoders: true, mode: .inactive)
        watch.run(4)
        watch.loop.ask(.mode(.locked))
        watch.run(2)
        watch.worst = 0
        watch.rest = 0
        return watch
    }

    @Test("rest is detected while the motors hold the camera still on a resting handle")
    func held() {
        var watch = settled(handleTurnsAt: 0)
        // The joints moved a little when the motors switched on, so the detection of rest takes
        // three seconds.
        watch.run(5)
        watch.rest = 0
        watch.run(5)
        #expect(watch.rest > 3)
    }

    @Test("rest is not detected while a command moves the set-point, even slowly")
    func commanded() {
        for rate in [0.2, 2.0] {
            var watch = settled(handleTurnsAt: 0)
            watch.command.yaw = Angle.degrees(rate).radians
            watch.run(1)
            watch.rest = 0
            watch.run(5)
            #expect(watch.rest == 0)
            watch.command = .zero
            watch.run(10)
            #expect(watch.rest > 1, "the rest detection resumes after the end of the command")
        }
    }

    @Test(
        "rest is not detected while the joints follow a turning handle, and the bias estimate stays correct"
    )
    func turningHandle() {
        for rate in [0.2, 0.5, 3] {
            var watch = settled(handleTurnsAt: rate)
            watch.run(2)
            watch.rest = 0
            watch.run(10)
            #expect(watch.rest == 0)
            let worst = watch.worst
            #expect(worst < 0.05, "\(rate) °/s: \(worst)")
        }
    }

    @Test("a camera that drifts because of a wrong calibrated bias is corrected within 5 s")
    func creep() {
        for wrong in [0.1, 0.3, 0.5] {
            var watch = Watch(BaseMotion(.still, seed: 1), encoders: true)
            var tuning = Stabilizer.Parameters()
            tuning.correction.gyroBias.bias =
                watch.loop.gimbal.gyroBias + Vector3(0, 0, Angle.degrees(wrong).radians)
            tuning.correction.gyroBias.sigma = Angle.degrees(0.16).radians
            watch.loop.stabilizer = Stabilizer(parameters: tuning)
            watch.run(1.2)
            #expect(watch.loop.stabilizer.snapshot.output.enabled)
            #expect(watch.error > 0.5 * wrong)
            watch.run(4)
            let error = watch.error
            #expect(error < 0.05, "\(wrong) °/s: \(error)")
        }
    }
}
