import Synchronization

/// Cause of a refused request or a closed connection.
public enum WebRefusal: String, Sendable, CaseIterable {
    /// There are more connections than `Limits.connections`.
    case connections
    /// There are more connections from one address than `Limits.connectionsPerAddress`.
    case connectionsPerAddress = "connections_per_address"
    /// A client sent more GET and HEAD requests than `Limits.requestsPerSecond` and
    /// `Limits.requestBurst` permit.
    case requests
    /// The received bytes are not valid HTTP, or the header is too large.
    case malformed
    /// The header field `Host` is missing or contains another site's name.
    case host
    /// The header field `Origin` contains another site.
    case origin
    /// The body of a request is larger than `Limits.body`.
    case body
    /// A request was not complete within the time `Limits.handshake`, or TLS failed.
    case handshake
    /// The application refused a WebSocket, or the WebSocket's version is not supported.
    case upgrade
    /// A frame violates RFC 6455.
    case protocolError = "protocol"
    /// The text of a message is not UTF-8.
    case encoding
    /// A message is larger than `Limits.message`.
    case message
    /// A client sent more messages per second than `Limits.messagesPerSecond`.
    case rate
    /// A client reads too slowly: more than `Limits.outgoing` bytes are queued.
    case slow
    /// A client was silent for longer than `Limits.idle`.
    case idle
}

/// Counters of a server since its start.
public struct WebCounters: Sendable, Equatable {
    /// Number of accepted connections.
    public internal(set) var connections = 0
    /// Number of answered HTTP requests.
    public internal(set) var requests = 0
    /// Number of WebSocket sessions that have begun.
    public internal(set) var sessions = 0
    /// Number of messages received from clients.
    public internal(set) var received = 0
    /// Number of waiting messages that were replaced by a newer message because the client was
    /// slow.
    public internal(set) var replaced = 0
    /// Number of refusals for each cause; causes with no refusals are omitted.
    public internal(set) var refusals: [WebRefusal: Int] = [:]
}

/// Numbers of open connections and rates of requests, in total and per address, and the counters.
/// The class is thread-safe.
final class Ledger: Sendable {
    private struct State {
        var counters = WebCounters()
        var open = 0
        var addresses: [String: Int] = [:]
    }

    private let state = Mutex(State())
    private let limiter: Mutex<RequestLimiter>

    init(_ limits: WebOptions.Limits) { limiter = Mutex(RequestLimiter(limits)) }

    var counters: WebCounters { state.withLock { $0.counters } }
    var open: Int { state.withLock { $0.open } }

    /// Accepts a connection, or counts its refusal.
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

    /// Accepts a GET or HEAD request, or counts its refusal.
    ///
    /// - Parameters:
    ///   - address: IP address of the client; empty for a UNIX socket, which has no limit.
    ///   - now: Current time, s on a monotonic clock.
    /// - Returns: Nil if the request is accepted; otherwise the time after which the next request
    ///   is accepted, s.
    func delay(_ address: String, now: Double) -> Double? {
        guard !address.isEmpty,
            let delay = limiter.withLock({ $0.refusal(of: address, now: now) })
        else { return nil }
        refuse(.requests)
        return delay
    }

    /// Records that an accepted connection has ended.
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
