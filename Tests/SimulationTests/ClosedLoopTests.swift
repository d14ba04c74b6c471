import GimbalCore
import Simulation
import Testing

/// Controller and simulated gimbal with the true attitude as input, to test the controller alone.
@Suite("Controller in the closed loop")
struct ClosedLoopTests {
    static let degrees = 180 / Double.pi

    struct Loop {
        var gimbal: SimulatedGimbal
        var controller = AttitudeController(parameters: .init())
        var generator = SetpointGenerator()
        var last = IMUSample(time: Instant(nanoseconds: 0), gyro: .zero, accel: .zero)
        var tick = 0
        var hasEncoders = false

        init(
            _ kind: HandleMotion, seed: UInt64 = 1,
            parameters: SimulatedGimbal.Parameters = .init()
        ) {
            gimbal = SimulatedGimbal(
                parameters: parameters, motion: BaseMotion(kind, seed: seed, stillDuration: 0),
                seed: seed)
        }

        /// Advances by one millisecond.
        mutating func step() {
            tick += 1
            let now = Instant(nanoseconds: Int64(tick) * 1_000_000)
            var newest = last
            gimbal.advance(to: now) { newest = $0 }
            last = newest
            let output = controller.step(
                ControlInput(
                    attitude: gimbal.attitude, rate: last.gyro - gimbal.gyroBias,
                    setpoint: generator.step(now: now, dt: 1e-3), joints: last.joints,
                    areJointsMeasured: hasEncoders, specificForce: last.accel, authority: 1,
                    dt: 1e-3))
            gimbal.apply(output, at: now)
        }

        var angles: AxisVector { EulerZXY.angles(gimbal.attitude) * ClosedLoopTests.degrees }
    }

    @Test("the camera stays within 0.02° RMS in roll and pitch while a person walks")
    func walking() {
        var loop = Loop(.walking)
        var sum = AxisVector.zero
        for tick in 1...6000 {
            loop.step()
            if tick > 2000 { sum = sum + loop.angles * loop.angles }
        }
        #expect((sum.roll / 4000).squareRoot() < 0.02)
        #expect((sum.pitch / 4000).squareRoot() < 0.02)
    }

    @Test("with encoders, the controller learns the friction, and the error is below 0.01° RMS")
    func frictionCompensation() {
        var loop = Loop(.walking)
        loop.hasEncoders = true
        var sum = AxisVector.zero
        for tick in 1...16_000 {
            loop.step()
            if tick > 12_000 { sum = sum + loop.angles * loop.angles }
        }
        #expect((sum.roll / 4000).squareRoot() < 0.01)
        #expect((sum.pitch / 4000).squareRoot() < 0.01)
        #expect(abs(loop.controller.learnedFriction.pitch - 0.010) < 0.003)
    }

    @Test("a learning rate of 0 reports no friction; the learned friction returns with the rate")
    func frictionSwitchedOff() {
        var loop = Loop(.walking)
        loop.hasEncoders = true
        for _ in 1...6000 { loop.step() }
        let learned = loop.controller.learnedFriction
        #expect(learned.pitch > 0.001, "\(learned)")
        let tuning = loop.controller.parameters
        var off = tuning
        off.frictionLearningRate = 0
        loop.controller.apply(off)
        for _ in 1...10 { loop.step() }
        #expect(loop.controller.learnedFriction == .zero)
        loop.controller.apply(tuning)
        #expect(loop.controller.learnedFriction == learned)
    }

    @Test(
        "for a camera 5 mm off balance, the learned imbalance supplies the torque instead of the integrals"
    )
    func imbalance() {
        var heavy = SimulatedGimbal.Parameters()
        heavy.plant.imbalance = Vector3(1.4e-3, 1.4e-3, 1.4e-3)
        heavy.plant.friction = .none
        heavy.plant.cableStiffness = .zero
        var loop = Loop(.still, parameters: heavy)
        func turn(to pitch: Double) {
            let target = AxisVector(yaw: 0, roll: 0, pitch: pitch / Self.degrees)
            loop.generator.point(target: target, duration: 0)
            for _ in 0..<5000 { loop.step() }
        }
        for pitch in [0.0, -60, 0] { turn(to: pitch) }
        #expect(
            (loop.controller.learnedImbalance - heavy.plant.imbalance).norm < 0.2e-3)
        // Without the learned imbalance, a turn of 60° would change the integrals by 14 mN·m.
        let before = loop.controller.integralMoment
        loop.generator.point(
            target: AxisVector(yaw: 0, roll: 0, pitch: -60 / Self.degrees), duration: 0)
        for _ in 0..<600 { loop.step() }
        #expect((loop.controller.integralMoment - before).norm < 3e-3)
        #expect(abs(loop.angles.pitch + 60) < 0.02)
    }

    @Test(
        "while a person runs, an unbalanced camera shakes less than twice as much as a balanced one"
    )
    func imbalanceRunning() {
        func error(of imbalance: Double) -> Double {
            var parameters = SimulatedGimbal.Parameters()
            parameters.plant.imbalance = Vector3(imbalance, imbalance, imbalance)
            var loop = Loop(.running, parameters: parameters)
            loop.hasEncoders = true
            var sum = 0.0
            for tick in 1...16_000 {
                loop.step()
                let angles = loop.angles
                if tick > 10_000 {
                    sum += angles.roll * angles.roll + angles.pitch * angles.pitch
                }
            }
            return (sum / 6000).squareRoot()
        }
        #expect(error(of: 1.4e-3) < 2 * error(of: 0))
    }

    @Test("friction that was learned three times too high is corrected without an oscillation")
    func overCompensation() {
        var sticky = SimulatedGimbal.Parameters()
        sticky.plant.friction.coulomb = 0.030
        sticky.plant.friction.stiction = 0.045
        var before = Loop(.walking, parameters: sticky)
        before.hasEncoders = true
        for _ in 1...12_000 { before.step() }
        #expect(before.controller.learnedFriction.pitch > 0.025)
        for kind in [HandleMotion.walking, .still] {
            var after = Loop(kind)
            after.hasEncoders = true
            after.controller = before.controller
            after.controller.reset()
            for tick in 1...8000 {
                after.step()
                if tick > 50 { #expect(abs(after.angles.pitch) < 0.2) }
            }
            if kind == .walking { #expect(after.controller.learnedFriction.pitch < 0.015) }
        }
    }

    @Test("a commanded step of 30° settles within 0.3 s and overshoots by less than 1 %")
    func step() {
        var loop = Loop(.still)
        for _ in 1...1000 { loop.step() }
        loop.generator.point(
            target: AxisVector(yaw: 0, roll: 0, pitch: 30 / Self.degrees), duration: 0)
        var peak = 0.0
        for tick in 1...1500 {
            loop.step()
            peak = max(peak, loop.angles.pitch)
            if tick > 300 { #expect(abs(loop.angles.pitch - 30) < 0.6) }
        }
        #expect(peak < 30.3)
    }

    @Test(
        "a set-point jump of 60° without a profile causes a bounded rate and less than 3° of overshoot"
    )
    func jump() {
        var loop = Loop(.still)
        for _ in 1...500 { loop.step() }
        loop.generator.hold(at: .aboutZ(60 / Self.degrees))
        var peak = 0.0
        for _ in 1...2000 {
            loop.step()
            peak = max(peak, loop.angles.yaw)
            #expect(loop.gimbal.rate.norm < 8)
        }
        #expect(abs(loop.angles.yaw - 60) < 0.1)
        #expect(peak < 63)
    }

    @Test(
        "a push of 20 mN·m moves the camera by less than 0.03°, and by less than 0.008° after 150 ms"
    )
    func push() {
        var loop = Loop(.still)
        for _ in 1...1500 { loop.step() }
        let before = loop.angles.pitch
        loop.gimbal.push = Vector3(0, 0.020, 0)
        for tick in 1...500 {
            loop.step()
            #expect(abs(loop.angles.pitch - before) < 0.03)
            if tick > 150 { #expect(abs(loop.angles.pitch - before) < 0.008) }
        }
    }

    @Test(
        "the camera stays within 0.1° when it looks straight up or straight down",
        arguments: [-90.0, 90])
    func vertical(pitch: Double) {
        var loop = Loop(.walking)
        loop.generator.point(
            target: AxisVector(yaw: 0, roll: 0, pitch: pitch / Self.degrees), duration: 1)
        let goal = Quaternion.aboutY(pitch / Self.degrees)
        for tick in 1...4000 {
            loop.step()
            if tick > 2500 {
                #expect(loop.gimbal.attitude.error(to: goal).norm * Self.degrees < 0.1)
            }
        }
    }

    @Test(
        "a camera that a hand has held back for seconds swings back with less than 15° of overshoot"
    )
    func release() {
        var loop = Loop(.still)
        for _ in 1...500 { loop.step() }
        // More than the motor's torque limit, so that the push presses the camera against the pitch
        // stop.
        loop.gimbal.push = Vector3(0, 0.4, 0)
        for _ in 1...3000 { loop.step() }
        loop.gimbal.push = .zero
        var lowest = 0.0
        for _ in 1...2500 {
            loop.step()
            lowest = min(lowest, loop.angles.pitch)
        }
        #expect(abs(loop.angles.pitch) < 0.1)
        #expect(lowest > -15)
    }

    @Test(
        "the loop is stable with 0.55 times and 2 times the assumed inertia",
        arguments: [0.55, 2.0])
    func inertia(factor: Double) {
        var parameters = SimulatedGimbal.Parameters()
        parameters.plant.inertia = AxisVector(repeating: 2.5e-3 * factor)
        var loop = Loop(.walking, parameters: parameters)
        for tick in 1...4000 {
            loop.step()
            if tick > 2000 { #expect(abs(loop.angles.pitch) < 0.15) }
        }
    }

    @Test("equal seeds give identical runs, and different seeds give different runs")
    func determinism() {
        func run(_ seed: UInt64) -> Quaternion {
            var loop = Loop(.walking, seed: seed)
            for _ in 1...1500 { loop.step() }
            return loop.gimbal.attitude
        }
        let first = run(5)
        #expect(first == run(5))
        #expect(first != run(6))
    }

    @Test("servos keep the camera within 0.5° RMS while a person walks")
    func servos() {
        var parameters = SimulatedGimbal.Parameters()
        parameters.motor = .servo
        var gimbal = SimulatedGimbal(
            parameters: parameters, motion: BaseMotion(.walking, seed: 1, stillDuration: 0), seed: 1
        )
        var controller = ServoController(parameters: .init())
        var last = IMUSample(time: Instant(nanoseconds: 0), gyro: .zero, accel: .zero)
        var sum = AxisVector.zero
        for tick in 1...6000 {
            let now = Instant(nanoseconds: Int64(tick) * 1_000_000)
            gimbal.advance(to: now) { last = $0 }
            let output = controller.step(
                ControlInput(
                    attitude: gimbal.attitude, rate: last.gyro - gimbal.gyroBias,
                    setpoint: Setpoint(attitude: .identity, rate: .zero), authority: 1, dt: 1e-3))
            gimbal.apply(output, at: now)
            let angles = EulerZXY.angles(gimbal.attitude) * Self.degrees
            if tick > 2000 { sum = sum + angles * angles }
        }
        #expect((sum.roll / 4000).squareRoot() < 0.5)
        #expect((sum.pitch / 4000).squareRoot() < 0.5)
    }
}
