internal import Synchronization

/// The handles that several threads hold.
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

/// The handles of the threads that only write. They are there whether or not the threads are.
struct OutputLanes: BitwiseCopyable, Sendable {
    let motors = OutputLane()
    let power = OutputLane()

    func deallocate() {
        motors.deallocate()
        power.deallocate()
    }
}

/// Owns what the two threads work on, from before they start until after they have ended. Each of
/// the two states has a block of its own, so that the threads share no cache line by accident.
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

    /// What the loop thread runs.
    var loopThread: LoopThread {
        LoopThread(loop: loop, bell: handles.loopBell, stop: handles.loopStop)
    }

    /// What the bus thread runs.
    var busContext: BusContext { BusContext(bus: bus, stop: handles.busStop) }

    /// What the thread of the motors' own bus runs; nil without one.
    var motorsContext: OutputContext? { motors.map(OutputContext.init) }

    /// What the thread of the power line runs; nil without one.
    var powerContext: OutputContext? { power.map(OutputContext.init) }

    /// A thread could not be joined: what it uses must outlive it, and so is never freed.
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

/// The bus thread's state on its way into the thread.
struct BusContext: @unchecked Sendable {
    let bus: UnsafeMutablePointer<BusThread>
    let stop: StopFlag

    func run() { bus.pointee.run(until: stop) }
}

/// The state of a thread that only writes, on its way into the thread.
struct OutputContext: @unchecked Sendable {
    let thread: UnsafeMutablePointer<OutputThread>

    func run() { thread.pointee.run() }
}

/// Memory for one value, alone on its cache lines.
private func ownLines<Value: ~Copyable>(_ type: Value.Type) -> UnsafeMutablePointer<Value> {
    let lines = (MemoryLayout<Value>.size + cacheLine - 1) / cacheLine
    return UnsafeMutableRawPointer.allocate(byteCount: lines * cacheLine, alignment: cacheLine)
        .bindMemory(to: Value.self, capacity: 1)
}
