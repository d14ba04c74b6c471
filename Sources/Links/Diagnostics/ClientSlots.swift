import GimbalCore

/// Allocation of the socket's limited number of connections. The type reads no clock; callers pass
/// the time as an argument.
///
/// A client with write access always gets a connection, because it must be able to send a stop. If
/// necessary, the server closes another connection. The server closes read-only connections first,
/// then connections without subscriptions. Among equal connections, the server closes the
/// connection with the oldest request. Clients without write access cannot occupy all connections.
/// A new reader replaces another reader only after the other reader has sent no request for
/// `readerIdleSeconds`.
struct ClientSlots {
    /// Properties of a connection that determine whether a new connection can replace it.
    struct Client {
        var mayWrite: Bool
        /// True if the client has a subscription, or waits for an answer.
        var isStreaming: Bool
        /// Time of the last request; before the first request, time of the connection.
        var lastRequest: Instant
    }

    /// Decision whether a new connection is accepted.
    enum Decision: Equatable {
        case admit
        /// Accept the new connection, and close the connection at this index.
        case replace(Int)
        case refuse
    }

    /// Idle timeout of a reader, s; after the timeout, a new reader can replace the idle reader.
    static let readerIdleSeconds = 10.0

    /// Largest number of connections to the socket.
    let limit: Int
    /// Number of connections that are reserved for clients with write access.
    let reserved: Int

    /// Decides whether a new connection is accepted, and which connection is closed to free a slot.
    func decide(mayWrite: Bool, among clients: [Client], now: Instant) -> Decision {
        let readers = clients.indices.filter { !clients[$0].mayWrite }
        if mayWrite {
            if clients.count < limit { return .admit }
            let idlest =
                longestIdle(readers, clients) ?? longestIdle(Array(clients.indices), clients)
            return idlest.map { .replace($0) } ?? .refuse
        }
        if clients.count < limit, readers.count < limit - reserved { return .admit }
        let idle = readers.filter {
            !clients[$0].isStreaming
                && now.seconds(since: clients[$0].lastRequest) >= Self.readerIdleSeconds
        }
        return longestIdle(idle, clients).map { .replace($0) } ?? .refuse
    }

    /// Index of the connection to close: among the connections without subscriptions, the
    /// connection with the oldest request. If all connections have subscriptions, the connection
    /// with the oldest request is closed.
    private func longestIdle(_ indices: [Int], _ clients: [Client]) -> Int? {
        let idle = indices.filter { !clients[$0].isStreaming }
        return (idle.isEmpty ? indices : idle).min {
            clients[$0].lastRequest < clients[$1].lastRequest
        }
    }
}
