import GimbalCore

/// Who gets one of the socket's connections when they are short. Pure; time is an argument.
///
/// The socket is the way in for a stop, so whoever may write always gets in: the connection that has asked for nothing for
/// longest makes room, one that only reads before one that may write, one without subscriptions before one with. Readers never
/// have all of it, and take a place from readers only that have long been idle.
struct ClientSlots {
    /// What counts of a connection.
    struct Client {
        var mayWrite: Bool
        /// Whether it has subscribed to something.
        var isStreaming: Bool
        /// When it asked for something last, or connected.
        var lastRequest: Instant
    }

    /// What becomes of somebody new.
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
    /// Of these, how many only writers get.
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

    /// Whoever streams is busier than who does not.
    private func longestIdle(_ indices: [Int], _ clients: [Client]) -> Int? {
        let idle = indices.filter { !clients[$0].isStreaming }
        return (idle.isEmpty ? indices : idle).min {
            clients[$0].lastRequest < clients[$1].lastRequest
        }
    }
}
