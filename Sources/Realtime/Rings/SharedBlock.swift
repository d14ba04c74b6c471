internal import Synchronization

/// The handles that several threads share.
struct SharedHandles: BitwiseCopyable, Sendable {
    let loopBell = Doorbell()
    let busBell = Doorbell()
    let loopStop = StopFlag()
    let busStop = StopFlag()
    let status = BusStatus()
    let stages = StageHistograms()
    let lanes = OutputLanes()

    func deallocate() {
        loopBell.deallocate()
        busBell.deallocate()
        loopStop.deallocate()
        busStop.deallocate()
        status.deallocate()
        stages.deallocate()
        lanes.deallocate()
    }
}

/// Handles of the output threads. The handles exist even if the output threads do not exist.
struct OutputLanes: BitwiseCopyable, Sendable {
    let motors = OutputLane()
    let power = OutputLane()

    func deallocate() {
        motors.deallocate()
        power.deallocate()
    }
}

/// Memory for the state of all real-time threads. The memory is allocated before the threads start,
/// and is freed after the threads have ended. Each state has a separate block. Therefore the
/// threads do not share a cache line.
final class SharedBlock: @unchecked Sendable {
    let settings: RuntimeSettings
    let handles: SharedHandles
    private let loop: UnsafeMutablePointer<ControlLoop>
    private let bus: UnsafeMutablePointer<BusThread>
    private let motors: UnsafeMutablePointer<OutputThread>?
    private let power: UnsafeMutablePointer<OutputThread>?
    private let isAbandoned = Atomic(false)

    init(
        settings: RuntimeSettings, handles: SharedHandles, loop: consuming ControlLoop,
        bus: consuming BusThread, motors: consuming OutputThread?, power: consuming OutputThread?
    ) {
        self.settings = settings
        self.handles = handles
        self.loop = ownLines(ControlLoop.self)
        self.bus = ownLines(BusThread.self)
        self.loop.initialize(to: loop)
        self.bus.initialize(to: bus)
        self.motors = Self.placed(motors)
        self.power = Self.placed(power)
    }

    private static func placed(
        _ thread: consuming OutputThread?
    ) -> UnsafeMutablePointer<OutputThread>? {
        guard let thread else { return nil }
        let place = ownLines(OutputThread.self)
        place.initialize(to: thread)
        return place
    }

    /// State of the loop thread.
    var loopThread: LoopThread {
        LoopThread(loop: loop, bell: handles.loopBell, stop: handles.loopStop)
    }

    /// State of the bus thread.
    var busContext: BusContext { BusContext(bus: bus, stop: handles.busStop) }

    /// State of the thread of the motors' own bus; nil if the motors have no separate bus.
    var motorsContext: OutputContext? { motors.map(OutputContext.init) }

    /// State of the power line's thread; nil without a power line.
    var powerContext: OutputContext? { power.map(OutputContext.init) }

    /// Keeps the memory allocated permanently, because a thread that has not ended still uses the
    /// memory.
    func abandon() { isAbandoned.store(true, ordering: .relaxed) }

    deinit {
        if isAbandoned.load(ordering: .relaxed) { return }
        loop.deinitialize(count: 1)
        bus.deinitialize(count: 1)
        UnsafeMutableRawPointer(loop).deallocate()
        UnsafeMutableRawPointer(bus).deallocate()
        for thread in [motors, power] {
            thread?.deinitialize(count: 1)
            thread.map { UnsafeMutableRawPointer($0).deallocate() }
        }
        handles.deallocate()
    }
}

/// The bus thread's state, to be passed to the thread.
struct BusContext: @unchecked Sendable {
    let bus: UnsafeMutablePointer<BusThread>
    let stop: StopFlag

    func run() { bus.pointee.run(until: stop) }
}

/// State of a thread that only writes outputs, to be passed to the thread.
struct OutputContext: @unchecked Sendable {
    let thread: UnsafeMutablePointer<OutputThread>

    func run() { thread.pointee.run() }
}

/// Allocates memory for one value, on separate cache lines.
private func ownLines<Value: ~Copyable>(_ type: Value.Type) -> UnsafeMutablePointer<Value> {
    let lines = (MemoryLayout<Value>.size + cacheLine - 1) / cacheLine
    return UnsafeMutableRawPointer.allocate(byteCount: lines * cacheLine, alignment: cacheLine)
        .bindMemory(to: Value.self, capacity: 1)
}
