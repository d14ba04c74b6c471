import GimbalCore

/// Allocation of the socket's limited connections. Pure; time is an argument.
///
/// A stop can come over the socket, so a client that can write always gets a connection. If
/// necessary, the connection with the oldest request is closed, a reader before a writer, one
/// without subscriptions before one with subscriptions. Readers never get all connections, and
/// replace only readers with a long silence.
struct ClientSlots {
    /// Relevant properties of a connection.
    struct Client {
        var mayWrite: Bool
        /// Whether the client has subscribed to something, or waits for an answer.
        var isStreaming: Bool
        /// Time of the last request, or of the connection.
        var lastRequest: Instant
    }

    /// The answer to a new connection.
    enum Decision: Equatable {
        case admit
        /// The connection at this index is closed, and the new one replaces it.
        case replace(Int)
        case refuse
    }

    /// Silence after which a reader can be replaced by another one, s.
    static let readerIdleSeconds = 10.0

    /// Largest number of connections.
    let limit: Int
    /// Number of connections that are reserved for writers.
    let reserved: Int

    /// Decides about a new connection.
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

    /// Order of connections: one with a subscription counts as busier.
    private func longestIdle(_ indices: [Int], _ clients: [Client]) -> Int? {
        let idle = indices.filter { !clients[$0].isStreaming }
        return (idle.isEmpty ? indices : idle).min {
            clients[$0].lastRequest < clients[$1].lastRequest
        }
    }
}
