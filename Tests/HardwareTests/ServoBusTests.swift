import Configuration
import GimbalCore
import Glibc
import MotorModels
import Realtime
import Testing

@testable import Hardware

@Suite("Servos and a motor board on a simulated serial line, in computed time")
struct ServoBusTests {
    @Test(
        "servos go to their goals, and samples contain their angles, on an adapter that echoes",
        arguments: [HardwareWiring.SerialDrives.Devices.feetech, .dynamixelPosition],
        [SerialLine.latencies.uart, SerialLine.latencies.other])
    func goals(devices: HardwareWiring.SerialDrives.Devices, latency: Double) throws {
        let bench = ServoBench(devices, latency: latency)
        bench.run(0.3)
        #expect(bench.feedback.conditions == .none)
        #expect(bench.sample.contents.contains(.joints))
        #expect(
            bench.line.with { $0.motors.0.is_on } == 0, "no servo moves before it is switched on")
        bench.output = ServoBench.angles(0.5, -0.25, 0.1)
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

    /// A line on which no device answers.
    final class MuteLine: SerialTransport {
        private(set) var now = Instant(nanoseconds: 1_000_000_000)
        private(set) var requests: [[UInt8]] = []
        let isOpen = true
        let latency = SerialLine.latencies.uart

        func open(now: Instant) {}

        func send(_ bytes: SerialBytes) { requests.append(bytes.data) }

        func receive(into bytes: inout SerialBytes, until deadline: Instant) -> Int {
            now = max(now, deadline)
            return 0
        }

        func pause(_ seconds: Double) { now = now.advanced(bySeconds: seconds) }

        func close() {}
    }

    @Test(
        "servos that do not answer are switched off three times at the end, and in each period",
        arguments: [HardwareWiring.SerialDrives.Devices.feetech, .dynamixelPosition])
    func mute(devices: HardwareWiring.SerialDrives.Devices) throws {
        let line = MuteLine()
        let wiring = devices.wiring(port: "")
        let motors = SerialMotors(
            line: line, codec: wiring.codec,
            installation: SerialMotors.Installation(
                baud: wiring.baud, zero: wiring.zero, direction: wiring.direction,
                period: 1 / wiring.rate), reports: DriveReports())
        try motors.allOff()
        #expect(line.requests.count == 3)
        for _ in 0..<10 {
            line.pause(1 / wiring.rate)
            try motors.write(.off, now: line.now)
        }
        #expect(line.requests.count == 13)
        // Instruction, address, number of bytes, and a zero for each servo.
        let off: [UInt8] =
            devices == .feetech
            ? [0x83, 40, 1, 1, 0, 2, 0, 3, 0] : [0x83, 64, 0, 1, 0, 1, 0, 2, 0, 3, 0]
        for request in line.requests {
            let starts = 0...request.count - off.count
            #expect(
                starts.contains { Array(request[$0..<$0 + off.count]) == off }, "\(request)")
        }
    }

    @Test(
        "servos that another program left on are off at the end although the first request is lost",
        arguments: [HardwareWiring.SerialDrives.Devices.feetech, .dynamixelPosition], [true, false])
    func lostRequest(devices: HardwareWiring.SerialDrives.Devices, echoes: Bool) throws {
        let bench = ServoBench(devices, echoes: echoes)
        for index in 0..<3 { bench.line.motor(index) { $0.is_on = 1 } }
        bench.line.lostRequests = 1
        try bench.motors.allOff()
        #expect(bench.line.lostRequests == 0)
        #expect(bench.line.with { $0.motors.0.is_on + $0.motors.1.is_on + $0.motors.2.is_on } == 0)
        #expect(GimbalAxis.allCases.allSatisfy { bench.reports[$0].isRunning == false })
    }

    @Test("Dynamixel servos in current mode receive the currents of the torques")
    func currents() {
        let bench = ServoBench(.dynamixelCurrent(torquePerAmp: 0.5, step: 0.001))
        bench.run(0.3)
        bench.output = MotorOutput(
            enabled: true, torque: AxisVector(yaw: 0.05, roll: -0.1, pitch: 0.02))
        bench.run(0.3)
        let amps = bench.line.with { [$0.motors.0.torque, $0.motors.1.torque, $0.motors.2.torque] }
        #expect(amps == [0.1, -0.2, 0.04])
        #expect(
            bench.line.with { $0.memory.0.11 } == 0, "current mode was set while the servo was off")
        #expect(abs(bench.reports[.yaw].current - 0.1) < 1e-9)
    }

    @Test(
        "the joint angle of a position servo is that of the servo's travel, so its goal is near",
        arguments: [HardwareWiring.SerialDrives.Devices.feetech, .dynamixelPosition])
    func travel(devices: HardwareWiring.SerialDrives.Devices) {
        // At joint angle zero, the servos are at 90°. Yaw has been turned to 355°.
        let bench = ServoBench(devices, zero: AxisVector(repeating: .pi / 2))
        let degree = Double.pi / 180
        bench.line.motor(0) { $0.angle = 355 * degree }
        bench.run(0.3)
        let joints = bench.sample.joints
        #expect(abs(joints.yaw - 265 * degree) < 0.01)
        #expect(abs(joints.roll - 90 * degree) < 0.01)
        // The angles that the controller holds when the servos are switched on.
        bench.output = ServoBench.angles(joints.yaw, joints.roll, joints.pitch)
        bench.run(0.5)
        let angle = bench.line.with { $0.motors.0.angle }
        #expect(abs(angle - 355 * degree) < 0.01, "the servo has turned to \(angle / degree)°")
    }

    @Test("a Feetech servo in the mode for steps or for wheels is set to positions before it is on")
    func mode() {
        let bench = ServoBench()
        bench.line.with {
            $0.memory.0.33 = 3
            $0.memory.2.33 = 1
        }
        bench.run(0.3)
        #expect(bench.line.with { $0.memory.0.33 == 0 && $0.memory.2.33 == 0 })
        bench.output = ServoBench.angles(0.2, 0, 0)
        bench.run(1)
        #expect(abs(bench.sample.joints.yaw - 0.2) < 0.01)
        #expect(abs(bench.line.with { $0.motors.0.angle } - .pi - 0.2) < 0.01)
    }

    @Test("a torque above a Dynamixel servo's current limit is exerted with the limit")
    func currentLimit() {
        let bench = ServoBench(.dynamixelCurrent(torquePerAmp: 0.5, step: 0.001))
        // The servo of roll refuses goal currents above 300 mA.
        bench.line.with {
            $0.memory.1.38 = 0x2C
            $0.memory.1.39 = 0x01
        }
        bench.run(0.3)
        bench.output = MotorOutput(enabled: true, torque: AxisVector(yaw: 0, roll: 0.1, pitch: 0))
        bench.run(0.3)
        #expect(bench.line.with { $0.motors.1.torque } == 0.2)
        bench.output = MotorOutput(
            enabled: true, torque: AxisVector(yaw: -0.4, roll: -0.4, pitch: 0))
        bench.run(0.1)
        #expect(bench.line.with { $0.motors.0.torque } == -0.8)
        #expect(bench.line.with { $0.motors.1.torque } == -0.3)
    }

    @Test("the board gets torques, and reports its angles, currents and voltage")
    func board() {
        let bench = ServoBench(.board, echoes: false)
        bench.line.motor(1) { $0.angle = 0.7 }
        bench.output = MotorOutput(
            enabled: true, torque: AxisVector(yaw: 0.05, roll: -0.1, pitch: 0.02))
        bench.run(0.3)
        #expect(bench.feedback.conditions == .none)
        #expect(abs(bench.sample.joints.roll - 0.7) < 1e-4)
        #expect(abs(bench.line.with { $0.motors.1.torque } + 0.1) < 1e-6)
        #expect(bench.reports[.roll].isRunning == true && bench.reports.supplyVoltage == 7.4)
    }

    @Test("without commands the board switches off after 20 ms, and on with the next command")
    func deadMan() {
        let bench = ServoBench(.board, echoes: false)
        bench.output = MotorOutput(enabled: true, torque: AxisVector(repeating: 0.1))
        bench.run(0.2)
        let last = bench.line.with { $0.last_request }
        bench.line.pause(0.06)
        let off = bench.line.with { ($0.motors.0.is_on, $0.motors.0.off_at) }
        #expect(off.0 == 0)
        #expect((20_000_000...35_000_000).contains(off.1 - last), "\(off.1 - last) ns")
        bench.run(0.1)
        #expect(bench.line.with { $0.motors.0.is_on } == 1)
    }

    @Test("a servo that loses its supply is reported within 30 ms, and used again when it is back")
    func silence() {
        let bench = ServoBench()
        bench.output = ServoBench.angles(0, 0, 0)
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

    @Test("the voltage, temperature and load of a silent servo are unknown until it answers again")
    func unknownValues() {
        let bench = ServoBench()
        bench.run(0.3)
        let report = bench.reports[.roll]
        #expect(report.voltage == 7.4 && report.temperature == 31 && !report.load.isNaN)
        bench.line.motor(1) { $0.is_silent = 1 }
        bench.run(0.1)
        #expect(report.isSilent)
        #expect(report.voltage.isNaN && report.temperature.isNaN && report.load.isNaN)
        #expect(bench.reports[.yaw].voltage == 7.4)
        bench.line.motor(1) { $0.is_silent = 0 }
        bench.run(0.1)
        #expect(report.voltage == 7.4 && report.temperature == 31)
    }

    @Test(
        "while only one servo is switched on, as in a motor test, the other servos have no fault",
        arguments: [HardwareWiring.SerialDrives.Devices.feetech, .dynamixelPosition])
    func oneServo(devices: HardwareWiring.SerialDrives.Devices) {
        let bench = ServoBench(devices)
        bench.run(0.3)
        bench.output = MotorOutput(enabled: true, power: AxisVector(yaw: 1, roll: 0, pitch: 0))
        let alone = bench.time(limit: 1.5) { bench.feedback.conditions != .none }
        #expect(alone >= 1.5, "\(alone) s")
        #expect(bench.reports[.roll].isRunning == false)
        #expect(bench.line.with { $0.motors.0.is_on } == 1)
        #expect(bench.line.with { $0.motors.1.is_on + $0.motors.2.is_on } == 0)
        // The other servos have 0.5 s from their own request.
        bench.output = ServoBench.angles(0, 0, 0)
        let together = bench.time(limit: 0.7) { bench.feedback.conditions != .none }
        #expect(together >= 0.7, "\(together) s")
        #expect(bench.line.with { $0.motors.1.is_on + $0.motors.2.is_on } == 2)
    }

    @Test(
        "error bits are reported with their cause; an overload is cleared after a second with the motors off",
        arguments: [
            (.feetech, 0x20, .driveOverload),
            (.feetech, 0x04, .driveOverheated), (.feetech, 0x01, .driveVoltage),
            (.feetech, 0x02, .driveFault), (.dynamixelPosition, 0x20, .driveOverload),
            (.dynamixelPosition, 0x04, .driveOverheated),
        ] as [(HardwareWiring.SerialDrives.Devices, Int32, Conditions)])
    func faults(
        devices: HardwareWiring.SerialDrives.Devices, code: Int32, condition: Conditions
    ) {
        let bench = ServoBench(devices)
        bench.output = ServoBench.angles(0, 0, 0)
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

    @Test(
        "a servo that restarts after a fault is not silent, and its fault is reported until it answers again, with every kind of first reply",
        arguments: 0..<16)
    func restart(period: Int) {
        let bench = ServoBench(.dynamixelPosition)
        // The registers that are read repeat after 16 periods of 4 ms.
        bench.line.with { $0.restart_seconds = 0.4 + 0.004 * Double(period) }
        bench.output = ServoBench.angles(0, 0, 0)
        bench.run(0.3)
        bench.line.motor(2) { $0.fault = 0x20 }
        bench.run(0.05)
        bench.output = .off
        var (isSilent, isUnreported, restarts) = (false, false, 0)
        bench.run(2.5) { _ in
            let conditions = bench.feedback.conditions
            if conditions.intersects(.driveSilent) { isSilent = true }
            guard bench.line.with({ $0.motors.2.restart_end }) != 0 else { return true }
            restarts += 1
            if !conditions.intersects(.driveOverload) { isUnreported = true }
            return true
        }
        #expect(restarts > 50 && !isSilent && !isUnreported)
        #expect(bench.feedback.conditions == .none)
        bench.output = ServoBench.angles(0, 0, 0)
        #expect(bench.time { bench.line.with { $0.motors.2.is_on } == 1 } < 0.5)
        // The restart has ended, so the servo counts as silent as before.
        bench.line.motor(2) { $0.is_silent = 1 }
        #expect(bench.time { bench.feedback.conditions.intersects(.driveSilent) } < 0.1)
    }

    @Test("a servo that does not answer within a second after a restart is silent")
    func lostInRestart() {
        let bench = ServoBench(.dynamixelPosition)
        bench.line.with { $0.restart_seconds = 60 }
        bench.run(0.3)
        bench.line.motor(2) { $0.fault = 0x20 }
        bench.run(0.05)
        let silent = bench.time { bench.feedback.conditions.intersects(.driveSilent) }
        #expect((1.9...2.3).contains(silent), "\(silent) s")
    }

    @Test("faults of the board are reported with their cause, switch it off, and are cleared")
    func boardFaults() {
        let bench = ServoBench(.board, echoes: false)
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

    @Test("an unplugged adapter is reported immediately")
    func unplugged() {
        let bench = ServoBench()
        bench.output = ServoBench.angles(0, 0, 0)
        bench.run(0.2)
        bench.line.unplug()
        #expect(bench.time { bench.feedback.conditions.intersects(.motorPortLost) } < 0.02)
        #expect(bench.reports.lastError != 0)
    }

    @Test("a transfer that fails while the port stays open also fails when it is repeated")
    func fullPort() throws {
        let bench = ServoBench()
        bench.run(0.1)
        let now = bench.line.now
        bench.line.sendError = EAGAIN
        for _ in 0..<2 {
            #expect(throws: BusError.self) { try bench.motors.write(.off, now: now) }
        }
        bench.line.sendError = 0
        try bench.motors.write(.off, now: now)
    }

    @Test("a gimbal without a roll servo uses two servos, and its roll angle is zero")
    func twoServos() {
        let bench = ServoBench(.feetech, count: 2)
        bench.output = ServoBench.angles(0.3, 0.2, -0.3)
        bench.run(0.8)
        #expect(bench.feedback.conditions == .none)
        let joints = bench.sample.joints
        #expect(abs(joints.yaw - 0.3) < 0.01 && joints.roll == 0 && abs(joints.pitch + 0.3) < 0.01)
    }

    @Test(
        "servos are detected, and get an identifier and a speed", arguments: ServoProtocol.allCases)
    func tool(kind: ServoProtocol) throws {
        let line = ModelLine(
            kind == .feetech ? MM_FEETECH : MM_DYNAMIXEL, count: 2,
            latency: SerialLine.latencies.other)
        line.with { $0.echoes = 1 }
        let tool = try ServoTool(port: "", kind: kind, baud: 1_000_000, line: { _ in line })
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
        let taken = #expect(throws: ServoToolError.self) { try tool.setID(from: 7, to: 1) }
        #expect(taken?.cause == .request)
        let absent = #expect(throws: ServoToolError.self) { try tool.setID(from: 3, to: 4) }
        #expect(absent?.cause == .silence)
        #expect(throws: ServoToolError.self) { try tool.setBaud(id: 7, to: 12345) }
        try tool.setBaud(id: 7, to: 500_000 * (kind == .feetech ? 1 : 4))
        let code = line.with { kind == .feetech ? $0.memory.1.6 : $0.memory.1.8 }
        #expect(code == (kind == .feetech ? 1 : 4))
    }
}
