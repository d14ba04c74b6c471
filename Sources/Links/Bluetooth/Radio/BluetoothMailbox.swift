import Synchronization
import Threads
import Wire

/// Request of another thread to the Bluetooth thread.
enum RadioRequest: Equatable {
    /// Allow pairing for the given time in seconds; 0 ends the permission.
    case allowPairing(seconds: Double)
    /// Remove the keys of the device with this address.
    case forget(address: String)
    /// Answer a deferred write with success or with an error.
    case answer(token: UInt64, ATTError?)
}

/// Mailbox between the Bluetooth thread and other threads. The Bluetooth thread publishes its
/// newest status in the mailbox, and other threads add requests for the Bluetooth thread.
final class BluetoothMailbox: Sendable {
    private struct Contents {
        var status = BluetoothStatus()
        var requests: [RadioRequest] = []
    }

    private let contents = Mutex(Contents())
    /// Descriptor that is readable while requests wait.
    let bell: WakeupPipe

    /// Creates a mailbox.
    ///
    /// - Throws: `Errno` if the process has no free descriptors.
    init() throws { bell = try WakeupPipe() }

    /// The newest status.
    var status: BluetoothStatus { contents.withLock { $0.status } }

    /// Replaces the published status; only the Bluetooth thread calls this method.
    func publish(_ status: BluetoothStatus) { contents.withLock { $0.status = status } }

    /// Adds a request and wakes the Bluetooth thread.
    func post(_ request: RadioRequest) {
        contents.withLock { $0.requests.append(request) }
        bell.ring()
    }

    /// Removes and returns all waiting requests; only the Bluetooth thread calls this method.
    func take() -> [RadioRequest] {
        bell.silence()
        return contents.withLock { contents in
            defer { contents.requests = [] }
            return contents.requests
        }
    }
}
