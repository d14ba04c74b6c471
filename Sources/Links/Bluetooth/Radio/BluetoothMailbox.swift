import Synchronization
import Wire

/// What other threads ask of the radio.
enum RadioRequest: Equatable {
    /// New keys may be made for this long; 0 ends it.
    case allowPairing(seconds: Double)
    /// The keys of the device with this address are forgotten.
    case forget(address: String)
    /// A write that was left for later is done, or refused.
    case answer(token: UInt64, ATTError?)
}

/// Where the radio's thread and the others meet: the newest status one way, requests the other.
final class BluetoothMailbox: Sendable {
    private struct Contents {
        var status = BluetoothStatus()
        var requests: [RadioRequest] = []
    }

    private let contents = Mutex(Contents())
    /// Readable when there are requests.
    let bell: Bell

    /// - Throws: `Errno` when the process has no descriptors left.
    init() throws { bell = try Bell() }

    /// The newest status.
    var status: BluetoothStatus { contents.withLock { $0.status } }

    /// Replaces the status; the radio's thread only.
    func publish(_ status: BluetoothStatus) { contents.withLock { $0.status = status } }

    /// Leaves a request and wakes the radio's thread.
    func post(_ request: RadioRequest) {
        contents.withLock { $0.requests.append(request) }
        bell.ring()
    }

    /// Takes the requests; the radio's thread only.
    func take() -> [RadioRequest] {
        bell.silence()
        return contents.withLock { contents in
            defer { contents.requests = [] }
            return contents.requests
        }
    }
}
