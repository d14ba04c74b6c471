import CMallocCounter
import Configuration
import GimbalCore
import Glibc
import MotorModels
import Realtime
import TestSupport
import Testing

@testable import Hardware

/// The line is a pseudoterminal with a model on its own thread. The time limits only detect a hang.
@Suite("Servos and a motor board on a pseudoterminal", .serialized)
struct ServoPortTests {
    /// Runs both ends in real time until a condition holds, for at most 20 s.
    private static func run(
        _ motors: SerialMotors, _ feedback: SerialFeedback, _ output: MotorOutput,
        until holds: () -> Bool
    ) -> Bool {
        let end = MonotonicClock.now.advanced(bySeconds: 20)
        while MonotonicClock.now < end {
            let now = MonotonicClock.now
            feedback.read(now: now)
            do throws(BusError) {
                if try motors.prepare(now: now) { try motors.write(output, now: now) }
            } catch {}
            if holds() { return true }
            usleep(4000)
        }
        return false
    }

    @Test(
        "the port transfers goals and angles, and an unplugged adapter is reported",
        arguments: [HardwareWiring.SerialDrives.Devices.feetech, .dynamixelPosition, .board])
    func port(devices: HardwareWiring.SerialDrives.Devices) {
        let line = ServoLine(devices.kind)
        defer { line.unplug() }
        let reports = DriveReports()
        let wiring = devices.wiring(port: line.path)
        let motors = wiring.motors(reports)
        let feedback = wiring.feedback(period: 1 / wiring.rate, reports)
        if devices == .board { line.motor(0) { $0.angle = 0.5 } }
        var joints = AxisVector.zero
        #expect(
            Self.run(motors, feedback, ServoBench.angles(0.5, -0.25, 0.1)) {
                var sample = IMUSample(time: MonotonicClock.now, gyro: .zero, accel: .zero)
                feedback.add(to: &sample)
                joints = sample.joints
                return abs(joints.yaw - 0.5) < 0.01 && line.with { $0.motors.0.is_on } == 1
            }, "\(joints)")
        line.unplug()
        #expect(
            Self.run(motors, feedback, .off) {
                feedback.conditions.intersects(.motorPortLost) && reports.lastError != 0
            })
    }

    @Test("the threads allocate no memory in their periods")
    func allocations() throws {
        for devices in [HardwareWiring.SerialDrives.Devices.feetech, .dynamixelPosition, .board] {
            let line = ServoLine(devices.kind)
            defer { line.unplug() }
            line.with { $0.damaged = 0.01 }
            let reports = DriveReports()
            let wiring = devices.wiring(port: line.path)
            let motors = wiring.motors(reports)
            let feedback = wiring.feedback(period: 1 / wiring.rate, reports)
            let output = ServoBench.angles(0, 0, 0)
            var periods = 0
            _ = Self.run(motors, feedback, output) {
                periods += 1
                return periods == 75
            }
            var total = [Int64](repeating: 0, count: 3)
            for _ in 0..<100 {
                let now = MonotonicClock.now
                var sample = IMUSample(time: now, gyro: .zero, accel: .zero)
                let start = mc_count()
                feedback.read(now: now)
                feedback.add(to: &sample)
                let read = mc_count()
                try motors.write(output, now: now)
                let written = mc_count()
                _ = feedback.conditions
                total[2] += mc_count() - written
                total[1] += written - read
                total[0] += read - start
                usleep(4000)
            }
            if mc_is_active() { #expect(total == [0, 0, 0], "\(devices)") }
        }
    }

    @Test("the tool for setting up servos finds a servo", arguments: ServoProtocol.allCases)
    func tool(kind: ServoProtocol) throws {
        let line = ServoLine(kind == .feetech ? MM_FEETECH : MM_DYNAMIXEL, count: 2)
        defer { line.unplug() }
        line.with { $0.echoes = 1 }
        let tool = try ServoTool(port: line.path, kind: kind, baud: 1_000_000)
        // The tool waits for 35 ms. A pause of the machine makes an answer late, so the search is
        // repeated.
        var servo: FoundServo?
        let isFound = try eventually(within: 5) {
            servo = try tool.find(2)
            return servo != nil
        }
        #expect(isFound)
        #expect(servo?.model == (kind == .feetech ? 777 : 1200))
        // Each change of the baud rate opens the port again.
        try tool.scan(bauds: [500_000], ids: 3...3) { Issue.record("\($0)") }
    }

    @Test("a port that airframed uses is not opened a second time")
    func claimed() throws {
        let line = ServoLine(MM_FEETECH)
        defer { line.unplug() }
        let reports = DriveReports()
        let wiring = HardwareWiring.SerialDrives.Devices.feetech.wiring(port: line.path)
        let motors = wiring.motors(reports)
        #expect(try motors.prepare(now: MonotonicClock.now))
        #expect(throws: ServoToolError.self) {
            _ = try ServoTool(port: line.path, kind: .feetech, baud: 1_000_000)
        }
    }
}
