import GimbalCore
import Simulation
import Testing

@Suite("Simulated gimbal")
struct SimulatedGimbalTests {
    static func milliseconds(_ t: Double) -> Instant { Instant(nanoseconds: Int64(t * 1e6)) }

    static func ideal() -> SimulatedGimbal.Parameters {
        var p = SimulatedGimbal.Parameters()
        p.imu = .ideal
        p.plant.friction = .none
        p.plant.imbalance = .zero
        p.plant.cableStiffness = .zero
        return p
    }

    static func push(_ torque: Double) -> MotorOutput {
        MotorOutput(
            enabled: true, torque: AxisVector(yaw: 0, roll: 0, pitch: torque), angle: .zero)
    }

    @Test("samples arrive in order, at the sensor's rate, with joint angles from the encoders")
    func samples() {
        var gimbal = SimulatedGimbal(
            parameters: .init(), motion: BaseMotion(.walking, seed: 1, stillDuration: 0), seed: 1)
        var times: [Instant] = []
        gimbal.advance(to: Self.milliseconds(2000)) {
            times.append($0.time)
            #expect($0.contents.contains(.joints))
            #expect($0.gyro.isFinite && $0.accel.isFinite)
        }
        #expect(times.count > 1975 && times.count < 2025)
        #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 })
        #expect(gimbal.now == Self.milliseconds(2000))
    }

    @Test("for a level and still gimbal, the accelerometer reads [0, 0, -9.81]")
    func level() {
        var p = SimulatedGimbal.Parameters()
        p.imu = .ideal
        p.plant.imbalance = .zero
        var gimbal = SimulatedGimbal(parameters: p, motion: BaseMotion(.still, seed: 1), seed: 1)
        gimbal.advance(to: Self.milliseconds(100)) {
            #expect(($0.accel - Vector3(0, 0, -9.81)).norm < 1e-9)
            #expect($0.gyro.norm < 1e-9)
        }
    }

    @Test("the delay from motion to torque is 3 ms: filter, sample age, transport and current loop")
    func delay() {
        var p = Self.ideal()
        p.imu.gyroBandwidthHz = 230
        let d = SimulatedGimbal.Parameters()
        var gimbal = SimulatedGimbal(parameters: p, motion: BaseMotion(.still, seed: 1), seed: 1)
        gimbal.advance(to: Self.milliseconds(10)) { _ in }
        gimbal.apply(Self.push(0.1), at: gimbal.now)
        // The lag of the current loop is measured as the time integral of the missing torque.
        var missing = 0.0
        for i in 1...160 {
            gimbal.advance(to: Self.milliseconds(10 + Double(i) * 0.125)) { _ in }
            missing += (0.1 - gimbal.torque.pitch) / 0.1 * 0.125e-3
        }
        #expect(abs(missing - (d.transportDelay + d.actuatorLag)) < 0.2e-3)
        let filter = 0.98e-3
        let age = 0.5e-3
        #expect(abs(filter + age + missing - 3e-3) < 0.2e-3)
    }

    @Test("an output that is off or not finite applies no torque")
    func off() {
        var gimbal = SimulatedGimbal(
            parameters: Self.ideal(), motion: BaseMotion(.still, seed: 1), seed: 1)
        var output = Self.push(0.1)
        output.enabled = false
        gimbal.apply(output, at: gimbal.now)
        gimbal.advance(to: Self.milliseconds(20)) { _ in }
        gimbal.apply(Self.push(.nan), at: gimbal.now)
        gimbal.advance(to: Self.milliseconds(40)) { _ in }
        #expect(gimbal.rate == .zero && gimbal.torque == .zero)
    }

    @Test("the length of the time steps does not change the simulation")
    func portions() {
        let motion = BaseMotion(.walking, seed: 4, stillDuration: 0)
        var whole = SimulatedGimbal(parameters: .init(), motion: motion, seed: 4)
        var parts = SimulatedGimbal(parameters: .init(), motion: motion, seed: 4)
        whole.advance(to: Self.milliseconds(500)) { _ in }
        for i in 1...1000 { parts.advance(to: Self.milliseconds(Double(i) * 0.5)) { _ in } }
        parts.advance(to: Self.milliseconds(3)) { _ in }
        #expect(whole.attitude == parts.attitude && whole.now == parts.now)
    }

    @Test("bus latency and jitter delay the delivery, but change neither time stamp nor order")
    func latency() {
        var p = SimulatedGimbal.Parameters()
        p.imu.clockError = 0
        p.busLatency = 2e-3
        p.busJitter = 1e-3
        var gimbal = SimulatedGimbal(parameters: p, motion: BaseMotion(.still, seed: 1), seed: 1)
        var ages: [Double] = []
        var last = Instant(nanoseconds: -1)
        for i in 1...8000 {
            let now = Self.milliseconds(Double(i) * 0.125)
            gimbal.advance(to: now) {
                ages.append(now.seconds(since: $0.time))
                #expect(last < $0.time)
                last = $0.time
            }
        }
        let mean = ages.reduce(0, +) / Double(ages.count)
        #expect(mean > 1.8e-3 && mean < 3e-3)
        #expect(ages.allSatisfy { $0 >= 0 })
        #expect((ages.max() ?? 0) > 3e-3)
    }

    @Test("each sensor fault changes the samples as specified, and ends when it is removed")
    func faults() {
        var gimbal = SimulatedGimbal(
            parameters: .init(), motion: BaseMotion(.walking, seed: 1, stillDuration: 0), seed: 1)
        var last: IMUSample?
        gimbal.advance(to: Self.milliseconds(100)) { last = $0 }
        let before = last
        gimbal.fault = .frozen
        gimbal.advance(to: Self.milliseconds(200)) { last = $0 }
        #expect(last?.gyro == before?.gyro && last?.accel == before?.accel)
        #expect(last?.time != before?.time)
        gimbal.fault = .notANumber
        gimbal.advance(to: Self.milliseconds(210)) { last = $0 }
        #expect(last?.gyro.isFinite == false)
        gimbal.fault = .infinite
        gimbal.advance(to: Self.milliseconds(220)) { last = $0 }
        #expect(last?.accel.isFinite == false)
        gimbal.fault = .dropOut
        gimbal.advance(to: Self.milliseconds(300)) { _ in Issue.record("a sample arrived") }
        gimbal.fault = .timeShift(seconds: -1)
        gimbal.advance(to: Self.milliseconds(310)) { last = $0 }
        #expect((last?.time ?? Self.milliseconds(0)) < Self.milliseconds(0))
        gimbal.fault = nil
        gimbal.advance(to: Self.milliseconds(320)) { last = $0 }
        #expect(last?.gyro.isFinite == true)
    }

    @Test("a servo follows a step after 15 ms, at no more than 600 °/s")
    func servo() {
        var p = SimulatedGimbal.Parameters()
        p.motor = .servo
        var gimbal = SimulatedGimbal(parameters: p, motion: BaseMotion(.still, seed: 1), seed: 1)
        gimbal.advance(to: Self.milliseconds(50)) { #expect(!$0.contents.contains(.joints)) }
        let output = MotorOutput(
            enabled: true, angle: AxisVector(yaw: 0, roll: 0, pitch: 0.02),
            power: AxisVector(repeating: 1))
        gimbal.apply(output, at: gimbal.now)
        var missing = 0.0
        for i in 1...800 {
            gimbal.advance(to: Self.milliseconds(50 + Double(i) * 0.125)) { _ in }
            missing += (0.02 - gimbal.joints.pitch) / 0.02 * 0.125e-3
            #expect(abs(gimbal.jointRates.pitch) <= 600 * Double.pi / 180 + 1e-9)
        }
        // The delay varies by half a pulse period, because the command comes between two pulses.
        // The dead band leaves a small error.
        #expect(abs(missing - 0.015) < 2.5e-3)
        #expect(abs(gimbal.joints.pitch - 0.02) < 0.2 * .pi / 180)
    }

    @Test("a servo does not move for a command within its dead band")
    func deadBand() {
        var p = SimulatedGimbal.Parameters()
        p.motor = .servo
        var gimbal = SimulatedGimbal(parameters: p, motion: BaseMotion(.still, seed: 1), seed: 1)
        let output = MotorOutput(
            enabled: true, angle: AxisVector(repeating: 0.19 * .pi / 180),
            power: AxisVector(repeating: 1))
        gimbal.apply(output, at: gimbal.now)
        gimbal.advance(to: Self.milliseconds(200)) { _ in }
        #expect(gimbal.joints == .zero)
    }
}
