public import Atomics
public import CLinuxShim
public import GimbalCore

/// Wakes one waiting thread: a futex that remembers one ring.
///
/// Any thread may ring; one thread waits. A ring that comes before the wait is not lost, several
/// become one. Ringing costs a system call only when the waiter is asleep. What was written before
/// `ring()` is visible after `wait`.
///
/// A plain handle: copies mean the same bell. Whoever made it calls `deallocate()` once, after the
/// threads that use it have ended.
@frozen
public struct Doorbell: BitwiseCopyable, @unchecked Sendable {
    /// Why a wait ended.
    public enum Wakeup: UInt8, Sendable, BitwiseCopyable {
        /// Somebody rang.
        case rung
        /// The deadline passed first.
        case timeout
    }

    @usableFromInline let block: UnsafeMutableRawPointer

    /// A silent bell.
    public init() {
        block = .allocate(byteCount: cacheLine, alignment: cacheLine)
        block.bindMemory(to: UnsafeAtomic<UInt32>.Storage.self, capacity: 1)
            .initialize(to: .init(Self.silent))
    }

    /// Frees the bell. No thread may use any copy of it from here on.
    public func deallocate() { block.deallocate() }

    @inlinable static var silent: UInt32 { 0 }
    @inlinable static var rung: UInt32 { 1 }
    @inlinable static var sleeping: UInt32 { 2 }

    @inlinable
    var word: UnsafeAtomic<UInt32> {
        UnsafeAtomic(at: block.assumingMemoryBound(to: UnsafeAtomic<UInt32>.Storage.self))
    }

    /// Wakes the waiter, or lets its next wait return at once. Never waits; any thread.
    @inlinable
    public func ring() {
        let previous = word.exchange(Self.rung, ordering: .acquiringAndReleasing)
        if previous == Self.sleeping { _ = cl_futex_wake(block) }
    }

    /// Sleeps until the bell rings or the deadline passes. The waiting thread only.
    ///
    /// - Parameter deadline: On `MonotonicClock`. In the past: looks once, does not sleep.
    /// - Returns: `rung` whenever there was a ring, also when the deadline has passed as well.
    @inlinable
    public func wait(until deadline: Instant) -> Wakeup {
        while true {
            let (canSleep, found) = word.compareExchange(
                expected: Self.silent, desired: Self.sleeping,
                successOrdering: .acquiringAndReleasing, failureOrdering: .acquiring)
            if !canSleep && found == Self.rung {
                // An exchange, not a store: a ring in between must be taken in with what was
                // written before it.
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

/// ETIMEDOUT, which is the same number on every Linux that Swift runs on; the macro is outside this
/// module's imports.
@inlinable var timedOut: Int32 { 110 }
