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

    @Test("a servo without supply is reported within 40 ms despite damaged bytes")
    func damagedSilence() {
        let bench = ServoBench(.dynamixelPosition, damaged: 0.03)
        bench.output = ServoBench.angles(0, 0, 0)
        bench.run(1)
        bench.line.motor(1) { $0.is_silent = 1 }
        let named = bench.time { bench.feedback.conditions.intersects(.driveSilent) }
        #expect(named < 0.04, "\(named) s")
    }

    @Test("a line without answers is reported after 15 ms, or after 0.1 s if there is interference")
    func deadLine() {
        for devices in [HardwareWiring.SerialDrives.Devices.feetech, .dynamixelPosition] {
            for (damaged, range) in [(0.0, 0.014...0.025), (0.03, 0.1...0.13)] {
                let bench = ServoBench(devices, damaged: damaged)
                bench.output = ServoBench.angles(0, 0, 0)
                bench.run(0.5)
                for index in 0..<3 { bench.line.motor(index) { $0.is_silent = 1 } }
                let named = bench.time { bench.feedback.conditions.intersects(.driveSilent) }
                #expect(range.contains(named), "\(devices), \(damaged): \(named) s")
            }
        }
    }
}
