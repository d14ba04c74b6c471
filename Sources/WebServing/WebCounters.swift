import Synchronization

/// Cause of a refused request or a closed connection.
public enum WebRefusal: String, Sendable, CaseIterable {
    /// There are more connections than `Limits.connections`: a new connection was refused, or has
    /// replaced another one.
    case connections
    /// There are more connections from one address than `Limits.connectionsPerAddress`: a new
    /// connection was refused, or has replaced another one.
    case connectionsPerAddress = "connections_per_address"
    /// A client sent more requests than `Limits.requestsPerSecond` and `Limits.requestBurst`
    /// permit.
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
    /// A client sent more messages, pings and pongs per second than `Limits.messagesPerSecond`.
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

/// Open connections, rates of requests, and the counters. The class is thread-safe.
///
/// If all connections are open, a new connection can replace a connection of the address that has
/// the most connections. Therefore a few addresses cannot lock out other addresses. Connections of
/// trusted clients and WebSockets are never replaced, except a WebSocket that the application has not
/// kept yet (see `WebSocketDecision.accept`).
///
/// A network of 64 bits counts as one address for the limits, because an IPv6 host chooses the other
/// 64 bits itself. The computers of a local network share these 64 bits. Therefore the connections
/// of such a network are divided between its hosts, and trust belongs to a host.
final class Ledger: Sendable {
    /// Number of a connection, unique in the server. A smaller number means an older connection.
    typealias ConnectionID = UInt64

    /// Largest number of hosts in the list of trusted hosts; a new one replaces the oldest.
    static let mostTrusted = 64

    /// Result of `admit`.
    enum Admission: Equatable {
        case refused
        /// The connection is accepted. `replaced` is the connection to close instead; nil if fewer
        /// connections than the limit were open.
        case accepted(ConnectionID, replaced: ConnectionID?)
    }

    private struct Connection {
        let host: String
        let network: String
        /// True if the connection must not be replaced.
        var isKept = false
    }

    private struct State {
        var counters = WebCounters()
        var next: ConnectionID = 0
        var connections: [ConnectionID: Connection] = [:]
        /// Number of open connections of each address.
        var networks: [String: Int] = [:]
        /// Hosts of clients whose requests were trusted, oldest first.
        var trusted: [String] = []

        mutating func remove(_ id: ConnectionID) {
            guard let connection = connections.removeValue(forKey: id) else { return }
            let rest = networks[connection.network, default: 1] - 1
            networks[connection.network] = rest > 0 ? rest : nil
        }

        /// The connection that a new connection of a host can replace; nil if there is none. If
        /// `isWithin` is true, only connections of the host's network can be replaced.
        func replaceable(by host: String, in network: String, isWithin: Bool) -> ConnectionID? {
            let isTrusted = trusted.contains(host)
            var hosts: [String: Int] = [:]
            for connection in connections.values { hosts[connection.host, default: 0] += 1 }
            func size(_ connection: Connection) -> Int { networks[connection.network, default: 0] }
            func share(_ connection: Connection) -> Int { hosts[connection.host, default: 0] }
            /// True if the other side has more connections after the replacement, or as many. Sides
            /// are two hosts of one network, or two networks.
            func isFair(_ connection: Connection) -> Bool {
                connection.network == network
                    ? share(connection) > hosts[host, default: 0] + 1
                    : size(connection) > networks[network, default: 0] + 1
            }
            return connections.filter { _, connection in
                !connection.isKept && connection.host != host
                    && (!isWithin || connection.network == network)
                    && (isTrusted || isFair(connection))
            }.min {
                (size($1.value), share($1.value), $0.key)
                    < (size($0.value), share($0.value), $1.key)
            }?.key
        }
    }

    private let state = Mutex(State())
    private let limiter: Mutex<RequestLimiter>

    init(_ limits: WebOptions.Limits) { limiter = Mutex(RequestLimiter(limits)) }

    var counters: WebCounters { state.withLock { $0.counters } }
    var open: Int { state.withLock { $0.connections.count } }

    /// Accepts a connection, or counts its refusal.
    ///
    /// - Parameters:
    ///   - address: IP address of the client; empty for a UNIX socket.
    ///   - limits: Limits of the server.
    /// - Returns: The decision; the caller closes a replaced connection.
    func admit(_ address: String, _ limits: WebOptions.Limits) -> Admission {
        let (network, host) = (RequestLimiter.network(address), RequestLimiter.host(address))
        return state.withLock { state in
            let isWithin = state.networks[network, default: 0] >= limits.connectionsPerAddress
            var replaced: ConnectionID?
            if isWithin || state.connections.count >= limits.connections {
                let cause = isWithin ? WebRefusal.connectionsPerAddress : .connections
                state.counters.refusals[cause, default: 0] += 1
                replaced = state.replaceable(by: host, in: network, isWithin: isWithin)
                guard let replaced else { return .refused }
                state.remove(replaced)
            }
            state.next += 1
            state.connections[state.next] = Connection(host: host, network: network)
            state.networks[network, default: 0] += 1
            state.counters.connections += 1
            return .accepted(state.next, replaced: replaced)
        }
    }

    /// Protects a connection from replacement.
    ///
    /// - Parameters:
    ///   - id: The connection.
    ///   - isTrusted: True if the application trusts the client. New connections of the client's
    ///     host can then replace every connection that is not protected.
    func keep(_ id: ConnectionID, isTrusted: Bool) {
        state.withLock { state in
            guard let host = state.connections[id]?.host else { return }
            state.connections[id]?.isKept = true
            guard isTrusted, state.trusted.last != host else { return }
            state.trusted.removeAll { $0 == host }
            state.trusted = state.trusted.suffix(Self.mostTrusted - 1) + [host]
        }
    }

    /// Accepts a request that has a limit, or counts its refusal. The common limit of all addresses
    /// does not apply to the hosts of trusted clients, and each of these hosts has its own limit.
    ///
    /// - Parameters:
    ///   - address: IP address of the client; empty for a UNIX socket, which has no limit.
    ///   - now: Current time, s on a monotonic clock.
    /// - Returns: Nil if the request is accepted; otherwise the time after which the next request
    ///   is accepted, s.
    func delay(_ address: String, now: Double) -> Double? {
        guard !address.isEmpty else { return nil }
        let host = RequestLimiter.host(address)
        let isTrusted = state.withLock { $0.trusted.contains(host) }
        guard
            let delay = limiter.withLock({
                $0.refusal(of: address, now: now, isTrusted: isTrusted)
            })
        else { return nil }
        refuse(.requests)
        return delay
    }

    /// Records that a connection has ended.
    func leave(_ id: ConnectionID) { state.withLock { $0.remove(id) } }

    func refuse(_ cause: WebRefusal) {
        state.withLock { $0.counters.refusals[cause, default: 0] += 1 }
    }

    func count(_ counter: WritableKeyPath<WebCounters, Int>) {
        state.withLock { $0.counters[keyPath: counter] += 1 }
    }
}
