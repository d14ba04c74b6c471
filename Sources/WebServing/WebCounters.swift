import Synchronization

/// Cause for which the server refused a request or closed a connection.
public enum WebRefusal: String, Sendable, CaseIterable {
    /// More connections than `Limits.connections`.
    case connections
    /// More connections than `Limits.connectionsPerAddress` from one address.
    case connectionsPerAddress = "connections_per_address"
    /// Bytes that are not HTTP, or a header that is too large.
    case malformed
    /// Host is missing or the name of another site.
    case host
    /// Origin is another site.
    case origin
    /// Body larger than `Limits.body`.
    case body
    /// Request not complete within `Limits.handshake`, or TLS failed.
    case handshake
    /// WebSocket that the application refused, or with a wrong version.
    case upgrade
    /// Frame against RFC 6455.
    case protocolError = "protocol"
    /// Text that is not UTF-8.
    case encoding
    /// Message larger than `Limits.message`.
    case message
    /// More messages than `Limits.messagesPerSecond`.
    case rate
    /// Client that does not read: more than `Limits.outgoing` bytes wait.
    case slow
    /// Silence longer than `Limits.idle`.
    case idle
}

/// Counters of a server since its start.
public struct WebCounters: Sendable, Equatable {
    /// Accepted connections.
    public internal(set) var connections = 0
    /// Answered requests.
    public internal(set) var requests = 0
    /// Sessions that began.
    public internal(set) var sessions = 0
    /// Messages received.
    public internal(set) var received = 0
    /// Values that a newer one replaced, because the client was slow.
    public internal(set) var replaced = 0
    /// Refusals by cause; a cause that did not occur is missing.
    public internal(set) var refusals: [WebRefusal: Int] = [:]
}

/// Number of open connections, in total and per address, and the counters. Thread-safe.
final class Ledger: Sendable {
    private struct State {
        var counters = WebCounters()
        var open = 0
        var addresses: [String: Int] = [:]
    }

    private let state = Mutex(State())

    var counters: WebCounters { state.withLock { $0.counters } }
    var open: Int { state.withLock { $0.open } }

    /// Admits a connection, or counts its refusal.
    func admit(_ address: String, _ limits: WebOptions.Limits) -> Bool {
        state.withLock { state in
            let cause: WebRefusal? =
                state.open >= limits.connections
                ? .connections
                : state.addresses[address, default: 0] >= limits.connectionsPerAddress
                    ? .connectionsPerAddress : nil
            if let cause {
                state.counters.refusals[cause, default: 0] += 1
                return false
            }
            state.open += 1
            state.counters.connections += 1
            state.addresses[address, default: 0] += 1
            return true
        }
    }

    /// Ends an admitted connection.
    func leave(_ address: String) {
        state.withLock { state in
            state.open -= 1
            let rest = state.addresses[address, default: 1] - 1
            state.addresses[address] = rest > 0 ? rest : nil
        }
    }

    func refuse(_ cause: WebRefusal) {
        state.withLock { $0.counters.refusals[cause, default: 0] += 1 }
    }

    func count(_ counter: WritableKeyPath<WebCounters, Int>) {
        state.withLock { $0.counters[keyPath: counter] += 1 }
    }
}
