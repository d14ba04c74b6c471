internal import GimbalCore
internal import Synchronization

/// Ordinary thread for jobs that can block for any time, such as writes to a disk or to a pipe
/// without a reader. Jobs run one after the other, in the order of arrival; a caller never waits
/// for a job.
///
/// The thread starts with the first job, and ends when its `Worker` ends or is released.
public final class Worker: Sendable {
    /// Job that the worker's thread executes.
    public typealias Job = @Sendable () -> Void

    /// State that callers and the thread share. The state remains in memory if the worker is
    /// released while its thread hangs in a job.
    private final class Queue: Sendable {
        struct Contents {
            var jobs: [Job] = []
            var isEnding = false
            /// The thread; nil before the first job and after the end.
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

    /// Longest time to wait for the thread's end when the worker is released, s.
    private static let patience = 1.0

    private let queue = Queue()
    private let configuration: ThreadConfiguration
    private let capacity: Int

    /// Creates a worker without jobs.
    ///
    /// - Parameters:
    ///   - configuration: Configuration of the thread.
    ///   - capacity: Number of jobs that can wait.
    public init(_ configuration: ThreadConfiguration, capacity: Int) {
        self.configuration = configuration
        self.capacity = capacity
    }

    deinit { end(within: Self.patience) }

    /// Adds a job. The method does not wait for earlier jobs; any ordinary thread can call it.
    ///
    /// - Parameter job: Job to run on the worker's thread; if no further thread can be created, the
    ///   job runs on the caller's thread.
    /// - Returns: True if the job was accepted; false while `capacity` jobs wait, and after the end
    ///   of the worker.
    @discardableResult
    public func post(_ job: @escaping Job) -> Bool {
        let queue = queue
        let (isTaken, isThreadMissing): (Bool, Bool) = queue.contents.withLock { contents in
            guard !contents.isEnding, contents.jobs.count < capacity else { return (false, false) }
            // The thread starts while the lock is held, so that `end` always finds the thread of an
            // accepted job.
            if contents.thread == nil {
                do throws(ThreadError) {
                    contents.thread = try RealtimeThread(configuration) { queue.run() }
                } catch {
                    return (true, true)
                }
            }
            contents.jobs.append(job)
            return (true, false)
        }
        guard isTaken else { return false }
        if isThreadMissing { job() } else { queue.bell.ring() }
        return true
    }

    /// Completes the waiting jobs, and ends the thread. Jobs that are added later are refused.
    ///
    /// - Parameter seconds: Longest duration, s.
    /// - Returns: True if all jobs were completed; otherwise the thread is still blocked in a job.
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
