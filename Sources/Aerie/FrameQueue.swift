import Dispatch
import FoundationEssentials
import Synchronization

/// Queue of frames that wait for `AerieWorker`. The queue contains only the newest frame of each
/// phone. Therefore the queue has bounded memory, and old pictures are never examined. The class is
/// thread-safe.
final class FrameQueue: Sendable {
    /// Received frame of a phone.
    struct Item: Sendable {
        let device: AerieDevice
        /// JSON text of a `CameraFrame`.
        let payload: Data
        /// Time of the frame's arrival on CLOCK_MONOTONIC, s.
        let arrival: Double
    }

    private struct State {
        /// Waiting frames, at most one for each phone. The phone that has waited longest is first.
        var waiting: [Item] = []
        var replaced = 0
        var taken = 0
    }

    private let state = Mutex(State())
    private let signal = DispatchSemaphore(value: 0)

    /// Number of frames that a newer frame of the same phone replaced, and number of frames that
    /// `AerieWorker` took.
    var counts: (replaced: Int, taken: Int) { state.withLock { ($0.replaced, $0.taken) } }

    /// Adds a frame to the queue, or replaces the phone's waiting frame.
    func put(_ item: Item) {
        let isNew = state.withLock { state in
            if let index = state.waiting.firstIndex(where: { $0.device === item.device }) {
                state.waiting[index] = item
                state.replaced += 1
                return false
            }
            state.waiting.append(item)
            return true
        }
        if isNew { signal.signal() }
    }

    /// Removes and returns the first frame in the queue; nil if no frame arrives within `seconds`.
    func take(within seconds: Double) -> Item? {
        guard signal.wait(timeout: .now() + seconds) == .success else { return nil }
        return state.withLock { state in
            guard !state.waiting.isEmpty else { return nil }
            state.taken += 1
            return state.waiting.removeFirst()
        }
    }

    /// Drops the frame of a disconnected phone.
    func drop(_ device: AerieDevice) {
        state.withLock { $0.waiting.removeAll { $0.device === device } }
    }
}
