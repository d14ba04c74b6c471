import GimbalCore
import Glibc
import MotorModels
import Testing

@testable import Hardware

@Suite("Damaged bytes between airframed and servos or a motor board, in computed time")
struct ServoDamageTests {
    @Test(
        "3 % of damaged bytes in both directions: joint angles stay known, no motor is reported silent",
        arguments: [
            (.feetech, 250, 0.5), (.dynamixelPosition, 250, 0.5), (.board, 500, 0.1),
        ] as [(HardwareWiring.SerialDrives.Devices, Double, Double)])
    func damage(
        devices: HardwareWiring.SerialDrives.Devices, rate: Double, limitDeg: Double
    ) {
        let bench = ServoBench(devices, rate: rate, echoes: devices != .board, damaged: 0.03)
        bench.output = ServoBench.angles(0, 0, 0)
        bench.run(0.5)
        let began = bench.line.now
        var (known, all, off, sum, worst) = (0, 0, 0, 0.0, 0.0)
        var others = Conditions.none
        bench.run(60) { now in
            // Servos and motors move sinusoidally by 20 degrees, 0.5 times per second.
            let phase = 2 * .pi * 0.5 * now.seconds(since: began)
            let goal = 20 * .pi / 180 * sin(phase)
            bench.output = ServoBench.angles(goal, goal, goal)
            if devices == .board {
                bench.line.motor(0) {
                    $0.angle = goal
                    $0.rate = 20 * .pi / 180 * .pi * cos(phase)
                }
            }
            all += 1
            others.insert(bench.feedback.conditions)
            let zero = devices == .board ? 0 : Double.pi
            let (angle, isOn) = bench.line.with { ($0.motors.0.angle - zero, $0.motors.0.is_on) }
            if isOn == 0 { off += 1 }
            let sample = bench.sample
            guard sample.contents.contains(.joints) else { return true }
            known += 1
            let error = (sample.joints.yaw - angle) * 180 / .pi
            sum += error * error
            worst = max(worst, abs(error))
            return true
        }
        let error = (sum / Double(known)).squareRoot()
        #expect(error < limitDeg, "\(error)° RMS, \(worst)° at most")
        #expect(Double(known) > 0.999 * Double(all), "\(known) of \(all)")
        #expect(others == .motorBytesDamaged, "\(others)")
        #expect(Double(off) < 0.01 * Double(all), "\(off) of \(all) periods off")
        #expect(bench.line.with { min($0.damaged_bytes, $0.damaged_command_bytes) } > 5000)
    }

    @Test(
        "3 % of damaged bytes: the motors switch off within 50 ms of the order, and on again",
        arguments: [HardwareWiring.SerialDrives.Devices.feetech, .dynamixelPosition, .board])
    func damagedSwitches(devices: HardwareWiring.SerialDrives.Devices) {
        let bench = ServoBench(devices, echoes: devices != .board, damaged: 0.03)
        func areAll(_ on: Int32) -> Bool {
            bench.line.with {
                $0.motors.0.is_on == on && $0.motors.1.is_on == on && $0.motors.2.is_on == on
            }
        }
        var (slowestOff, slowestOn) = (0.0, 0.0)
        for _ in 0..<50 {
            bench.output = ServoBench.angles(0, 0, 0)
            slowestOn = max(slowestOn, bench.time { areAll(1) })
            bench.run(0.5)
            bench.output = .off
            slowestOff = max(slowestOff, bench.time { areAll(0) })
            bench.run(0.5)
        }
        #expect(slowestOff < 0.05, "\(slowestOff) s")
        #expect(slowestOn < 0.5, "\(slowestOn) s")
        #expect(!bench.feedback.conditions.intersects(.driveFault))
    }

    @Test(
        "3 % of damaged bytes at a UART: 99 % of the torques are replaced within 16 ms, 99.99 % within 45 ms",
        arguments: [
            HardwareWiring.SerialDrives.Devices.dynamixelCurrent(torquePerAmp: 0.5, step: 0.001),
            .board,
        ])
    func oldTorques(devices: HardwareWiring.SerialDrives.Devices) {
        let bench = ServoBench(devices, rate: 500, echoes: devices != .board, damaged: 0.03)
        bench.run(0.3)
        bench.output = MotorOutput(enabled: true, torque: AxisVector(repeating: 0.1))
        bench.run(0.5)
        var goals = bench.line.with { $0.motors.0.goals }
        var (since, ages) = (bench.line.now, [Double]())
        bench.run(60) { now in
            let count = bench.line.with { $0.motors.0.goals }
            guard count != goals else { return true }
            ages.append(now.seconds(since: since))
            (goals, since) = (count, now)
            return true
        }
        ages.sort()
        #expect(ages.count > 10_000)
        #expect(ages[ages.count * 99 / 100] < 0.018, "\(ages[ages.count * 99 / 100]) s")
        #expect(ages[ages.count * 9999 / 10_000] < 0.045, "\(ages[ages.count * 9999 / 10_000]) s")
    }

    @Test("a Feetech servo is not switched on in the mode for steps if its set-up was damaged")
    func damagedSetup() {
        let bench = ServoBench(damaged: 0.03)
        bench.line.with {
            $0.memory.0.33 = 3
            $0.memory.1.33 = 3
            $0.memory.2.33 = 3
        }
        bench.run(0.3)
        bench.output = ServoBench.angles(0, 0, 0)
        var turned = 0.0
        bench.run(2) { _ in
            let angles = bench.line.with {
                [$0.motors.0.angle, $0.motors.1.angle, $0.motors.2.angle]
            }
            for angle in angles { turned = max(turned, abs(angle - .pi)) }
            return true
        }
        #expect(turned < 0.01, "\(turned) rad")
        #expect(bench.line.with { $0.motors.0.is_on + $0.motors.1.is_on + $0.motors.2.is_on } == 3)
    }

    @Test(
        "a Dynamixel servo is switched on only in the mode for currents, although a request is lost",
        arguments: 0..<8)
    func lostSetup(period: Int) {
        let bench = ServoBench(.dynamixelCurrent(torquePerAmp: 0.5, step: 0.001))
        bench.run(Double(period) * bench.period)
        // One of the periods contains the request that sets the mode.
        bench.line.lostRequests = 1
        bench.run(0.3)
        bench.output = MotorOutput(enabled: true, torque: AxisVector(repeating: 0.05))
        bench.run(0.3)
        let modes = bench.line.with { [$0.memory.0.11, $0.memory.1.11, $0.memory.2.11] }
        #expect(modes == [0, 0, 0])
        #expect(bench.line.with { $0.motors.0.is_on + $0.motors.1.is_on + $0.motors.2.is_on } == 3)
        #expect(bench.line.with { $0.motors.0.torque } == 0.1)
    }

    @Test("a Feetech servo that reports once that it is off has no fault; twice is a fault")
    func falselyOff() {
        let bench = ServoBench()
        bench.output = ServoBench.angles(0, 0, 0)
        bench.run(1)
        // The reply of servo 1 that its torque is on, and the same length with the value "off".
        let (on, off): ([UInt8], [UInt8]) = (
            [0xFF, 0xFF, 1, 3, 0, 1, 0xFA], [0xFF, 0xFF, 1, 3, 0, 0, 0xFB]
        )
        for (most, isReported) in [(1, false), (2, true)] {
            var changed = 0
            bench.line.replacement = { bytes in
                let begins = bytes.indices.dropLast(6).filter { Array(bytes[$0..<$0 + 7]) == on }
                guard let begin = begins.first, changed < most else { return bytes }
                changed += 1
                return Array(bytes[..<begin] + off + bytes[(begin + 7)...])
            }
            var conditions = Conditions.none
            bench.run(0.5) { _ in
                conditions.insert(bench.feedback.conditions)
                return true
            }
            #expect(changed == most)
            #expect(conditions == (isReported ? .driveFault : .none), "\(most): \(conditions)")
        }
    }

    @Test("a servo without supply is reported within 40 ms despite damaged bytes")
    func damagedSilence() {
        let bench = ServoBench(.dynamixelPosition, damaged: 0.03)
        bench.output = ServoBench.angles(0, 0, 0)
        bench.run(1)
        bench.line.motor(1) { $0.is_silent = 1 }
        let named = bench.time { bench.feedback.conditions.intersects(.driveSilent) }
        #expect(named < 0.04, "\(named) s")
    }

    @Test(
        "a line without answers is reported 15 ms after the last request that was answered, or after 0.1 s if there is interference"
    )
    func deadLine() {
        for devices in [HardwareWiring.SerialDrives.Devices.feetech, .dynamixelPosition] {
            for (damaged, range) in [(0.0, 0.015...0.025), (0.03, 0.1...0.13)] {
                let bench = ServoBench(devices, damaged: damaged)
                bench.output = ServoBench.angles(0, 0, 0)
                bench.run(0.5)
                for index in 0..<3 { bench.line.motor(index) { $0.is_silent = 1 } }
                let last = Instant(nanoseconds: bench.line.with { $0.last_request })
                bench.run(5) { _ in !bench.feedback.conditions.intersects(.driveSilent) }
                let named = bench.line.now.seconds(since: last)
                #expect(range.contains(named), "\(devices), \(damaged): \(named) s")
            }
        }
    }
}
