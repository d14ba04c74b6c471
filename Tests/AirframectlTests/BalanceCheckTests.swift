import Configuration
import GimbalCore
import Simulation
import Testing
import Wire

@testable import airframectl

@Suite("The balance check") struct BalanceCheckTests {
    @Test("the check reports direction and distance, with the largest offset first")
    func words() {
        let check = BalanceCheck(imbalance: Vector3(-1, 2, 0.2), mass: 0.5)
        #expect(check.offset == Vector3(-2, 4, 0.4))
        #expect(!check.isBalanced)
        #expect(
            check.sentences == [
                "The camera is 4 mm too far to the right: move it left.",
                "The camera is 2 mm too far backwards: move it forward.",
            ])
        let low = BalanceCheck(imbalance: Vector3(0, 0, 3.75), mass: 0.5)
        #expect(low.sentences == ["The camera is 7.5 mm too low: move it up."])
        // A cable can cause the same imbalance as this height error.
        #expect(BalanceCheck(imbalance: Vector3(0.1, 0, 0.75), mass: 0.5).isBalanced)
    }

    @Test("the estimated mass is the mass of a cube of 0.9 g/cm³ with the measured inertia")
    func mass() throws {
        // A cube with sides of 0.1 m: 0.9 kg, and an inertia of m·a²/6.
        let mass = try #require(
            BalanceCheck.estimatedMass(inertia: [1.5e-3, 1.5e-3, 1.5e-3]))
        #expect(abs(mass - 0.9) < 1e-6)
        #expect(BalanceCheck.estimatedMass(inertia: [.nan, 1e-3, 1e-3]) == nil)
    }

    @Test("a check whose motors were switched off reports the reasons, or the next step")
    func interruption() {
        var status = Status()
        status.mode = "locked"
        status.state = "off"
        let start = "The motors were switched off during the check. "
        #expect(
            BalanceCommand.problem(status, limit: 1)
                == start + "`airframectl log` shows the reason.")
        status.inhibitions = [Inhibition(name: "imu_stale", sentence: "No samples arrive.")]
        #expect(BalanceCommand.problem(status, limit: 1) == start + "No samples arrive.")
        status.state = "running"
        status.errorDeg = AxisNumbers(yaw: 0, roll: 0.5, pitch: 0)
        #expect(BalanceCommand.problem(status, limit: 1) == nil)
        status.mode = "inactive"
        #expect(
            BalanceCommand.problem(status, limit: 1)
                == "The mode changed to \"inactive\" during the check.")
    }

    /// Learned and true imbalance of a random gimbal after the motions of the check, g·m.
    private func check(
        seed: UInt64, poses: [BalanceCheck.Pose]
    ) -> (learned: Vector3, truth: Vector3, drawn: DrawnGimbal) {
        let drawn = DrawnGimbal(seed: seed, motor: .torque)
        var settings = Settings()
        settings.loop.rateHz = drawn.loopHz
        settings.motors.torqueLimitNm = AxisVector(repeating: drawn.torqueLimit)
        var loop = SimulatedLoop(
            SimulatedGimbal(
                parameters: drawn.parameters, motion: BaseMotion(.still, seed: seed), seed: seed),
            settings.stabilizerParameters, rateHz: drawn.loopHz)
        loop.run(seconds: 10)
        for pose in poses {
            let target = AxisVector(
                yaw: .nan, roll: Angle.degrees(pose.roll).radians,
                pitch: Angle.degrees(pose.pitch).radians)
            loop.ask(
                .point(
                    target: target, duration: 0, rate: Angle.degrees(BalanceCheck.rate).radians))
            loop.run(seconds: pose.seconds + 2)
        }
        return (
            loop.snapshot.imbalance * 1e3, drawn.parameters.plant.imbalance * 1e3, drawn
        )
    }

    @Test(
        "the check finds the imbalance of random gimbals",
        arguments: [2, 4, 5, 8, 10] as [UInt64])
    func drawn(seed: UInt64) {
        let (learned, truth, drawn) = check(seed: seed, poses: BalanceCheck.poses)
        // The true torque of the motors differs from the data sheet by an unknown factor, and the
        // distance has the same factor.
        let error = learned * drawn.parameters.motorConstant.yaw - truth
        #expect(max(abs(error.x), abs(error.y)) < 0.6, "\(error) g·m")
        #expect(abs(error.z) < BalanceCheck.heightUncertainty, "\(error) g·m")
        // On each axis with a clear imbalance, the direction must be right.
        for (found, real) in [(learned.x, truth.x), (learned.y, truth.y)] where abs(real) > 1 {
            #expect(found * real > 0)
        }
    }
}
