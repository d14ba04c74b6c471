public import GimbalCore
public import Realtime
internal import Synchronization

/// The rider's two wheels: takes requests from ordinary threads, ramps them, and writes them to the motor board fifty times a
/// second on a thread of its own. Stands when nobody repeats a request in time.
public final class DriveMotors: Sendable {
    private let requests: Mutex<MailboxWriter<DriveModel.Request>>
    private let context: DriveContext
    private let thread = Mutex<RealtimeThread?>(nil)

    /// Wheels that stand; nothing is written before `start()`.
    ///
    /// - Parameters:
    ///   - bus: Device file: `/dev/i2c-1`.
    ///   - format: How the board wants to be told.
    ///   - parameters: Limit and ramps.
    public init(bus: String, format: DriveBoardFormat, parameters: DriveModel.Parameters) {
        let ends = makeMailbox(initial: DriveModel.Request.none)
        requests = Mutex(ends.writer)
        context = DriveContext(
            board: DriveBoard(bus: I2CBus(path: bus), format: format),
            model: DriveModel(parameters: parameters), requests: ends.reader)
    }

    /// Starts the thread. Once.
    ///
    /// - Throws: `ThreadError` when it cannot be created.
    public func start() throws(ThreadError) {
        let context = context
        let started = try RealtimeThread(ThreadTable.drive) { context.run() }
        thread.withLock { $0 = started }
    }

    /// What the wheels are to do from now on; the newest wins. Any ordinary thread.
    public func ask(_ request: DriveModel.Request) {
        requests.withLock { $0.publish(request) }
    }

    /// The wheels off, and the end of the thread; within half a second.
    ///
    /// - Returns: Whether the board took it.
    public func stop() -> Bool {
        context.isStopping.store(true, ordering: .releasing)
        let deadline = MonotonicClock.now.advanced(bySeconds: 0.5)
        let ended = thread.withLock { $0?.join(until: deadline) ?? true }
        return ended && context.isOff.load(ordering: .acquiring)
    }

    /// Transfers that failed, since the start.
    public var errors: Int { context.errors.load(ordering: .relaxed) }
}

/// What the thread works on.
///
/// `@unchecked Sendable`: all but the atomics belong to the thread.
private final class DriveContext: @unchecked Sendable {
    private let board: DriveBoard
    private var model: DriveModel
    private var requests: MailboxReader<DriveModel.Request>
    let isStopping = Atomic(false)
    let isOff = Atomic(false)
    let errors = Atomic(0)

    private static let period: Int64 = 20_000_000

    init(
        board: DriveBoard, model: DriveModel,
        requests: consuming MailboxReader<DriveModel.Request>
    ) {
        self.board = board
        self.model = model
        self.requests = requests
    }

    func run() {
        var clock = GridClock(periodNanoseconds: Self.period)
        var last = MonotonicClock.now
        while !isStopping.load(ordering: .acquiring) {
            clock.wait()
            let now = MonotonicClock.now
            model.step(requests.read().value, now: now, dt: now.seconds(since: last))
            last = now
            // In every period, also when nothing has changed: a board with a watchdog of its own is kept quiet.
            do throws(BusError) {
                try board.write(left: model.left, right: model.right)
            } catch {
                errors.wrappingAdd(1, ordering: .relaxed)
            }
        }
        for _ in 0..<10 {
            do throws(BusError) {
                try board.allOff()
                isOff.store(true, ordering: .releasing)
                return
            } catch {
                errors.wrappingAdd(1, ordering: .relaxed)
            }
        }
    }
}
