import CMathShim

/// Person who is tracked over several pictures.
public struct TrackedPerson: Sendable {
    /// Number of the person, from 1; it is not used again.
    public let id: Int
    /// Number of pictures in which the person has been seen.
    public internal(set) var sightings = 1
    /// Time of the first sighting, s.
    let firstSeen: Double
    /// Time of the last sighting, s.
    public internal(set) var lastSeen: Double
    /// Time to which the state belongs, s.
    var time: Double
    var ground: GroundFilter
    /// Elevation of the aim, rad, smoothed.
    var aimPitch: Double

    /// Direction of the person now, and its rate.
    public struct Direction: Sendable, Equatable {
        /// Heading, rad, -π...π, and its rate, rad/s.
        public var yaw: Double, yawRate: Double
        /// Elevation of the aim, rad, -π/2...π/2.
        public var aimPitch: Double
        /// Horizontal distance, m.
        public var distance: Double
        /// Standard deviation of the heading, rad.
        public var yawSigma: Double
    }

    /// The direction at a time.
    ///
    /// - Parameter time: s, not before the last picture.
    /// - Returns: The direction.
    public func direction(at time: Double) -> Direction {
        var ground = ground
        ground.predict(time - self.time)
        return Direction(
            yaw: ground.yaw, yawRate: ground.yawRate, aimPitch: aimPitch,
            distance: ground.distance, yawSigma: cm_sqrt(max(0, ground.yawVariance)))
    }
}

/// Tracker of several people in the earth frame: it predicts each person to the time of the next
/// picture, assigns the sightings so that all of them together fit best, and keeps people who are
/// covered for a while. Times are seconds on one clock.
public struct PersonTracker: Sendable {
    /// Time without a sighting after which a person is forgotten, s: a second behind something, and
    /// pictures in which the detector misses the person.
    public var memory = 1.6
    /// The people, in the order of their numbers.
    public private(set) var people: [TrackedPerson] = []

    private var nextID = 1
    /// Number of the person who is remembered longer, and the duration, s.
    private var kept: (id: Int, seconds: Double)?

    /// Largest number of people.
    public static let limit = 8
    /// Largest squared distance of a sighting from its prediction, in standard deviations; 99.9 % of
    /// the sightings are closer.
    private static let gate = 13.8
    /// Distance ratio of a sighting to its prediction that counts as one standard deviation.
    private static let distanceSigma = 0.35

    /// Creates a tracker of nobody.
    public init() {}

    /// Remembers one person longer than the others.
    ///
    /// - Parameters:
    ///   - id: Number of the person; nil treats all people alike.
    ///   - seconds: Time without a sighting after which the person is forgotten.
    public mutating func keep(_ id: Int?, seconds: Double) { kept = id.map { ($0, seconds) } }

    /// The person with a number.
    public subscript(id: Int) -> TrackedPerson? { people.first { $0.id == id } }

    /// Uses the sightings of one picture.
    ///
    /// - Parameters:
    ///   - sightings: The people in the picture; at most `limit` are used.
    ///   - time: Time of the exposure, s; not before the last picture's.
    /// - Returns: Number of the person of each sighting, in their order; nil for one that is not
    ///   used.
    public mutating func update(_ sightings: [Sighting], at time: Double) -> [Int?] {
        for index in people.indices {
            people[index].ground.predict(time - people[index].time)
            people[index].time = time
        }
        var result = [Int?](repeating: nil, count: sightings.count)
        let choice = assign(Array(sightings.prefix(Self.limit)))
        for (sighting, person) in choice.enumerated() {
            guard let person else { continue }
            people[person].see(sightings[sighting], time)
            result[sighting] = people[person].id
        }
        people.removeAll { person in
            let limit = person.id == kept?.id ? kept?.seconds ?? memory : memory
            // A person who was seen only once may be a mistake of the detector.
            return time - person.lastSeen > (person.sightings < 3 ? min(limit, 0.35) : limit)
        }
        for index in choice.indices where choice[index] == nil && people.count < Self.limit {
            let sighting = sightings[index]
            people.append(
                TrackedPerson(
                    id: nextID, firstSeen: time, lastSeen: time, time: time,
                    ground: GroundFilter(sighting),
                    aimPitch: sighting.aimPitch))
            result[index] = nextID
            nextID += 1
        }
        return result
    }

    /// Person of each sighting, as an index of `people`; the sum of all squared distances is the
    /// smallest possible, where a sighting without a person costs as much as the gate.
    private func assign(_ sightings: [Sighting]) -> [Int?] {
        let costs = sightings.map { sighting in people.map { $0.cost(sighting) } }
        var best = [(cost: Double, choice: [Int?])?](repeating: nil, count: 1 << people.count)
        best[0] = (0, [])
        for row in costs {
            var next = [(cost: Double, choice: [Int?])?](repeating: nil, count: best.count)
            for (used, entry) in best.enumerated() {
                guard let entry else { continue }
                func offer(_ set: Int, _ cost: Double, _ person: Int?) {
                    let total = entry.cost + cost
                    if next[set].map({ $0.cost > total }) ?? true {
                        next[set] = (total, entry.choice + [person])
                    }
                }
                offer(used, Self.gate, nil)
                for (person, cost) in row.enumerated()
                where used & 1 << person == 0 && cost < Self.gate {
                    offer(used | 1 << person, cost, person)
                }
            }
            best = next
        }
        return best.compactMap { $0 }.min { $0.cost < $1.cost }?.choice ?? []
    }

    fileprivate static func squaredDistance(
        _ sighting: Sighting, from person: TrackedPerson
    ) -> Double {
        let away = Self.wrapped(sighting.yaw - person.ground.yaw)
        // People are wide: the middle of a box jumps when an arm appears.
        let width = 0.1 / person.ground.distance
        let variance =
            person.ground.yawVariance + GroundFilter.headingSigma * GroundFilter.headingSigma
            + width * width
        var result = away * away / variance
        if let distance = sighting.distance {
            let ratio = cm_log(max(distance, 0.1) / person.ground.distance) / Self.distanceSigma
            result += ratio * ratio
        }
        return result
    }

    /// An angle in -π...π.
    static func wrapped(_ angle: Double) -> Double {
        angle - 2 * .pi * cm_floor(angle / (2 * .pi) + 0.5)
    }
}

extension TrackedPerson {
    fileprivate func cost(_ sighting: Sighting) -> Double {
        PersonTracker.squaredDistance(sighting, from: self)
    }

    fileprivate mutating func see(_ sighting: Sighting, _ time: Double) {
        let gap = time - lastSeen
        ground.correct(sighting)
        // A first-order low-pass filter of a third of a second.
        aimPitch += (sighting.aimPitch - aimPitch) * min(1, gap / (gap + 0.3))
        sightings += 1
        lastSeen = time
    }
}
