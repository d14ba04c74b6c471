import CMallocCounter
import Configuration
import GimbalCore
import Glibc
import Realtime
import Testing

@testable import Hardware

@Suite("Drives on a CAN bus")
struct CANBusTests {
    static func at(_ seconds: Double) -> Instant { LinuxBusTests.at(seconds) }

    /// Clock that shows the time at which the frames are received.
    final class Clock: @unchecked Sendable {
        var now = CANBusTests.at(0)
    }

    /// Three simulated ODrives, and airframed's sender and receiver of frames.
    final class Bench {
        let bus = FakeCANBus()
        let reports = DriveReports()
        let motors: CANMotors
        let feedback: DriveFeedback
        let clock = Clock()
        /// Time from the beginning of a period until the frames are received, s.
        var delay = 0.0
        /// Drives that do not send frames.
        var silent: Set<UInt32> = []
        /// Drives that send heartbeats, but no estimates of their encoders.
        var blind: Set<UInt32> = []
        /// Fault and state in the heartbeats.
        var fault: UInt8 = 0
        var axisState: UInt8 = 8
        /// Position of all drives, turns, and velocity, turns/s.
        var turns: Float = 0
        var velocity: Float = 0

        init(direction: AxisVector = AxisVector(repeating: 1), zero: AxisVector = .zero) {
            let codec = ODriveCodec(ids: DriveCodecTests.ids)
            let clock = self.clock
            motors = CANMotors(
                socket: bus.motors, codec: codec, direction: direction, reports: reports)
            feedback = DriveFeedback(
                socket: bus.feedback, codec: codec,
                installation: DriveFeedback.Installation(
                    zero: zero, direction: direction, period: 0.002, measuresJoints: true),
                reports: reports, wallClock: { clock.now })
        }

        /// One period of 2 ms, in the order of the threads: read, write, answers of the drives.
        func period(_ tick: Int, _ output: MotorOutput = .off) throws -> [CANFrame] {
            let now = CANBusTests.at(Double(tick) * 0.002)
            clock.now = now.advanced(bySeconds: delay)
            feedback.read(now: now)
            _ = try motors.prepare(now: now)
            try motors.write(output, now: now)
            let sent = bus.sent()
            for node: UInt32 in 1...3 where !silent.contains(node) {
                var estimate = CANFrame(id: node << 5 | 0x09)
                estimate.append(little: turns.bitPattern)
                estimate.append(little: velocity.bitPattern)
                if !blind.contains(node) { bus.deliver(estimate) }
                bus.deliver(
                    CANFrame(
                        id: node << 5 | 0x01, data: [fault, 0, 0, 0, axisState, 0, 0, 0]))
            }
            return sent
        }

        func run(_ ticks: Range<Int>, _ output: MotorOutput = .off) throws {
            for tick in ticks { _ = try period(tick, output) }
        }

        var sample: IMUSample {
            var sample = IMUSample(time: clock.now, gyro: .zero, accel: .zero)
            feedback.add(to: &sample)
            return sample
        }
    }

    static let on = MotorOutput(enabled: true, torque: AxisVector(yaw: 0.1, roll: 0.2, pitch: 0.3))

    @Test("the drives' angles and rates are in the samples, with zero and direction of the joint")
    func joints() throws {
        let bench = Bench(
            direction: AxisVector(yaw: 1, roll: -1, pitch: 1),
            zero: AxisVector(yaw: .pi / 2, roll: 0, pitch: 0))
        bench.turns = 1.25
        bench.velocity = 0.01
        try bench.run(0..<3)
        let sample = bench.sample
        #expect(sample.contents.contains(.joints) && sample.contents.contains(.jointRates))
        #expect(abs(sample.joints.yaw) < 1e-6)
        #expect(abs(sample.joints.roll + .pi / 2) < 1e-6)
        #expect(abs(sample.joints.pitch - .pi / 2) < 1e-6)
        #expect(abs(sample.jointRates.roll + 0.02 * .pi) < 1e-6)
    }

    @Test("an angle is extrapolated to the time of the sample, by at most 10 ms")
    func extrapolation() throws {
        let bench = Bench()
        bench.velocity = 1
        try bench.run(0..<2)
        // The frames of the first period were read at 2 ms.
        for (seconds, turn) in [(0.002, 0), (0.004, 0.002), (1, 0.01)] {
            var sample = IMUSample(time: Self.at(seconds), gyro: .zero, accel: .zero)
            bench.feedback.add(to: &sample)
            #expect(abs(sample.joints.yaw - turn * 2 * .pi) < 1e-6)
        }
    }

    @Test("an angle has the time at which its frame arrived, not that of the period's beginning")
    func arrival() throws {
        let bench = Bench()
        bench.velocity = 1
        // The sensors on the bus are read first, for 1 ms.
        bench.delay = 0.001
        try bench.run(0..<2)
        for (seconds, turn) in [(0.002, -0.001), (0.003, 0), (0.004, 0.001)] {
            var sample = IMUSample(time: Self.at(seconds), gyro: .zero, accel: .zero)
            bench.feedback.add(to: &sample)
            #expect(abs(sample.joints.yaw - turn * 2 * .pi) < 1e-6)
        }
    }

    @Test("a torque has the joint's direction, and every drive gets a torque in every period")
    func torques() throws {
        let bench = Bench(direction: AxisVector(yaw: -1, roll: 1, pitch: 1))
        try bench.run(0..<10, Self.on)
        let torques = try bench.period(10, Self.on).filter { $0.id & 0x1F == 0x0E }
        #expect(torques.map { $0.float(at: 0).map { Float($0) } } == [-0.1, 0.2, 0.3])
    }

    @Test("drives that send their frames cause no condition")
    func fine() throws {
        let bench = Bench()
        try bench.run(0..<500, Self.on)
        #expect(bench.feedback.conditions == .none)
        #expect(bench.reports[.yaw].isRunning == true)
        #expect(bench.reports.receivedFrames == 6 * 499)
    }

    @Test("before the first frame the drives are reported as silent, and no angle is used")
    func beginning() throws {
        let bench = Bench()
        _ = try bench.period(0)
        #expect(bench.feedback.conditions.intersects(.driveSilent))
        #expect(bench.sample.contents == .none)
    }

    @Test("a drive is reported as silent after three missed periods, not after two")
    func silence() throws {
        let bench = Bench()
        try bench.run(0..<10, Self.on)
        bench.silent = [2]
        // The read in the first of these periods still receives the last frame.
        try bench.run(10..<13, Self.on)
        #expect(bench.feedback.conditions == .none)
        _ = try bench.period(13, Self.on)
        #expect(bench.feedback.conditions == .driveSilent)
        #expect(bench.reports.silent == AxisSet(yaw: false, roll: true, pitch: false))
        #expect(bench.reports[.roll].silenceCount == 1 && bench.sample.contents == .none)
        bench.silent = []
        try bench.run(14..<16, Self.on)
        #expect(bench.feedback.conditions == .none)
    }

    @Test("a drive that sends heartbeats without its angle is reported as silent")
    func withoutAngle() throws {
        let bench = Bench()
        try bench.run(0..<10, Self.on)
        bench.blind = [3]
        try bench.run(10..<14, Self.on)
        #expect(bench.feedback.conditions == .driveSilent)
        #expect(bench.reports.silent == AxisSet(yaw: false, roll: false, pitch: true))
        #expect(bench.sample.contents == .none)
    }

    @Test("a full queue is an error of the bus, unless no drive answers and the motors are off")
    func fullQueue() throws {
        let bench = Bench()
        bench.silent = [1, 2, 3]
        let now = Self.at(0)
        _ = try bench.motors.prepare(now: now)
        bench.feedback.read(now: now)
        // Nobody takes the frames from the socket, so its queue fills.
        for _ in 0..<2000 { try bench.motors.write(.off, now: now) }
        #expect(throws: BusError.self) { try bench.motors.write(Self.on, now: now) }
        #expect(throws: BusError.self, "the end is confirmed") { try bench.motors.allOff() }
    }

    @Test(
        "a drive's fault is reported in the next period, and ends when the drive reports no fault")
    func fault() throws {
        let bench = Bench()
        try bench.run(0..<10, Self.on)
        bench.fault = 0x40
        try bench.run(10..<12, Self.on)
        #expect(bench.feedback.conditions == .driveFault)
        #expect(bench.reports[.pitch].fault == 0x40 && bench.reports[.pitch].faultCount == 1)
        bench.fault = 0
        try bench.run(12..<14)
        #expect(bench.feedback.conditions == .none)
    }

    @Test(
        "for an ODrive with firmware 0.6, another program's request and the drive's power are not errors of encoder and controller"
    )
    func powers() throws {
        let bench = Bench()
        try bench.run(0..<10, Self.on)
        // Drive 1 reports firmware 0.6.9; drive 2 does not report a version.
        bench.bus.deliver(CANFrame(id: 0x20, data: [2, 4, 4, 0, 0, 6, 9, 0]))
        try bench.run(10..<12, Self.on)
        // RxSdo reads endpoint 257; Get_Powers contains 24 W and 12 W.
        bench.bus.deliver(CANFrame(id: 0x24, data: [0, 1, 1, 0]))
        bench.bus.deliver(CANFrame(id: 0x3D, data: [0, 0, 0xC0, 0x41, 0, 0, 0x40, 0x41]))
        _ = try bench.period(12, Self.on)
        #expect(bench.feedback.conditions == .none)
        #expect(bench.reports[.yaw].faultCount == 0 && bench.reports.malformedFrames == 0)
        bench.bus.deliver(CANFrame(id: 0x44, data: [4, 0, 0, 0, 0, 0, 0, 0]))
        _ = try bench.period(13, Self.on)
        #expect(bench.feedback.conditions == .driveFault)
        #expect(bench.reports[.roll].fault == 4)
    }

    @Test("a drive that stays idle for 0.5 s after it is switched on is reported as a fault")
    func refuses() throws {
        let bench = Bench()
        bench.axisState = 1
        try bench.run(0..<250, Self.on)
        #expect(bench.feedback.conditions == .none)
        try bench.run(250..<255, Self.on)
        #expect(bench.feedback.conditions == .driveFault)
        try bench.run(255..<258)
        #expect(bench.feedback.conditions == .none, "it was switched off again")
    }

    @Test(
        "bus-off is reported until the controller has restarted, and bus errors for one more second"
    )
    func busErrors() throws {
        let bench = Bench()
        try bench.run(0..<10, Self.on)
        bench.silent = [1, 2, 3]
        var off = CANFrame(id: 0x40, data: [UInt8](repeating: 0, count: 8))
        off.isError = true
        bench.bus.deliver(off)
        _ = try bench.period(10, Self.on)
        #expect(bench.feedback.conditions.intersects(.canBusOff))
        #expect(bench.feedback.conditions.intersects(.canErrors))
        #expect(bench.reports.errorReports == 1 && bench.reports.busOffCount == 1)
        var restarted = off
        restarted.id = 0x100
        bench.bus.deliver(restarted)
        bench.silent = []
        try bench.run(11..<14, Self.on)
        #expect(bench.feedback.conditions == .canErrors)
        try bench.run(14..<600, Self.on)
        #expect(bench.feedback.conditions == .none)
    }

    @Test("errors before the drives have answered for a second do not count afterwards")
    func start() throws {
        let bench = Bench()
        bench.silent = [1, 2, 3]
        // The controller is error-passive (CAN_ERR_CRTL), because no node acknowledges its frames.
        var passive = CANFrame(id: 0x04, data: [0, 0x20, 0, 0, 0, 0, 0, 0])
        passive.isError = true
        bench.bus.deliver(passive)
        try bench.run(0..<100)
        #expect(bench.reports.errorReports == 1)
        bench.silent = []
        try bench.run(100..<620)
        #expect(bench.reports.errorReports == 0)
        bench.bus.deliver(passive)
        try bench.run(620..<622)
        #expect(bench.reports.errorReports == 1)
    }

    @Test("a missing interface is reported as bus-off, and its drives are used when it appears")
    func missing() throws {
        let bench = Bench()
        bench.bus.openError = ENODEV
        try bench.run(0..<100)
        #expect(bench.feedback.conditions.intersects(.canBusOff))
        #expect(bench.reports.lastError == ENODEV)
        bench.bus.openError = 0
        try bench.run(100..<200)
        #expect(bench.feedback.conditions == .none && bench.reports.lastError == 0)
    }

    @Test("foreign and malformed frames are counted and ignored")
    func malformed() throws {
        let bench = Bench()
        try bench.run(0..<10)
        bench.bus.deliver(CANFrame(id: 0x29, data: [1, 2, 3]))
        bench.bus.deliver(CANFrame(id: 0x7FF, data: []))
        try bench.run(10..<12)
        #expect(bench.reports.malformedFrames == 2)
        #expect(bench.feedback.conditions == .none && bench.sample.joints.yaw == 0)
    }

    @Test("the drives are made idle at the end, several times, because a frame can be lost")
    func end() throws {
        let bench = Bench()
        try bench.run(0..<10, Self.on)
        try bench.motors.allOff()
        let sent = bench.bus.sent()
        #expect(sent.count { $0 == CANFrame(id: 0x27, data: [1, 0, 0, 0]) } == 3)
        #expect(sent.count { $0 == CANFrame(id: 0x4E, data: [0, 0, 0, 0]) } == 3)
        #expect(!sent.contains { $0.id & 0x1F == 0x0E && $0.float(at: 0) != 0 })
    }

    @Test("neither thread allocates memory in its periods")
    func allocations() throws {
        let bench = Bench()
        try bench.run(0..<300, Self.on)
        var total: Int64 = 0
        for tick in 300..<400 {
            let now = Self.at(Double(tick) * 0.002)
            let before = mc_count()
            bench.feedback.read(now: now)
            try bench.motors.write(Self.on, now: now)
            var sample = IMUSample(time: now, gyro: .zero, accel: .zero)
            bench.feedback.add(to: &sample)
            total += mc_count() - before
            _ = bench.bus.sent()
        }
        if mc_is_active() { #expect(total == 0) }
    }
}
