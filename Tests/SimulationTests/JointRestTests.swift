import GimbalCore
import Simulation
import Testing

/// What joints that move mean for rest, on the whole gimbal with encoders.
@Suite("Rest, joints and commands")
struct JointRestTests {
    typealias Rig = SteadyTurnTests.Rig

    /// At rest with the motors on and the bias known for six seconds, then the handle turns.
    private func settled(handleTurnsAt rate: Double) -> Rig {
        var motion = BaseMotion(.still, seed: 1, stillDuration: 6, rampDuration: 1)
        motion.turnRate.yaw = Angle.degrees(rate).radians
        var rig = Rig(motion, encoders: true, mode: .inactive)
        rig.run(4)
        rig.stabilizer.apply(.mode(.locked), now: rig.now)
        rig.run(2)
        rig.worst = 0
        rig.rest = 0
        return rig
    }

    @Test("a camera that its motors hold still on a handle at rest rests")
    func held() {
        var rig = settled(handleTurnsAt: 0)
        // The joints have moved a little as the motors came on; it takes three seconds to be sure of them.
        rig.run(5)
        rig.rest = 0
        rig.run(5)
        #expect(rig.rest > 3)
    }

    @Test("there is no rest while the set-point is told to move, however slowly")
    func commanded() {
        for rate in [0.2, 2.0] {
            var rig = settled(handleTurnsAt: 0)
            rig.command.yaw = Angle.degrees(rate).radians
            rig.run(1)
            rig.rest = 0
            rig.run(5)
            #expect(rig.rest == 0)
            rig.command = .zero
            rig.run(10)
            #expect(rig.rest > 1, "it comes back when the command has ended")
        }
    }

    @Test("there is no rest while the joints follow a turning handle, and it teaches nothing")
    func turningHandle() {
        for rate in [0.2, 0.5, 3] {
            var rig = settled(handleTurnsAt: rate)
            rig.run(2)
            rig.rest = 0
            rig.run(10)
            #expect(rig.rest == 0)
            let worst = rig.worst
            #expect(worst < 0.05, "\(rate) °/s: \(worst)")
        }
    }

    @Test("a camera that creeps because its calibrated bias is wrong is set right all the same")
    func creep() {
        for wrong in [0.1, 0.3, 0.5] {
            var rig = Rig(BaseMotion(.still, seed: 1), encoders: true)
            var tuning = Stabilizer.Parameters()
            tuning.correction.gyroBias.bias =
                rig.gimbal.gyroBias + Vector3(0, 0, Angle.degrees(wrong).radians)
            tuning.correction.gyroBias.sigma = Angle.degrees(0.16).radians
            rig.stabilizer = Stabilizer(parameters: tuning)
            rig.run(1.2)
            #expect(rig.stabilizer.snapshot.output.enabled)
            #expect(rig.error > 0.5 * wrong)
            rig.run(4)
            let error = rig.error
            #expect(error < 0.05, "\(wrong) °/s: \(error)")
        }
    }
}
