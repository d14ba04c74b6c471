public import Atomics
public import CLinuxShim
public import GimbalCore

/// Doorbell that wakes one waiting thread: a futex that stores one wake-up.
///
/// Any thread can ring the bell; only one thread waits. If `ring` is called before the wait, the
/// wake-up is not lost. Several calls have the same effect as one call. Ringing costs a system call
/// only if the waiter is asleep. Data written before `ring()` is visible after `wait`.
///
/// The value is a handle: copies refer to the same bell. The creator of a doorbell calls
/// `deallocate()` once, after the threads that use it have ended.
@frozen
public struct Doorbell: BitwiseCopyable, @unchecked Sendable {
    /// Reason for the end of a wait.
    public enum Wakeup: UInt8, Sendable, BitwiseCopyable {
        /// The bell was rung.
        case rung
        /// The deadline passed before the bell was rung.
        case timeout
    }

    @usableFromInline let block: UnsafeMutableRawPointer

    /// Creates a bell that has not been rung.
    public init() {
        block = .allocate(byteCount: cacheLine, alignment: cacheLine)
        block.bindMemory(to: UnsafeAtomic<UInt32>.Storage.self, capacity: 1)
            .initialize(to: .init(Self.silent))
    }

    /// Frees the bell. After this call, threads must not use any copy of the bell.
    public func deallocate() { block.deallocate() }

    @inlinable static var silent: UInt32 { 0 }
    @inlinable static var rung: UInt32 { 1 }
    @inlinable static var sleeping: UInt32 { 2 }

    @inlinable
    var word: UnsafeAtomic<UInt32> {
        UnsafeAtomic(at: block.assumingMemoryBound(to: UnsafeAtomic<UInt32>.Storage.self))
    }

    /// Wakes the waiting thread, or makes the next wait return immediately. This method never
    /// waits; any thread can call it.
    @inlinable
    public func ring() {
        let previous = word.exchange(Self.rung, ordering: .acquiringAndReleasing)
        if previous == Self.sleeping { _ = cl_futex_wake(block) }
    }

    /// Sleeps until the bell rings or the deadline passes. Call this method only on the thread that
    /// waits.
    ///
    /// - Parameter deadline: Latest time at which the wait ends, on `MonotonicClock`. If
    ///   the deadline is in the past, the bell is checked once without sleeping.
    /// - Returns: `rung` if the bell was rung, even if the deadline has also passed.
    @inlinable
    public func wait(until deadline: Instant) -> Wakeup {
        while true {
            let (canSleep, found) = word.compareExchange(
                expected: Self.silent, desired: Self.sleeping,
                successOrdering: .acquiringAndReleasing, failureOrdering: .acquiring)
            if !canSleep && found == Self.rung {
                // An atomic exchange is used instead of a store, because another thread can ring at
                // the same moment. The earlier writes of the ringing thread must also become
                // visible.
                _ = word.exchange(Self.silent, ordering: .acquiringAndReleasing)
                return .rung
            }
            let result = cl_futex_wait_until(block, Self.sleeping, deadline.nanoseconds)
            if word.exchange(Self.silent, ordering: .acquiringAndReleasing) == Self.rung {
                return .rung
            }
            if result == timedOut { return .timeout }
        }
    }
}

/// Number of the error ETIMEDOUT, which is the same on every Linux with Swift. The modules that
/// this file imports do not define the macro.
@inlinable var timedOut: Int32 { 110 }
