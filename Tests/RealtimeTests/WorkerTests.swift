import GimbalCore
import Synchronization
import Testing

@testable import Realtime

@Suite("Ordinary thread for jobs that can block") struct WorkerTests {
    /// Progress of the thread that posts a job.
    private final class Progress: Sendable {
        let hasBegun = Atomic(false)
        let isAccepted = Atomic(false)
        let isDone = Atomic(false)
    }

    @Test("the end waits for every accepted job, even if the thread is just being started")
    func endDuringStart() throws {
        var lost = 0
        for round in 0..<300 {
            let worker = Worker(ThreadTable.state, capacity: 4)
            let progress = Progress()
            let client = try RealtimeThread(ThreadConfiguration(name: "test", priority: nil)) {
                progress.hasBegun.store(true, ordering: .releasing)
                let isAccepted = worker.post {
                    progress.isDone.store(true, ordering: .releasing)
                }
                progress.isAccepted.store(isAccepted, ordering: .releasing)
            }
            while !progress.hasBegun.load(ordering: .acquiring) { yieldThread() }
            for _ in 0..<round % 50 { yieldThread() }
            #expect(worker.end(within: 10))
            let isDone = progress.isDone.load(ordering: .acquiring)
            #expect(client.join(until: .minuteAhead))
            if progress.isAccepted.load(ordering: .acquiring), !isDone { lost += 1 }
        }
        #expect(lost == 0)
    }
}
