import GimbalCore

/// Register that assigns IDs to the people in the phones' pictures. An ID is constant while the
/// person is visible, and for the time `memory` afterwards. Each phone has its own world frame, so
/// the people of different phones have different IDs.
struct PeopleRegister {
    /// Timeout of a person who is no longer visible, s.
    static let memory = 1.5
    /// Largest number of registered people per phone.
    static let limit = 8

    /// Person who was detected in one phone's pictures.
    struct Entry: Equatable {
        let id: String
        let device: String
        /// Midpoint between the person's hips, in the phone's world frame, m.
        var position: Vector3
        /// Velocity of the person in the phone's world frame, m/s.
        var velocity = Vector3.zero
        /// Time of the newest observation on CLOCK_MONOTONIC, s.
        var time: Double
    }

    private(set) var entries: [Entry] = []
    private var next = 1

    /// Assigns IDs to the people in one picture.
    ///
    /// - Parameters:
    ///   - positions: Midpoint between the hips of each person, in the phone's world frame, m.
    ///   - device: Name of the phone that took the picture.
    ///   - camera: Position of the phone, m.
    ///   - now: Current time on CLOCK_MONOTONIC, s.
    /// - Returns: IDs of the people, in the order of `positions`.
    mutating func names(
        for positions: [Vector3], device: String, camera: Vector3, now: Double
    ) -> [String] {
        entries.removeAll { now - $0.time > Self.memory }
        var names = [String?](repeating: nil, count: positions.count)
        var candidates: [(cost: Double, entry: Int, position: Int)] = []
        for (entry, known) in entries.enumerated() where known.device == device {
            let expected = known.expected(at: now)
            for (index, position) in positions.enumerated() {
                let cost = Self.cost(
                    position - expected, sight: expected - camera, age: now - known.time)
                if cost < 1 { candidates.append((cost, entry, index)) }
            }
        }
        for (entry, index) in Self.assignment(candidates) {
            names[index] = entries[entry].id
            entries[entry].move(to: positions[index], now: now)
        }
        for (index, position) in positions.enumerated() where names[index] == nil {
            entries.append(Entry(id: "\(next)", device: device, position: position, time: now))
            names[index] = "\(next)"
            next += 1
        }
        return names.compactMap { $0 }
    }

    /// Removes the people of a phone that has disconnected.
    mutating func forget(_ device: String) { entries.removeAll { $0.device == device } }

    /// Assigns positions to registered people. First, pairs are formed in order of increasing cost.
    /// Then two pairs exchange their positions if the exchange reduces the sum of their costs. The
    /// exchanges end when no exchange reduces the sum.
    private static func assignment(
        _ candidates: [(cost: Double, entry: Int, position: Int)]
    ) -> [(entry: Int, position: Int)] {
        var pairs: [(entry: Int, position: Int)] = []
        for (_, entry, position) in candidates.sorted(by: { $0.cost < $1.cost })
        where !pairs.contains(where: { $0.entry == entry || $0.position == position }) {
            pairs.append((entry, position))
        }
        func cost(_ entry: Int, _ position: Int) -> Double {
            candidates.first { $0.entry == entry && $0.position == position }?.cost ?? .infinity
        }
        var hasChanged = true
        while hasChanged {
            hasChanged = false
            for a in pairs.indices {
                for b in pairs.indices.dropFirst(a + 1) {
                    let (p, q) = (pairs[a], pairs[b])
                    let now = cost(p.entry, p.position) + cost(q.entry, q.position)
                    if cost(p.entry, q.position) + cost(q.entry, p.position) < now - 1e-12 {
                        (pairs[a].position, pairs[b].position) = (q.position, p.position)
                        hasChanged = true
                    }
                }
            }
        }
        return pairs
    }

    /// Cost of assigning a position to a person: the squared distance from the expected position,
    /// divided by the square of the gate. The gate is 0.5 m plus 2 m for each second since the last
    /// observation. Along the line of sight, the gate is larger by a quarter of the person's
    /// distance.
    private static func cost(_ difference: Vector3, sight: Vector3, age: Double) -> Double {
        let distance = max(sight.norm, 0.1)
        let along = difference.dot(sight) / distance
        let across = (max(0, difference.squaredNorm - along * along)).squareRoot()
        let side = 0.5 + 2 * age
        let (a, b) = (across / side, along / (side + 0.25 * distance))
        return a * a + b * b
    }
}

extension PeopleRegister.Entry {
    /// Expected position at the given time, for constant velocity.
    fileprivate func expected(at now: Double) -> Vector3 { position + velocity * (now - time) }

    /// Updates position and velocity with an observation. The method is an alpha-beta filter. The
    /// gains equal those of a constant-velocity Kalman filter for ten observations per second with
    /// errors of 0.1 m.
    fileprivate mutating func move(to new: Vector3, now: Double) {
        let surprise = new - expected(at: now)
        position = expected(at: now) + surprise * 0.5
        velocity = (velocity + surprise * (0.15 / max(now - time, 0.03))).limited(to: 4)
        time = now
    }
}
