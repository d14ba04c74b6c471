internal import Atomics
internal import GimbalCore

/// Health of a bus thread, for other threads. The status consists of atomic words that only the bus
/// thread writes.
///
/// The value is a handle to shared memory, which the runtime frees after the threads have ended.
struct BusStatus: BitwiseCopyable, @unchecked Sendable {
    private typealias Cell = UnsafeAtomic<UInt64>
    private let cells: UnsafeMutablePointer<Cell.Storage>

    private enum Word: Int, CaseIterable {
        case errors, lastError, lastErrorTime, overruns, silences, isOff
        case failedReads, failedWrites, conditions, turn
    }

    init() {
        cells = .allocate(capacity: Word.allCases.count)
        for word in Word.allCases { (cells + word.rawValue).initialize(to: .init(0)) }
    }

    func deallocate() { cells.deallocate() }

    private func cell(_ word: Word) -> Cell { Cell(at: cells + word.rawValue) }

    private func load(_ word: Word) -> UInt64 { cell(word).load(ordering: .relaxed) }

    private func add(_ count: UInt64, to word: Word) {
        cell(word).store(load(word) &+ count, ordering: .relaxed)
    }

    // MARK: Bus thread

    func note(_ error: BusError, now: Instant) {
        add(1, to: .errors)
        cell(.lastError).store(error.packed, ordering: .relaxed)
        cell(.lastErrorTime).store(UInt64(bitPattern: now.nanoseconds), ordering: .relaxed)
        switch error.operation {
        case .read: add(1, to: .failedReads)
        case .write, .off: add(1, to: .failedWrites)
        }
    }

    func noteSuccess(of operation: BusError.Operation) {
        switch operation {
        case .read: cell(.failedReads).store(0, ordering: .relaxed)
        case .write: cell(.failedWrites).store(0, ordering: .relaxed)
        case .off: cell(.isOff).store(1, ordering: .relaxed)
        }
    }

    func note(_ conditions: Conditions) {
        cell(.conditions).store(conditions.rawValue, ordering: .relaxed)
    }

    func noteOverruns(_ count: UInt64) { add(count, to: .overruns) }
    func noteSilence() { add(1, to: .silences) }
    /// Records that the thread is about to wait for the loop. A thread that does not call this
    /// method regularly is treated as hung.
    func noteTurn(_ now: Instant) {
        cell(.turn).store(UInt64(bitPattern: now.nanoseconds), ordering: .relaxed)
    }

    // MARK: Any thread

    /// Conditions for faults of sensors other than the camera's sensor.
    var conditions: Conditions {
        Conditions(rawValue: load(.conditions))
    }
    var errors: UInt64 { load(.errors) }
    /// Number of consecutive failed attempts up to now: the larger of the numbers for reads and for
    /// writes; a switch-off counts as a write.
    var consecutiveErrors: UInt64 { max(load(.failedReads), load(.failedWrites)) }
    var overruns: UInt64 { load(.overruns) }
    var silences: UInt64 { load(.silences) }
    var lastError: BusError? { BusError(packed: load(.lastError)) }
    /// The status that explains a present bus error: the one with more consecutive errors; if the
    /// numbers are equal, the one with the newer error.
    func worse(of other: BusStatus) -> BusStatus {
        let (own, others) = (consecutiveErrors, other.consecutiveErrors)
        guard own == others else { return own > others ? self : other }
        return load(.lastErrorTime) >= other.load(.lastErrorTime) ? self : other
    }
    /// The newest error of a bus that fails at present, if it differs from the error of `worst`.
    func failure(besides worst: BusStatus) -> BusError? {
        guard consecutiveErrors > 0, load(.lastError) != worst.load(.lastError) else { return nil }
        return lastError
    }
    /// True if the thread has not called `noteTurn` for the given time; false before its first
    /// call.
    func isHanging(now: Instant, seconds: Double) -> Bool {
        let turn = Instant(nanoseconds: Int64(bitPattern: load(.turn)))
        return turn.nanoseconds != 0 && now.seconds(since: turn) > seconds
    }
    /// True if the motors confirmed at the end of the thread that they are off.
    var isOff: Bool { load(.isOff) != 0 }
}

/// Flag with which one thread requests another thread to end. The value is a handle to shared
/// memory, which the runtime frees.
struct StopFlag: BitwiseCopyable, @unchecked Sendable {
    private let word: UnsafeAtomic<Bool>

    init() { word = .create(false) }
    func deallocate() { word.destroy() }

    var isSet: Bool { word.load(ordering: .acquiring) }
    func set() { word.store(true, ordering: .releasing) }
}
