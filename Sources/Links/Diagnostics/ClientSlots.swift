import GimbalCore

/// The distribution of the socket's connections when they are short. Pure; time is an argument.
///
/// The socket is the way in for a stop, so a client that may write always gets in: the connection with the oldest request makes
/// room, a reader before a writer, one without subscriptions before one with. Readers never have all connections, and replace
/// only readers that have long been idle.
struct ClientSlots {
    /// A connection, as far as it matters here.
    struct Client {
        var mayWrite: Bool
        /// Whether it has subscribed to something, or waits for an answer.
        var isStreaming: Bool
        /// Time of the last request, or of the connection.
        var lastRequest: Instant
    }

    /// The answer to a new connection.
    enum Decision: Equatable {
        case admit
        /// This one is closed, by its place in the list, and the new one takes its place.
        case replace(Int)
        case refuse
    }

    /// Silence after which a reader makes room for another one, s.
    static let readerIdleSeconds = 10.0

    /// Connections at a time.
    let limit: Int
    /// Connections among them that only writers get.
    let reserved: Int

    /// Decides about one that has just connected.
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

    /// A connection with a subscription counts as busier than one without.
    private func longestIdle(_ indices: [Int], _ clients: [Client]) -> Int? {
        let idle = indices.filter { !clients[$0].isStreaming }
        return (idle.isEmpty ? indices : idle).min {
            clients[$0].lastRequest < clients[$1].lastRequest
        }
    }
}
