import Client
import Glibc
import Synchronization
import SystemPackage
import Threads
import Wire

/// Queue that passes the client's messages from the reading thread to the server's thread. The
/// queue is bounded: while it is full, further requests are refused.
final class Inbox: Sendable {
    /// Entry of the queue.
    enum Entry: Sendable, Equatable {
        /// A line from the client.
        case message([UInt8])
        /// The client's line was too long, and has been discarded.
        case tooLong
        /// An emergency stop has been sent; the rotation and the shot have ended.
        case stopped
        /// The client has closed its output.
        case end
        /// The queue is empty.
        case none
    }

    private struct Waiting: Sendable {
        var entry: Entry
        /// ID of a request; nil for other messages.
        var id: JSONValue?
        /// True for a call of the tool `reset_stop`.
        var isReset = false
    }

    private struct State: Sendable {
        var waiting: [Waiting] = []
        /// ID of the request that the server is processing; nil if there is none.
        var current: JSONValue?
        /// True if the client has cancelled the request `current`.
        var isCancelled = false
        /// True if `current` is a call of the tool `reset_stop`.
        var isResetting = false
        /// True if an emergency stop was requested while `current` was a call of `reset_stop`.
        var mustStop = false
        var hasEnded = false
    }

    /// Largest number of waiting entries.
    static let capacity = 256

    private let state = Mutex(State())
    private let bell: WakeupPipe
    private let interruption: WakeupPipe

    /// Creates an empty queue.
    ///
    /// - Parameter interruption: Signal that ends the server's wait for the daemon.
    /// - Throws: `Errno` if the process has no free descriptors.
    init(interruption: WakeupPipe) throws {
        self.interruption = interruption
        bell = try WakeupPipe()
    }

    // MARK: The reading thread

    /// Adds a message.
    ///
    /// - Returns: The error reply to a request if the queue is full; otherwise empty.
    func add(_ entry: Entry, id: JSONValue? = nil, isReset: Bool = false) -> [[UInt8]] {
        let isAdded = state.withLock { state in
            guard state.waiting.count < Self.capacity else { return false }
            state.waiting.append(Waiting(entry: entry, id: id, isReset: isReset))
            return true
        }
        bell.ring()
        guard !isAdded, let id else { return [] }
        let failure = RPCFailure(
            .internalError,
            "\(Self.capacity) requests are waiting. Wait for their answers before the next request."
        )
        return [RPCMessage.error(failure, id: id)]
    }

    /// Removes the waiting calls of `reset_stop`, because an emergency stop is sent next: the calls
    /// were sent before the stop, and must not reset it. If the server is processing such a call,
    /// `finish` requests another stop.
    ///
    /// - Returns: The error replies to the removed calls.
    func removeResets() -> [[UInt8]] {
        let resets = state.withLock { state in
            let resets = state.waiting.filter(\.isReset).compactMap(\.id)
            state.waiting.removeAll(where: \.isReset)
            if state.isResetting { state.mustStop = true }
            return resets
        }
        return resets.map(Self.notReset)
    }

    private static func notReset(_ id: JSONValue) -> [UInt8] {
        let failure = RPCFailure(
            .internalError,
            "The stop was not reset: an emergency stop was requested after this call of reset_stop."
        )
        return RPCMessage.error(failure, id: id)
    }

    private static func perhapsReset(_ id: JSONValue) -> [UInt8] {
        let failure = RPCFailure(
            .internalError,
            "This call of reset_stop can have reset the emergency stop that was requested during the call, and the stop could not be sent again. Call stop again."
        )
        return RPCMessage.error(failure, id: id)
    }

    /// Adds an emergency stop, which has been sent, before all waiting messages.
    func addStop() {
        state.withLock { state in
            // One entry suffices for any number of stops, so the queue stays bounded.
            if state.waiting.first?.entry != .stopped {
                state.waiting.insert(Waiting(entry: .stopped), at: 0)
            }
        }
        bell.ring()
    }

    /// Cancels a request, which is then not answered. A waiting request is removed from the queue.
    /// If the server is processing the request, its wait for the daemon ends. Unless the request
    /// was waiting, the notification is put first in the queue, because a cancellation also ends a
    /// rotation.
    ///
    /// - Parameters:
    ///   - id: ID of the request.
    ///   - line: The notification.
    func cancel(_ id: JSONValue, _ line: [UInt8]) {
        state.withLock { state in
            if let index = state.waiting.firstIndex(where: { $0.id == id }) {
                state.waiting.remove(at: index)
                return
            }
            if state.current == id {
                state.isCancelled = true
                interruption.ring()
            }
            // A cancellation can end a rotation, so it has a place also while requests are refused.
            if state.waiting.count < 2 * Self.capacity {
                state.waiting.insert(Waiting(entry: .message(line)), at: 0)
            }
        }
        bell.ring()
    }

    /// Reports that the client has closed its output.
    func end() {
        state.withLock { $0.hasEnded = true }
        bell.ring()
    }

    // MARK: The server's thread

    /// Removes and returns the first entry. A removed request is the current request until `finish`
    /// is called.
    func take() -> Entry {
        state.withLock { state in
            guard !state.waiting.isEmpty else { return state.hasEnded ? .end : .none }
            let first = state.waiting.removeFirst()
            state.current = first.id
            state.isResetting = first.isReset
            return first.entry
        }
    }

    /// Waits for an entry.
    ///
    /// - Parameter deadline: Time at which the wait ends, s (CLOCK_MONOTONIC); nil = no limit.
    func wait(until deadline: Double?) {
        var entry = pollfd(fd: bell.descriptor.rawValue, events: Int16(POLLIN), revents: 0)
        let rest = deadline.map { max(0, $0 - DaemonClient.now()) }
        // The timeout is rounded up. Therefore the deadline has passed when `poll` returns.
        poll(&entry, 1, rest.map { Int32(($0 * 1000).rounded(.up)) } ?? -1)
        bell.silence()
    }

    /// Ends the processing of the current request.
    ///
    /// - Parameters:
    ///   - answers: The server's answers.
    ///   - sendStop: Function that sends an emergency stop, and returns false if the stop failed. The
    ///     function is called if the request was a call of `reset_stop` during which an emergency
    ///     stop was requested, because the call can have reset this stop.
    /// - Returns: The answers for the client, without the answer to a cancelled request.
    func finish(_ answers: [[UInt8]], sendStop: () -> Bool) -> [[UInt8]] {
        let (id, isCancelled, mustStop): (JSONValue?, Bool, Bool) = state.withLock { state in
            defer {
                (state.current, state.isResetting) = (nil, false)
                (state.isCancelled, state.mustStop) = (false, false)
                interruption.silence()
            }
            return (state.current, state.isCancelled, state.mustStop)
        }
        guard let id, isCancelled || mustStop else { return answers }
        let isStopped = !mustStop || sendStop()
        let others = answers.filter { (try? JSONValue(parsing: $0))?["id"] != id }
        if isCancelled { return others }
        return others + [isStopped ? Self.notReset(id) : Self.perhapsReset(id)]
    }
}
