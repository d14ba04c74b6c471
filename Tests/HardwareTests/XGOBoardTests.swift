import GimbalCore
import Glibc
import Realtime
import Robot
import TestSupport
import Testing

@testable import Hardware

/// Frames of the vendor's "XGO Serial Communication Protocol".
@Suite("Frames of an XGO robot")
struct XGOFrameTests {
    @Test("full speed forwards has the bytes of the vendor's example")
    func example() {
        let frame = XGOFrame.write(0xFF, to: .forward)
        #expect(frame.data == [0x55, 0x00, 0x09, 0x00, 0x30, 0xFF, 0xC7, 0x00, 0xAA])
    }

    @Test("a read request contains the number of bytes to read")
    func read() {
        #expect(
            XGOFrame.read(.firmware).data == [0x55, 0, 9, 2, 7, 10, 255 - 28, 0, 0xAA])
        #expect(XGOFrame.read(.rollAngle).data[5] == 4)
    }

    @Test(
        "a speed is one byte: 0x80 is rest, and both ends of the range are reached",
        arguments: [
            (0.0, UInt8(0x80)), (1, 0xFF), (-1, 0x00), (0.5, 192), (-0.5, 64), (9, 0xFF), (-9, 0),
            (.nan, 0x80), (.infinity, 0x80),
        ])
    func byte(fraction: Double, byte: UInt8) { #expect(XGOFrame.byte(fraction) == byte) }

    private let battery: [UInt8] = [0x55, 0, 9, 0x12, 1, 80, 255 - 108, 0, 0xAA]

    @Test("a reply is found after noise, and in pieces")
    func reply() {
        var received = SerialBytes([0x55, 0x55, 0x00, 0xFF])
        #expect(XGOFrame.next(in: &received) == .damaged(4))
        for byte in battery.dropLast() {
            received.append(byte)
            #expect(XGOFrame.next(in: &received) == .incomplete)
        }
        received.append(0xAA)
        #expect(XGOFrame.next(in: &received) == .reply(.battery, start: 5))
        #expect(received[5] == 80 && XGOFrame.length(of: received) == 9)
    }

    @Test("a reply with one changed byte is never accepted as a reply of the same register")
    func damage() {
        for index in battery.indices {
            for bit in 0..<8 {
                var bytes = battery
                bytes[index] ^= 1 << UInt8(bit)
                var received = SerialBytes(bytes)
                if case .reply = XGOFrame.next(in: &received) {
                    Issue.record("byte \(index), bit \(bit)")
                }
            }
        }
    }

    @Test("the first character of the firmware version identifies the model")
    func models() {
        let names = ["R-1.2.3", "M-4.3.3", "L-1.0", "RA-1.0", "W-2", ""]
        #expect(
            names.map { XGOModel(firmware: $0) } == [.rider, .mini, .lite, .other, .other, .other])
    }
}

@Suite("Interlock of the wheels")
struct DriveInterlockTests {
    private func at(_ seconds: Double) -> Instant {
        Instant(nanoseconds: 0).advanced(bySeconds: seconds)
    }

    @Test("a board that returns does not drive until the stick has been released")
    func release() {
        var interlock = DriveInterlock()
        let ahead = DriveModel.Request(left: 1, right: 1, validUntil: at(10))
        #expect(interlock.pass(ahead, isReady: true, now: at(0)).left == 1)
        #expect(interlock.pass(ahead, isReady: false, now: at(1)).left == 0)
        #expect(interlock.pass(ahead, isReady: true, now: at(2)).left == 0)
        let centre = DriveModel.Request(left: 0, right: 0, validUntil: at(10))
        #expect(interlock.pass(centre, isReady: true, now: at(3)).left == 0)
        #expect(interlock.pass(ahead, isReady: true, now: at(4)).left == 1)
    }

    @Test("an expired request also opens the interlock")
    func expiry() {
        var interlock = DriveInterlock()
        let ahead = DriveModel.Request(left: 1, right: 1, validUntil: at(2))
        _ = interlock.pass(ahead, isReady: false, now: at(1))
        #expect(interlock.pass(ahead, isReady: true, now: at(1.9)).left == 0 && interlock.isClosed)
        _ = interlock.pass(ahead, isReady: true, now: at(2))
        #expect(!interlock.isClosed)
    }
}

/// The real drive thread on a pseudoterminal, with a model of the board at the other end.
@Suite("An XGO robot on a serial port")
struct XGOBoardTests {
    private let robot = XGORobot(
        at: "/tmp/airframe-xgo-\(getpid())-\(UInt32.random(in: 0...UInt32.max))")

    private func wheels(_ pose: XGOPose = XGOPose()) throws -> DriveMotors {
        var parameters = DriveModel.Parameters()
        parameters.acceleration = 100
        parameters.deceleration = 100
        let wheels = DriveMotors(xgo: robot.path, pose: pose, parameters: parameters)
        try wheels.start()
        return wheels
    }

    private func drive(
        _ wheels: DriveMotors, _ left: Double, _ right: Double, for seconds: Double = 60
    ) {
        wheels.ask(
            DriveModel.Request(
                left: left, right: right,
                validUntil: MonotonicClock.now.advanced(bySeconds: seconds)))
    }

    private func isReady(_ wheels: DriveMotors) -> Bool {
        robot.waits { _ in
            wheels.report?.isReady(now: MonotonicClock.now) == true && !wheels.isHeld
        }
    }

    /// True if the machine or a thread has paused since `longestGap` was set to 0. After 0.5 s, the
    /// board counts as silent, and the wheels stay at rest until the stick is released.
    private var hasPaused: Bool { robot.with { $0.longestGap } > 0.2 }

    /// Requests speeds, and waits until the board meets a condition. After a pause, releases the
    /// stick and repeats the request.
    private func drives(
        _ wheels: DriveMotors, _ left: Double, _ right: Double, for seconds: Double = 60,
        until isMet: (XGORobot.Board) -> Bool
    ) -> Bool {
        for _ in 0..<3 {
            robot.with { $0.longestGap = 0 }
            drive(wheels, left, right, for: seconds)
            if robot.waits(until: isMet) { return true }
            guard hasPaused else { return false }
            drive(wheels, 0, 0)
            _ = isReady(wheels)
        }
        return false
    }

    /// True if the board reports an XGO Rider that has fallen. After a pause, the model and the
    /// state are unknown until the board's next replies.
    private func isFallen(_ wheels: DriveMotors) -> Bool {
        robot.waits { _ in wheels.report?.model == .rider && wheels.report?.isFallen == true }
    }

    /// Stops the wheels; returns true if the board has confirmed the stop, and no transfer has
    /// failed. An attempt to stop the wheels waits 30 ms for the board, so attempts can fail only
    /// if a thread pauses. An attempt that fails without a pause itself makes a gap of 30 ms; a
    /// pause of the board's thread also includes the 2 ms before the last instruction.
    private func stopsWithoutError(_ wheels: DriveMotors) -> Bool {
        guard wheels.errors == 0 else { return false }
        robot.with { $0.longestGap = 0 }
        return wheels.stop() && (wheels.errors == 0 || robot.with { $0.longestGap } > 0.031)
    }

    @Test("identifies the robot, reads battery and attitude, and sends the pose")
    func values() throws {
        var pose = XGOPose()
        pose.height = 1
        pose.rollDeg = -17
        let wheels = try wheels(pose)
        #expect(robot.waits { _ in wheels.report?.yawDeg == 90 && wheels.report?.battery == 80 })
        let report = try #require(wheels.report)
        #expect(report.firmware == "R-1.2.3" && report.model == .rider)
        #expect(report.rollDeg == 1.5 && report.pitchDeg == -2.25)
        #expect(robot.waits { $0.memory[0x35] == 0xFF && $0.memory[0x36] == 0 })
        #expect(robot[0x61] == 0)
        pose.isLevel = true
        pose.height = 0
        wheels.set(pose)
        #expect(robot.waits { $0.memory[0x61] == 1 && $0.memory[0x35] == 0 })
        #expect(stopsWithoutError(wheels))
        #expect(robot.with { $0.strayBytes } == 0 && report.damaged == 0)
    }

    @Test("a pose that the board has lost is sent again")
    func lostPose() throws {
        robot.with { $0.lostPoses = 3 }
        var pose = XGOPose()
        pose.height = 1
        pose.rollDeg = -17
        let wheels = try wheels(pose)
        #expect(robot.waits { $0.lostPoses == 0 })
        #expect(robot.waits { $0.memory[0x35] == 0xFF && $0.memory[0x36] == 0 })
        #expect(wheels.stop())
    }

    @Test("another model drives, but receives no pose")
    func otherModel() throws {
        robot.with { $0.firmware = "W-1.0" }
        var pose = XGOPose()
        pose.isLevel = true
        pose.height = 1
        let wheels = try wheels(pose)
        #expect(isReady(wheels))
        #expect(wheels.report?.model == .other)
        #expect(drives(wheels, 1, 1) { $0.memory[0x30] == 0xFF })
        // Five rounds, each of which can contain a pose.
        usleep(100_000)
        #expect(robot[0x61] == 0 && robot[0x35] == 0x80 && robot[0x36] == 0x80)
        #expect(wheels.stop())
    }

    @Test(
        "drives and turns, brakes when the dead-man time expires, and pauses between instructions")
    func driving() throws {
        let began = MonotonicClock.now
        let wheels = try wheels()
        #expect(isReady(wheels))
        #expect(drives(wheels, 1, 1) { $0.memory[0x30] == 0xFF && $0.memory[0x32] == 0x80 })
        // The board turns left for values above 0x80.
        #expect(
            drives(wheels, 0.5, -0.5, for: 2) { $0.memory[0x30] == 0x80 && $0.memory[0x32] == 64 })
        #expect(robot.waits { $0.memory[0x30] == 0x80 && $0.memory[0x32] == 0x80 })
        // A pause of the machine within the 2 s also stops the wheels, until the stick is released.
        if hasPaused {
            drive(wheels, 0, 0)
            #expect(isReady(wheels))
        }
        #expect(drives(wheels, -1, -1) { $0.memory[0x30] == 0 })
        #expect(wheels.stop())
        #expect(robot[0x30] == 0x80 && robot[0x32] == 0x80)
        // The vendor requires a pause of 1 ms after each instruction. An instruction takes 0.8 ms.
        let seconds = MonotonicClock.now.seconds(since: began)
        #expect(robot.with { $0.instructions } <= Int(seconds / 0.002) + 1)
    }

    @Test("1000 requests per second delay neither the turn nor the board's replies")
    func frequentRequests() throws {
        let wheels = try wheels()
        #expect(isReady(wheels))
        var wasReady = true
        /// Sends requests for the given time, s, and then until the board turns at the given speed,
        /// for at most 5 s. Returns true if the board turns at this speed.
        func request(_ left: Double, _ right: Double, for seconds: Double, until turn: UInt8)
            -> Bool
        {
            let end = MonotonicClock.now.advanced(bySeconds: seconds)
            let limit = end.advanced(bySeconds: 5)
            var hasTurned = false
            while MonotonicClock.now < end || !hasTurned && MonotonicClock.now < limit {
                drive(wheels, left, right)
                let isReady = wheels.report?.isReady(now: MonotonicClock.now) == true
                wasReady = wasReady && isReady && !wheels.isHeld
                usleep(1000)
                hasTurned = robot[0x30] == 0x80 && robot[0x32] == turn
            }
            return hasTurned
        }
        var (turns, rests) = (false, false)
        // A measurement with a pause of the machine is repeated.
        for _ in 0..<3 {
            robot.with { $0.longestGap = 0 }
            wasReady = true
            turns = request(0.5, -0.5, for: 1, until: 64)
            rests = request(0, 0, for: 0.1, until: 0x80)
            guard hasPaused, isReady(wheels) else { break }
        }
        #expect(wasReady, "the board counts as silent")
        #expect(turns)
        #expect(rests, "the robot turns although the stick was released")
        #expect(stopsWithoutError(wheels))
    }

    @Test("an unplugged robot is found again on another port, and waits for the stick's release")
    func unplugged() throws {
        let wheels = try wheels()
        #expect(isReady(wheels))
        #expect(drives(wheels, 1, 1) { $0.memory[0x30] == 0xFF })
        robot.unplug()
        #expect(robot.waits { _ in wheels.report?.isOpen == false })
        #expect(wheels.report?.model == nil && wheels.report?.battery.isNaN == true)
        #expect(robot.waits { _ in wheels.speeds.left == 0 })
        usleep(100_000)
        #expect(wheels.errors == 1, "an outage is counted as one error")
        robot.with { $0.memory[0x30] = 0x80 }
        robot.plugIn()
        #expect(robot.waits { _ in wheels.report?.isReady(now: MonotonicClock.now) == true })
        usleep(100_000)
        #expect(wheels.isHeld)
        #expect(robot[0x30] == 0x80, "the robot drives although the stick was not released")
        drive(wheels, 0, 0)
        #expect(isReady(wheels))
        #expect(drives(wheels, 1, 1) { $0.memory[0x30] == 0xFF })
        #expect(wheels.report?.opened == 2)
        #expect(wheels.stop())
    }

    @Test("a fallen Rider is never ready to drive, also after it was plugged in again")
    func fallenFromTheStart() throws {
        robot.with { $0.memory[0x02] = 0 }
        let wheels = try wheels()
        var wasReady = false
        /// Waits for 20 replies of the board, one in each round; returns false after the timeout.
        func watch() -> Bool {
            let before = wheels.report?.replies ?? 0
            return robot.waits { _ in
                guard let report = wheels.report else { return false }
                wasReady = wasReady || report.isReady(now: MonotonicClock.now)
                return report.replies >= before + 20
            }
        }
        #expect(watch())
        #expect(isFallen(wheels))
        robot.unplug()
        #expect(robot.waits { _ in wheels.report?.isOpen == false })
        robot.plugIn()
        #expect(watch())
        #expect(wheels.report?.opened == 2 && isFallen(wheels))
        #expect(!wasReady, "the fallen robot could drive before it reported its state")
        robot.with { $0.memory[0x02] = 1 }
        #expect(isReady(wheels))
        #expect(wheels.stop())
    }

    @Test("stops while the board is silent or the robot has fallen, then sends the pose again")
    func fallen() throws {
        let wheels = try wheels()
        #expect(isReady(wheels))
        #expect(drives(wheels, 1, 1) { $0.memory[0x30] == 0xFF })
        robot.with { $0.memory[0x02] = 0 }
        #expect(robot.waits { $0.memory[0x30] == 0x80 })
        #expect(isFallen(wheels))
        robot.with { $0.memory[0x02] = 1 }
        drive(wheels, 0, 0)
        #expect(isReady(wheels))
        #expect(drives(wheels, 1, 1) { $0.memory[0x30] == 0xFF })
        robot.with { $0.isSilent = true }
        #expect(robot.waits { $0.memory[0x30] == 0x80 })
        #expect(wheels.report?.isSilent(now: MonotonicClock.now) == true)
        robot.with {
            $0.isSilent = false
            $0.memory[0x35] = 7
        }
        #expect(robot.waits { $0.memory[0x35] == 0x80 })
        #expect(wheels.stop())
    }

    @Test("bytes from another program are dropped and counted")
    func noise() throws {
        let wheels = try wheels()
        #expect(isReady(wheels))
        robot.with { $0.noise = [0x55, 0x00, 0x55, 0xAA, 0x12] }
        #expect(robot.waits { _ in wheels.report?.damaged == 5 })
        #expect(isReady(wheels))
        #expect(wheels.stop())
    }

    @Test("the reply to an earlier instruction does not confirm a stop")
    func earlierReply() throws {
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        try #require(socketpair(AF_UNIX, kind, 0, &ends) == 0)
        let (near, far) = (ends[0], ends[1])
        defer { close(far) }
        let poses = makeMailbox(initial: XGOPose())
        let reports = makeMailbox(initial: XGOReport())
        let board = XGOBoard(
            line: SerialLine(open: { descriptor in
                descriptor.pointee = near
                return 0
            }), pose: poses.reader, reports: reports.writer)
        let reply: [UInt8] = [0x55, 0, 9, 0x12, 1, 80, 255 - 108, 0, 0xAA]
        #expect(Glibc.write(far, reply, reply.count) == reply.count)
        #expect(throws: BusError.self) { try board.allOff() }
    }

    @Test("a stop is not confirmed if the board does not answer")
    func unconfirmed() throws {
        robot.with { $0.isSilent = true }
        let wheels = try wheels()
        #expect(robot.waits { !$0.reads.isEmpty })
        #expect(!wheels.stop())
        #expect(robot[0x30] == 0x80)
    }
}
