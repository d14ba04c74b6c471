import CLinuxShim
import GimbalCore
import Glibc
import Logging
import SystemPackage

/// Descriptors that a thread waits for in one round, and the latest end of the wait.
struct PollSet {
    /// Longest wait, s.
    private static let longest = 3600.0

    private var entries: [pollfd] = []
    private var end: Instant

    fileprivate init(_ wake: FileDescriptor, now: Instant) {
        end = now.advanced(bySeconds: Self.longest)
        add(wake)
    }

    /// Adds a descriptor with the events that it is asked for; nil: a place without one.
    mutating func add(_ descriptor: FileDescriptor?, _ events: Int32 = POLLIN) {
        add(
            descriptor.map { pollfd(fd: $0.rawValue, events: Int16(events), revents: 0) })
    }

    /// Adds an entry; nil: a place without one.
    mutating func add(_ entry: pollfd?) {
        // poll(2) skips a negative descriptor.
        entries.append(entry ?? pollfd(fd: -1, events: 0, revents: 0))
    }

    /// Ends the wait at this time at the latest; a time in the past: at once.
    mutating func end(by time: Instant?) {
        if let time, time < end { end = time }
    }

    /// Events of the n-th descriptor that was added, from 1.
    subscript(place: Int) -> Int32 { Int32(entries[place].revents) }

    /// - Returns: 0 or an errno.
    fileprivate mutating func wait(_ now: Instant) -> Int32 {
        // Not by subtraction alone: a time in the past may be as early as there is. One more than
        // the difference: not a moment too early, so that the time has come then.
        let rest = end <= now ? 0 : end.nanoseconds - now.nanoseconds + 1
        var ready: Int32 = 0
        return cl_socket_wait(&entries, entries.count, rest, &ready)
    }
}

/// The loop of every link's thread: poll(2) over the descriptors of the link, until the thread must
/// end.
struct PollLoop {
    /// Descriptor that becomes readable when the thread must end.
    let wake: FileDescriptor
    /// Clock of the waits.
    var clock: @Sendable () -> Instant = { Instant(nanoseconds: cl_now_ns()) }
    /// Receiver of errors of poll(2).
    var logger: Logger?

    /// Runs rounds until `wake` is readable.
    ///
    /// - Parameters:
    ///   - prepare: Adds descriptors and the time of the next action.
    ///   - turn: Handles the events.
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

/// A listening socket whose connections are accepted one by one, with a pause while the process has
/// no descriptor left.
struct Acceptor {
    /// Pause, s: the listener stays readable meanwhile, so that without a pause the thread would
    /// spin.
    private static let pauseSeconds = 1.0

    let listener: SocketListener
    /// The kind of client, for the log.
    let client: String
    /// End of the pause; nil: none.
    private(set) var pause: Instant?

    init(_ listener: SocketListener, client: String) {
        self.listener = listener
        self.client = client
    }

    /// Adds the listener, or the end of the pause.
    mutating func prepare(_ set: inout PollSet, now: Instant) {
        if let end = pause, now >= end { pause = nil }
        set.add(pause == nil ? listener.descriptor : nil)
        set.end(by: pause)
    }

    /// The next connection; nil: no client waits, or none can be accepted.
    mutating func next(now: Instant, _ logger: Logger) -> FileDescriptor? {
        while true {
            var raw: Int32 = -1
            let error = cl_socket_accept(listener.descriptor.rawValue, &raw)
            switch error {
            case 0: return FileDescriptor(rawValue: raw)
            case EAGAIN: return nil
            // The client gave up before its turn came.
            case ECONNABORTED: continue
            default:
                logger.warning("Cannot accept a \(client): \(Errno(rawValue: error)).")
                pause = now.advanced(bySeconds: Self.pauseSeconds)
                return nil
            }
        }
    }

    /// Ends the pause: a descriptor is free again.
    mutating func resume() { pause = nil }
}
