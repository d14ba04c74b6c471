import Dispatch
import FoundationEssentials
import Synchronization

/// Newest frame of each phone that waits to be examined. A newer frame replaces the waiting one, so
/// memory does not grow and no old picture is examined. Thread-safe.
final class FrameDesk: Sendable {
    /// Frame of a phone.
    struct Item: Sendable {
        let device: AerieDevice
        /// JSON text of a `CameraFrame`.
        let payload: Data
        /// Time of arrival on CLOCK_MONOTONIC, s.
        let arrival: Double
    }

    private struct State {
        /// In the order of arrival of each phone's first waiting frame.
        var waiting: [Item] = []
        var replaced = 0
        var taken = 0
    }

    private let state = Mutex(State())
    private let signal = DispatchSemaphore(value: 0)

    /// Number of frames that a newer one replaced, and of those that were examined.
    var counts: (replaced: Int, taken: Int) { state.withLock { ($0.replaced, $0.taken) } }

    /// Puts a frame on the desk.
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

    /// Takes the frame of the phone that has waited longest; nil after `seconds` without one.
    func take(within seconds: Double) -> Item? {
        guard signal.wait(timeout: .now() + seconds) == .success else { return nil }
        return state.withLock { state in
            guard !state.waiting.isEmpty else { return nil }
            state.taken += 1
            return state.waiting.removeFirst()
        }
    }

    /// Drops the frame of a phone that has left.
    func drop(_ device: AerieDevice) {
        state.withLock { $0.waiting.removeAll { $0.device === device } }
    }
}
