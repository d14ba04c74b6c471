import CMallocCounter
import Configuration
import GimbalCore
import Glibc
import MotorModels
import Realtime
import Testing

@testable import Hardware

/// airframed's ends of a serial line with three motors, and the model at its other end.
private final class Bench {
    let line: ServoLine
    let reports = DriveReports()
    let motors: SerialMotors
    let feedback: SerialFeedback
    var output = MotorOutput.off

    init(
        _ devices: HardwareWiring.SerialDrives.Devices = .feetech, count: Int32 = 3,
        rate: Double = 250, echoes: Bool = true, damaged: Double = 0
    ) throws {
        let kind =
            switch devices {
            case .feetech: MM_FEETECH
            case .dynamixelPosition, .dynamixelCurrent: MM_DYNAMIXEL
            case .board: MM_BOARD
            }
        line = ServoLine(kind, count: count)
        line.with {
            $0.echoes = echoes ? 1 : 0
            $0.damaged = damaged
        }
        var wiring = HardwareWiring.SerialDrives(
            port: line.path, baud: 1_000_000, devices: devices)
        wiring.rate = rate
        if devices != .board { wiring.zero = AxisVector(repeating: .pi) }
        if count == 2 { wiring.ids = AxisVector(yaw: 1, roll: -1, pitch: 2) }
        motors = wiring.motors(reports)
        feedback = wiring.feedback(reports)
    }

    deinit { line.unplug() }

    /// Runs both ends for a time, a period of 4 ms after the other. The calls are those of the bus
    /// threads. `each` is called after each period.
    func run(_ seconds: Double, each: (Instant) -> Bool = { _ in true }) {
        let end = MonotonicClock.now.advanced(bySeconds: seconds)
        while MonotonicClock.now < end {
            let now = MonotonicClock.now
            feedback.read(now: now)
            do throws(BusError) {
                if try motors.prepare(now: now) { try motors.write(output, now: now) }
            } catch {}
            if !each(now) { return }
            let rest = 0.004 - MonotonicClock.now.seconds(since: now)
            if rest > 0 { usleep(UInt32(rest * 1e6)) }
        }
    }

    /// Time until a condition holds, s.
    func time(limit: Double = 5, until holds: () -> Bool) -> Double {
        let began = MonotonicClock.now
        run(limit) { _ in !holds() }
        return MonotonicClock.now.seconds(since: began)
    }

    var sample: IMUSample {
        var sample = IMUSample(time: MonotonicClock.now, gyro: .zero, accel: .zero)
        feedback.add(to: &sample)
        return sample
    }

    static func angles(_ yaw: Double, _ roll: Double, _ pitch: Double) -> MotorOutput {
        MotorOutput(
            enabled: true, angle: AxisVector(yaw: yaw, roll: roll, pitch: pitch),
            power: AxisVector(repeating: 1))
    }
}

@Suite("Servos and a motor board on a serial line, a pseudoterminal with a model", .serialized)
struct ServoBusTests {
    @Test(
        "servos go to their goals, and their angles are in the samples; the adapter echoes",
        arguments: [HardwareWiring.SerialDrives.Devices.feetech, .dynamixelPosition])
    func goals(devices: HardwareWiring.SerialDrives.Devices) throws {
        let bench = try Bench(devices)
        bench.run(0.3)
        #expect(bench.feedback.conditions == .none)
        #expect(bench.sample.contents.contains(.joints))
        #expect(bench.line.with { $0.motors.0.is_on } == 0, "nothing moves before it is on")
        bench.output = Bench.angles(0.5, -0.25, 0.1)
        bench.run(1)
        let joints = bench.sample.joints
        #expect(abs(joints.yaw - 0.5) < 0.01 && abs(joints.roll + 0.25) < 0.01)
        #expect(abs(joints.pitch - 0.1) < 0.01)
        #expect(bench.reports[.yaw].isRunning == true && bench.reports[.yaw].voltage == 7.4)
        #expect(bench.reports[.pitch].temperature == 31)
        bench.output = .off
        try bench.motors.allOff()
        bench.run(0.05)
        #expect(bench.line.with { $0.motors.0.is_on + $0.motors.1.is_on + $0.motors.2.is_on } == 0)
    }

    @Test("Dynamixel servos in current mode receive the currents of the torques")
    func currents() throws {
        let bench = try Bench(.dynamixelCurrent(torquePerAmp: 0.5, step: 0.001))
        bench.run(0.3)
        bench.output = MotorOutput(
            enabled: true, torque: AxisVector(yaw: 0.05, roll: -0.1, pitch: 0.02))
        bench.run(0.3)
        let amps = bench.line.with { [$0.motors.0.torque, $0.motors.1.torque, $0.motors.2.torque] }
        #expect(amps == [0.1, -0.2, 0.04])
        #expect(bench.line.with { $0.memory.0.11 } == 0, "current mode was set while it was off")
        #expect(abs(bench.reports[.yaw].current - 0.1) < 1e-9)
    }

    @Test("the board gets torques, and its angles, currents and voltage are reported")
    func board() throws {
        let bench = try Bench(.board, echoes: false)
        bench.line.motor(1) { $0.angle = 0.7 }
        bench.output = MotorOutput(
            enabled: true, torque: AxisVector(yaw: 0.05, roll: -0.1, pitch: 0.02))
        bench.run(0.3)
        #expect(bench.feedback.conditions == .none)
        #expect(abs(bench.sample.joints.roll - 0.7) < 1e-4)
        #expect(abs(bench.line.with { $0.motors.1.torque } + 0.1) < 1e-6)
        #expect(bench.reports[.roll].isRunning == true && bench.reports.supplyVoltage == 7.4)
    }

    @Test("without commands the board is off after 20 ms, and comes on with the next command")
    func deadMan() throws {
        let bench = try Bench(.board, echoes: false)
        bench.output = MotorOutput(enabled: true, torque: AxisVector(repeating: 0.1))
        bench.run(0.2)
        let last = bench.line.with { $0.last_request }
        usleep(60_000)
        let off = bench.line.with { ($0.motors.0.is_on, $0.motors.0.off_at) }
        #expect(off.0 == 0)
        #expect((20_000_000...35_000_000).contains(off.1 - last), "\(off.1 - last) ns")
        bench.run(0.1)
        #expect(bench.line.with { $0.motors.0.is_on } == 1)
    }

    @Test(
        "three per cent of damaged bytes are named, cause no wrong angle and no wrong fault",
        arguments: [HardwareWiring.SerialDrives.Devices.feetech, .dynamixelPosition, .board])
    func damage(devices: HardwareWiring.SerialDrives.Devices) throws {
        let bench = try Bench(devices, echoes: devices != .board, damaged: 0.03)
        bench.output =
            devices == .board
            ? MotorOutput(enabled: true, torque: .zero) : Bench.angles(0, 0, 0)
        bench.run(0.3)
        var (worst, known, all) = (0.0, 0, 0)
        var others = Conditions.none
        bench.run(3) { _ in
            all += 1
            let sample = bench.sample
            if sample.contents.contains(.joints) {
                known += 1
                let (yaw, roll, pitch) = (
                    sample.joints.yaw, sample.joints.roll, sample.joints.pitch
                )
                worst = max(worst, max(abs(yaw), max(abs(roll), abs(pitch))))
            }
            others.insert(bench.feedback.conditions)
            return true
        }
        #expect(worst < 0.02, "\(worst) rad")
        #expect(Double(known) > 0.95 * Double(all), "\(known) of \(all)")
        #expect(others.intersects(.motorBytesDamaged))
        #expect(
            !others.intersects(.driveFault | .driveOverload | .driveOverheated | .driveVoltage))
        #expect(bench.line.with { $0.damaged_bytes } > 500)
    }

    @Test("a servo that loses its supply is named within 30 ms, and used again when it is back")
    func silence() throws {
        let bench = try Bench()
        bench.output = Bench.angles(0, 0, 0)
        bench.run(0.3)
        bench.line.motor(1) { $0.is_silent = 1 }
        let named = bench.time { bench.feedback.conditions.intersects(.driveSilent) }
        #expect(named < 0.03, "\(named) s")
        #expect(bench.reports.silent == AxisSet(yaw: false, roll: true, pitch: false))
        #expect(bench.sample.contents == .none)
        bench.line.motor(1) { $0.is_silent = 0 }
        #expect(bench.time { bench.feedback.conditions == .none } < 0.1)
        #expect(bench.time { bench.line.with { $0.motors.1.is_on } == 1 } < 0.5)
    }

    @Test(
        "error bits are named by their cause, and cleared after a second with the motors off",
        arguments: [
            (.feetech, 0x20, .driveOverload),
            (.feetech, 0x04, .driveOverheated), (.feetech, 0x01, .driveVoltage),
            (.feetech, 0x02, .driveFault), (.dynamixelPosition, 0x20, .driveOverload),
            (.dynamixelPosition, 0x04, .driveOverheated),
        ] as [(HardwareWiring.SerialDrives.Devices, Int32, Conditions)])
    func faults(
        devices: HardwareWiring.SerialDrives.Devices, code: Int32, condition: Conditions
    ) throws {
        let bench = try Bench(devices)
        bench.output = Bench.angles(0, 0, 0)
        bench.run(0.3)
        bench.line.motor(2) { $0.fault = code }
        let named = bench.time { bench.feedback.conditions.intersects(condition) }
        #expect(named < 0.04, "\(named) s")
        #expect(bench.reports.faulty == AxisSet(yaw: false, roll: false, pitch: true))
        #expect(!bench.reports[.pitch].faultWords.isEmpty)
        bench.output = .off
        if code == 0x20 {
            let cleared = bench.time { bench.feedback.conditions == .none }
            #expect((0.9...2.5).contains(cleared), "\(cleared) s")
        }
    }

    @Test("faults of the board are named by their cause, turn it off, and are cleared")
    func boardFaults() throws {
        let bench = try Bench(.board, echoes: false)
        bench.output = MotorOutput(enabled: true, torque: AxisVector(repeating: 0.1))
        bench.run(0.2)
        bench.line.with { $0.board_fault = 1 }
        #expect(bench.time { bench.feedback.conditions.intersects(.driveVoltage) } < 0.03)
        #expect(bench.line.with { $0.motors.0.is_on } == 0)
        bench.line.with { $0.board_fault = 1 << 8 }
        #expect(bench.time { bench.feedback.conditions.intersects(.driveOverload) } < 0.03)
        bench.line.with { $0.board_fault = 0 }
        bench.output = .off
        #expect(bench.time { bench.feedback.conditions == .none } < 2)
    }

    @Test("an unplugged adapter is named at once")
    func unplugged() throws {
        let bench = try Bench()
        bench.output = Bench.angles(0, 0, 0)
        bench.run(0.2)
        bench.line.unplug()
        #expect(bench.time { bench.feedback.conditions.intersects(.motorPortLost) } < 0.02)
        #expect(bench.reports.lastError != 0)
    }

    @Test("a head without a roll servo uses two servos, and roll is zero")
    func twoServos() throws {
        let bench = try Bench(.feetech, count: 2)
        bench.output = Bench.angles(0.3, 0.2, -0.3)
        bench.run(0.8)
        #expect(bench.feedback.conditions == .none)
        let joints = bench.sample.joints
        #expect(abs(joints.yaw - 0.3) < 0.01 && joints.roll == 0 && abs(joints.pitch + 0.3) < 0.01)
    }

    @Test("the threads allocate no memory in their periods")
    func allocations() throws {
        for devices in [HardwareWiring.SerialDrives.Devices.feetech, .dynamixelPosition, .board] {
            let bench = try Bench(devices, echoes: false, damaged: 0.01)
            bench.output = Bench.angles(0, 0, 0)
            bench.run(0.3)
            var total = [Int64](repeating: 0, count: 3)
            for _ in 0..<100 {
                let now = MonotonicClock.now
                var sample = IMUSample(time: now, gyro: .zero, accel: .zero)
                let start = mc_count()
                bench.feedback.read(now: now)
                bench.feedback.add(to: &sample)
                let read = mc_count()
                try bench.motors.write(bench.output, now: now)
                let written = mc_count()
                _ = bench.feedback.conditions
                total[2] += mc_count() - written
                total[1] += written - read
                total[0] += read - start
                usleep(4000)
            }
            if mc_is_active() { #expect(total == [0, 0, 0], "\(devices)") }
        }
    }

    @Test("servos are found, and get an identifier and a speed", arguments: ServoProtocol.allCases)
    func tool(kind: ServoProtocol) throws {
        let line = ServoLine(kind == .feetech ? MM_FEETECH : MM_DYNAMIXEL, count: 2)
        defer { line.unplug() }
        line.with { $0.echoes = 1 }
        let tool = try ServoTool(port: line.path, kind: kind, baud: 1_000_000)
        func ids() throws -> [Int] {
            var ids: [Int] = []
            try tool.scan(bauds: [1_000_000], ids: 0...8) { ids.append($0.id) }
            return ids
        }
        #expect(try ids() == [1, 2])
        let servo = try #require(try tool.find(2))
        #expect(servo.model == (kind == .feetech ? 777 : 1200))
        #expect(abs(servo.angle - 180) < 0.1 && servo.voltage == 7.4 && servo.temperature == 31)
        try tool.setID(from: 2, to: 7)
        #expect(try ids() == [1, 7])
        #expect(throws: ServoToolError.self) { try tool.setID(from: 7, to: 1) }
        #expect(throws: ServoToolError.self) { try tool.setBaud(id: 7, to: 12345) }
        try tool.setBaud(id: 7, to: 500_000 * (kind == .feetech ? 1 : 4))
        let code = line.with { kind == .feetech ? $0.memory.1.6 : $0.memory.1.8 }
        #expect(code == (kind == .feetech ? 1 : 4))
    }

    @Test("a port that airframed uses is not opened a second time")
    func claimed() throws {
        let bench = try Bench()
        bench.run(0.05)
        #expect(throws: ServoToolError.self) {
            _ = try ServoTool(port: bench.line.path, kind: .feetech, baud: 1_000_000)
        }
    }
}
