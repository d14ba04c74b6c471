internal import Synchronization

/// The handles that several threads hold.
struct SharedHandles: BitwiseCopyable, Sendable {
    let loopBell = Doorbell()
    let busBell = Doorbell()
    let loopStop = StopFlag()
    let busStop = StopFlag()
    let status = BusStatus()
    let stages = StageHistograms()

    func deallocate() {
        loopBell.deallocate()
        busBell.deallocate()
        loopStop.deallocate()
        busStop.deallocate()
        status.deallocate()
        stages.deallocate()
    }
}

/// Owns what the two threads work on, from before they start until after they have ended. Each of the two states has a
/// block of its own, so that the threads share no cache line by accident.
final class SharedBlock: @unchecked Sendable {
    let settings: RuntimeSettings
    let handles: SharedHandles
    private let loop: UnsafeMutablePointer<ControlLoop>
    private let bus: UnsafeMutablePointer<BusThread>
    private let isAbandoned = Atomic(false)

    init(
        settings: RuntimeSettings, handles: SharedHandles, loop: consuming ControlLoop,
        bus: consuming BusThread
    ) {
        self.settings = settings
        self.handles = handles
        self.loop = ownLines(ControlLoop.self)
        self.bus = ownLines(BusThread.self)
        self.loop.initialize(to: loop)
        self.bus.initialize(to: bus)
    }

    /// What the loop thread runs.
    var loopThread: LoopThread {
        LoopThread(loop: loop, bell: handles.loopBell, stop: handles.loopStop)
    }

    /// What the bus thread runs.
    var busContext: BusContext { BusContext(bus: bus, stop: handles.busStop) }

    /// A thread could not be joined: what it uses must outlive it, and so is never freed.
    func abandon() { isAbandoned.store(true, ordering: .relaxed) }

    deinit {
        if isAbandoned.load(ordering: .relaxed) { return }
        loop.deinitialize(count: 1)
        bus.deinitialize(count: 1)
        UnsafeMutableRawPointer(loop).deallocate()
        UnsafeMutableRawPointer(bus).deallocate()
        handles.deallocate()
    }
}

/// The bus thread's state on its way into the thread.
struct BusContext: @unchecked Sendable {
    let bus: UnsafeMutablePointer<BusThread>
    let stop: StopFlag

    func run() { bus.pointee.run(until: stop) }
}

/// Memory for one value, alone on its cache lines.
private func ownLines<Value: ~Copyable>(_ type: Value.Type) -> UnsafeMutablePointer<Value> {
    let lines = (MemoryLayout<Value>.size + cacheLine - 1) / cacheLine
    return UnsafeMutableRawPointer.allocate(byteCount: lines * cacheLine, alignment: cacheLine)
        .bindMemory(to: Value.self, capacity: 1)
}
