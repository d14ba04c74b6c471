internal import GimbalCore
internal import Synchronization

/// An ordinary thread for jobs that may wait for as long as they like: a disk, a pipe that nobody
/// reads. Jobs run one after the other, in the order in which they came; a caller never waits for
/// one.
///
/// The thread begins with the first job, and ends with its worker.
public final class Worker: Sendable {
    /// What is to be done.
    public typealias Job = @Sendable () -> Void

    /// What caller and thread share; it outlives a worker whose thread hangs.
    private final class Queue: Sendable {
        struct Contents {
            var jobs: [Job] = []
            var isEnding = false
            var isStarted = false
            var thread: RealtimeThread?
        }

        let contents = Mutex(Contents())
        let bell = Doorbell()

        deinit { bell.deallocate() }

        func run() {
            while let job = next() { job() }
        }

        private func next() -> Job? {
            while true {
                let (job, isEnding) = contents.withLock { contents in
                    let job = contents.jobs.isEmpty ? nil : contents.jobs.removeFirst()
                    return (job, contents.isEnding)
                }
                if let job { return job }
                if isEnding { return nil }
                _ = bell.wait(until: Instant(nanoseconds: .max))
            }
        }
    }

    /// What the thread's end may take when its worker goes away, s.
    private static let patience = 1.0

    private let queue = Queue()
    private let configuration: ThreadConfiguration
    private let capacity: Int

    /// A worker without jobs.
    ///
    /// - Parameters:
    ///   - configuration: The thread's wishes.
    ///   - capacity: Jobs that may wait.
    public init(_ configuration: ThreadConfiguration, capacity: Int) {
        self.configuration = configuration
        self.capacity = capacity
    }

    deinit { end(within: Self.patience) }

    /// Has a job done. Never waits; any ordinary thread.
    ///
    /// - Parameter job: Runs on the worker's thread; on the caller's where the process can have no
    ///   further thread.
    /// - Returns: Whether it will be done; false while `capacity` jobs wait, and after the end.
    @discardableResult
    public func post(_ job: @escaping Job) -> Bool {
        let (isTaken, isFirst) = queue.contents.withLock { contents in
            guard !contents.isEnding, contents.jobs.count < capacity else { return (false, false) }
            contents.jobs.append(job)
            defer { contents.isStarted = true }
            return (true, !contents.isStarted)
        }
        guard isTaken else { return false }
        if isFirst { start() } else { queue.bell.ring() }
        return true
    }

    private func start() {
        let queue = queue
        do throws(ThreadError) {
            let thread = try RealtimeThread(configuration) { queue.run() }
            queue.contents.withLock { $0.thread = thread }
        } catch {
            let jobs = queue.contents.withLock { contents in
                contents.isStarted = false
                defer { contents.jobs = [] }
                return contents.jobs
            }
            for job in jobs { job() }
        }
    }

    /// Does what waits, and ends the thread. Later jobs are refused.
    ///
    /// - Parameter seconds: How long that may take.
    /// - Returns: Whether everything was done; otherwise the thread is left to what it waits for.
    @discardableResult
    public func end(within seconds: Double) -> Bool {
        let thread = queue.contents.withLock { contents in
            contents.isEnding = true
            return contents.thread.take()
        }
        guard let thread else { return true }
        queue.bell.ring()
        return thread.join(until: MonotonicClock.now.advanced(bySeconds: seconds))
    }
}
