import CLinuxShim
import GimbalCore
import Glibc
import Logging
import SystemPackage

/// Descriptors for one call of poll(2), and the time at which the call must return.
struct PollSet {
    /// Longest wait, s.
    private static let longest = 3600.0

    private var entries: [pollfd] = []
    private var end: Instant

    fileprivate init(_ wake: FileDescriptor, now: Instant) {
        end = now.advanced(bySeconds: Self.longest)
        add(wake)
    }

    /// Adds a descriptor and the events for which poll(2) waits. If the descriptor is nil, its
    /// place in the list stays empty.
    mutating func add(_ descriptor: FileDescriptor?, _ events: Int32 = POLLIN) {
        add(
            descriptor.map { pollfd(fd: $0.rawValue, events: Int16(events), revents: 0) })
    }

    /// Adds one entry for poll(2). If the entry is nil, its place in the list stays empty.
    mutating func add(_ entry: pollfd?) {
        // poll(2) skips a negative descriptor.
        entries.append(entry ?? pollfd(fd: -1, events: 0, revents: 0))
    }

    /// Sets the latest time at which the wait ends. If `time` has already passed, the call does not
    /// wait.
    mutating func end(by time: Instant?) {
        if let time, time < end { end = time }
    }

    /// Events that poll(2) has returned for an entry; `place` is the number of the `add` call,
    /// counted from 1.
    subscript(place: Int) -> Int32 { Int32(entries[place].revents) }

    /// Waits for an event of the descriptors.
    ///
    /// - Returns: 0 or an errno.
    fileprivate mutating func wait(_ now: Instant) -> Int32 {
        // The times are compared first, because subtracting the earliest possible instant would
        // overflow. The wait is one nanosecond longer than the remaining time, to prevent an early
        // wake-up.
        let rest = end <= now ? 0 : end.nanoseconds - now.nanoseconds + 1
        var ready: Int32 = 0
        return cl_socket_wait(&entries, entries.count, rest, &ready)
    }
}

/// Loop of a link's thread: calls poll(2) with the link's descriptors until the thread must end.
struct PollLoop {
    /// Descriptor that becomes readable when the thread must end.
    let wake: FileDescriptor
    /// Clock that determines the end of a wait.
    var clock: @Sendable () -> Instant = LinkClock.now
    /// Log that receives errors of poll(2).
    var logger: Logger?

    /// Repeats the loop until `wake` is readable.
    ///
    /// - Parameters:
    ///   - prepare: Function that adds the descriptors and the time of the next action.
    ///   - turn: Function that handles the events after each wait.
    func run(_ prepare: (inout PollSet) -> Void, turn: (PollSet) -> Void) {
        while true {
            var set = PollSet(wake, now: clock())
            prepare(&set)
            let error = set.wait(clock())
            if error != 0 { logger?.error("poll: \(Errno(rawValue: error))") }
            if set[0] != 0 { return }
            turn(set)
        }
    }
}
