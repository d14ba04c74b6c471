internal import GimbalCore
public import Realtime
public import Robot
internal import Synchronization

/// Driver of the two wheels. The driver accepts speeds from non-real-time threads, and limits the
/// rate of change of the speeds. A separate thread writes the speeds to the motor board 50 times
/// per second, and immediately after a request. The wheels stop if no request arrives within the
/// dead-man time.
public final class DriveMotors: Sendable {
    private let requests: Mutex<MailboxWriter<DriveModel.Request>>
    private let context: DriveContext
    private let thread = Mutex<RealtimeThread?>(nil)
    private let robot: Robot?

    /// Mailboxes through which non-real-time threads set an XGO robot's pose and read its reports.
    private final class Robot: Sendable {
        let pose: Mutex<MailboxWriter<XGOPose>>
        let reports: Mutex<MailboxReader<XGOReport>>

        init(
            pose: consuming MailboxWriter<XGOPose>, reports: consuming MailboxReader<XGOReport>
        ) {
            self.pose = Mutex(pose)
            self.reports = Mutex(reports)
        }
    }

    /// Creates simulated wheels without a board, for tests of a remote control.
    public convenience init(simulated parameters: DriveModel.Parameters) {
        self.init(board: nil, parameters: parameters)
    }

    /// Creates stopped wheels. Nothing is written to the board before `start()`.
    ///
    /// - Parameters:
    ///   - bus: Device file of the bus, such as `/dev/i2c-1`.
    ///   - format: Protocol of the board.
    ///   - parameters: Speed limit and ramps.
    public convenience init(
        bus: String, format: DriveBoardFormat, parameters: DriveModel.Parameters
    ) {
        self.init(
            board: DriveBoard(bus: I2CBus(path: bus), format: format), parameters: parameters)
    }

    /// Creates the driver of an XGO robot. The requested speeds are 0. Nothing is sent to the robot
    /// before `start()`.
    ///
    /// - Parameters:
    ///   - port: Device file of the robot's serial port, such as `/dev/ttyAMA0`.
    ///   - pose: Pose that the robot's controller holds.
    ///   - parameters: Speed limit and ramps.
    public convenience init(
        xgo port: String, pose: XGOPose, parameters: DriveModel.Parameters
    ) {
        let poses = makeMailbox(initial: pose)
        let reports = makeMailbox(initial: XGOReport())
        let line = SerialLine(open: SerialLine.device(path: port, baud: XGOBoard.baud))
        self.init(
            board: XGOBoard(line: line, pose: poses.reader, reports: reports.writer),
            robot: Robot(pose: poses.writer, reports: reports.reader), parameters: parameters)
    }

    private init(
        board: sending (any WheelBoard)?, robot: Robot? = nil, parameters: DriveModel.Parameters
    ) {
        self.robot = robot
        let ends = makeMailbox(initial: DriveModel.Request.none)
        requests = Mutex(ends.writer)
        context = DriveContext(
            board: board,
            model: DriveModel(parameters: parameters), requests: ends.reader)
    }

    /// Starts the thread. Call this method once.
    ///
    /// - Throws: `ThreadError` if the thread that writes the speeds cannot be created.
    public func start() throws(ThreadError) {
        let context = context
        let started = try RealtimeThread(ThreadTable.drive) { context.run() }
        thread.withLock { $0 = started }
    }

    /// Requests speeds of the wheels; the newest request replaces earlier ones. Any non-real-time
    /// thread can call this method.
    public func ask(_ request: DriveModel.Request) {
        requests.withLock { $0.publish(request) }
        context.bell.ring()
    }

    /// Changes the pose that an XGO robot's controller holds; other boards have no pose. Any
    /// non-real-time thread can call this method.
    public func set(_ pose: XGOPose) { robot?.pose.withLock { $0.publish(pose) } }

    /// Values that the board of an XGO robot has sent; nil for other boards. Any non-real-time
    /// thread can read the property.
    public var report: XGOReport? { robot?.reports.withLock { $0.read().value } }

    /// True if the robot could drive in the last period: its board answers, and an XGO Rider has
    /// not fallen. The property is also true before the first period.
    public var isReady: Bool { context.isReady.load(ordering: .relaxed) }

    /// True while the interlock keeps the wheels at rest. The interlock is active from the time at
    /// which the board cannot drive until a request to stop arrives or a request expires.
    public var isHeld: Bool { context.isHeld.load(ordering: .relaxed) }

    /// Switches the wheels off without the thread, for a program that exits immediately.
    ///
    /// - Throws: The error of the last attempt.
    public func switchOff() throws(BusError) { try context.switchOff() }

    /// Switches the wheels off and ends the thread, within half a second.
    ///
    /// - Returns: True if the board has accepted the command that switches the wheels off.
    public func stop() -> Bool {
        context.isStopping.store(true, ordering: .releasing)
        context.bell.ring()
        let deadline = MonotonicClock.now.advanced(bySeconds: 0.5)
        let ended = thread.withLock { $0?.join(until: deadline) ?? true }
        return ended && context.isOff.load(ordering: .acquiring)
    }

    /// Speeds of the wheels in the last period, as fractions of full speed, forwards positive.
    public var speeds: (left: Double, right: Double) { context.speeds.value }

    /// Number of failed transfers to the motor board since the start; all failures while the
    /// board's port is missing count as one.
    public var errors: Int { context.errors.load(ordering: .relaxed) }
}

/// Speeds of both wheels in one atomic word, in units of 1/10000 of the full speed. One thread
/// writes the word; other threads read the word.
private final class SharedSpeeds: Sendable {
    private let word = Atomic<UInt64>(0)

    var value: (left: Double, right: Double) {
        let bits = word.load(ordering: .relaxed)
        func speed(_ bits: UInt64) -> Double { Double(Int32(truncatingIfNeeded: bits)) / 10_000 }
        return (speed(bits >> 32), speed(bits))
    }

    func store(left: Double, right: Double) {
        func bits(_ speed: Double) -> UInt64 {
            UInt64(UInt32(bitPattern: Int32((speed * 10_000).rounded())))
        }
        word.store(bits(left) << 32 | bits(right), ordering: .relaxed)
    }
}

/// State of the thread that writes the speeds.
///
/// `@unchecked Sendable`, because only the thread uses the properties that are not atomic.
private final class DriveContext: @unchecked Sendable {
    /// The board; nil for simulated wheels.
    private let board: (any WheelBoard)?
    private var interlock = DriveInterlock()
    /// True if the last transfer failed because the board's port is missing.
    private var wasMissing = false
    let speeds = SharedSpeeds()
    private var model: DriveModel
    private var requests: MailboxReader<DriveModel.Request>
    let isStopping = Atomic(false)
    let isOff = Atomic(false)
    let isReady = Atomic(true)
    let isHeld = Atomic(false)
    let errors = Atomic(0)

    /// Doorbell with which each request wakes the thread.
    let bell = Doorbell()

    private static let period = 0.02
    /// Minimum interval between two transfers, s. The interval limits the bus load due to frequent
    /// requests.
    private static let shortestPeriod = 0.002

    init(
        board: (any WheelBoard)?, model: DriveModel,
        requests: consuming MailboxReader<DriveModel.Request>
    ) {
        self.board = board
        self.model = model
        self.requests = requests
    }

    deinit { bell.deallocate() }

    func run() {
        var last = MonotonicClock.now
        while !isStopping.load(ordering: .acquiring) {
            let next = last.advanced(bySeconds: Self.period)
            let wakeup = bell.wait(until: board?.due.map { min($0, next) } ?? next)
            var now = MonotonicClock.now
            if wakeup == .timeout, now < next {
                count { () throws(BusError) in try board?.serve(now: now) }
                continue
            }
            let earliest = last.advanced(bySeconds: Self.shortestPeriod)
            while now < earliest {
                _ = bell.wait(until: earliest)
                now = MonotonicClock.now
            }
            let isReady = board?.isReady(now: now) ?? true
            self.isReady.store(isReady, ordering: .relaxed)
            let request = interlock.pass(requests.read().value, isReady: isReady, now: now)
            isHeld.store(interlock.isClosed, ordering: .relaxed)
            if interlock.isClosed { model.stop() }
            model.step(request, now: now, dt: now.seconds(since: last))
            last = now
            speeds.store(left: model.left, right: model.right)
            // The speeds are written in every period, even without a change, so that a board's own
            // watchdog does not expire.
            count { () throws(BusError) in
                try board?.write(left: model.left, right: model.right, now: now)
            }
        }
        do throws(BusError) { try switchOff() } catch {}
    }

    /// Counts a failed transfer; all failures while the board's port is missing count once.
    private func noteFailure() {
        if !wasMissing { errors.wrappingAdd(1, ordering: .relaxed) }
        wasMissing = board?.isMissing ?? false
    }

    /// Executes a transfer, and counts its failure.
    private func count(_ transfer: () throws(BusError) -> Void) {
        do throws(BusError) {
            try transfer()
            wasMissing = false
        } catch {
            noteFailure()
        }
    }

    /// Switches the wheels off, with at most ten attempts.
    func switchOff() throws(BusError) {
        for attempt in 1...10 {
            do throws(BusError) {
                try board?.allOff()
                isOff.store(true, ordering: .releasing)
                return
            } catch {
                noteFailure()
                if attempt == 10 { throw error }
            }
        }
    }
}
