import CMathShim
import GimbalCore

/// Track of a person over several pictures.
public struct TrackedPerson: Sendable {
    /// Track ID of the person, from 1. Each ID is used only once.
    public let id: Int
    /// Number of pictures in which the person was found.
    public internal(set) var sightings = 1
    /// True if the person is not a false detection: the person was found in three pictures.
    var isConfirmed: Bool { sightings >= 3 }
    /// Time of the first observation, s.
    let firstSeen: Double
    /// Time of the last observation, s.
    public internal(set) var lastSeen: Double
    /// Position and velocity at the last observation.
    var ground: GroundFilter
    /// Smoothed elevation for the camera, rad.
    var aimPitch: Double

    /// Direction of a person at one instant, and its rate.
    public struct Direction: Sendable, Equatable {
        /// Heading, rad, -π...π, and its rate, rad/s.
        public var yaw: Double, yawRate: Double
        /// Elevation for the camera, rad, -π/2...π/2.
        public var aimPitch: Double
        /// Horizontal distance of the person, m.
        public var distance: Double
        /// Standard deviation of the heading, rad.
        public var yawSigma: Double
    }

    /// Predicts the person's direction at the given time.
    ///
    /// - Parameter time: Time, s, not before the last observation.
    /// - Returns: The predicted direction.
    public func direction(at time: Double) -> Direction {
        let ground = ground(at: time)
        return Direction(
            yaw: ground.yaw, yawRate: ground.yawRate, aimPitch: aimPitch,
            distance: ground.distance, yawSigma: cm_sqrt(max(0, ground.yawVariance)))
    }

    /// Predicts position and velocity at the given time, s.
    func ground(at time: Double) -> GroundFilter {
        var ground = ground
        ground.predict(time - lastSeen)
        return ground
    }
}

/// Tracker of several people in the earth frame. The tracker predicts each person's direction at
/// the time of a picture. The tracker assigns observations to people so that the total error is
/// smallest, and keeps the tracks of briefly hidden people. All times are in seconds on the same
/// clock.
public struct PersonTracker: Sendable {
    /// Timeout of a track without an observation, s. The timeout is sufficient for a person who is
    /// hidden for 1 s and then missed in some pictures.
    public var memory = 1.6
    /// The tracked people, in the order of their track IDs.
    public private(set) var people: [TrackedPerson] = []

    private var nextID = 1
    /// Person with a longer timeout: track ID and timeout, s.
    private var kept: (id: Int, seconds: Double)?

    /// Largest number of tracked people.
    public static let limit = 8
    /// Gate: largest squared distance of an observation from its prediction, in squared standard
    /// deviations. 99.9 % of the observations are within the gate.
    private static let gate = 13.8
    /// Assumed probability that the detector finds a visible person in a picture.
    private static let detection = 0.8
    /// Assumed density of new people and false detections in one picture, 1/rad of heading.
    private static let newcomers = 0.012
    /// Standard deviation of the logarithm of (observed distance / predicted distance).
    private static let distanceSigma = 0.35

    /// Creates a tracker that has no tracks yet.
    public init() {}

    /// Sets a longer timeout for one person.
    ///
    /// - Parameters:
    ///   - id: Track ID of the person; nil means the same timeout for all people.
    ///   - seconds: Timeout of the track without an observation, s.
    public mutating func keep(_ id: Int?, seconds: Double) { kept = id.map { ($0, seconds) } }

    /// The person with the given track ID; nil if there is none.
    public subscript(id: Int) -> TrackedPerson? { people.first { $0.id == id } }

    /// Updates the people with the observations of one picture.
    ///
    /// - Parameters:
    ///   - sightings: Observations of the people in the picture; at most `limit` are used.
    ///   - time: Time of the exposure, s; not before the exposure of the last picture.
    /// - Returns: Track ID of each observation, in the order of `sightings`; nil for an unused
    ///   observation.
    public mutating func update(_ sightings: [Sighting], at time: Double) -> [Int?] {
        var result = [Int?](repeating: nil, count: sightings.count)
        let choice = assign(Array(sightings.prefix(Self.limit)), people.map { $0.ground(at: time) })
        for (sighting, person) in choice.enumerated() {
            guard let person else { continue }
            people[person].see(sightings[sighting], time)
            result[sighting] = people[person].id
        }
        people.removeAll { person in
            let limit = person.id == kept?.id ? kept?.seconds ?? memory : memory
            return time - person.lastSeen > (person.isConfirmed ? limit : min(limit, 0.35))
        }
        for index in choice.indices where choice[index] == nil && people.count < Self.limit {
            let sighting = sightings[index]
            people.append(
                TrackedPerson(
                    id: nextID, firstSeen: time, lastSeen: time, ground: GroundFilter(sighting),
                    aimPitch: sighting.aimPitch))
            result[index] = nextID
            nextID += 1
        }
        return result
    }

    /// Removes all people. The track IDs of later people continue after those of the removed ones.
    public mutating func forget() { people = [] }

    /// Assigns each observation to a person, as an index of `predicted`. The assignment has the
    /// greatest likelihood (global nearest neighbour): it minimises the sum of the costs, which are
    /// minus twice the logarithm of a likelihood. The likelihood contains the variance of the
    /// prediction, because otherwise a hidden person, whose prediction is uncertain, would take the
    /// observations of a visible person. Source: Blackman and Popoli, Design and Analysis of Modern
    /// Tracking Systems, 1999, chapter 6 (assignment with d² + ln |S|).
    private func assign(_ sightings: [Sighting], _ predicted: [GroundFilter]) -> [Int?] {
        let costs = sightings.map { sighting in predicted.map { Self.cost(sighting, $0) } }
        let unassigned = -2 * cm_log(Self.newcomers * (2 * Double.pi).squareRoot())
        var best = [(cost: Double, choice: [Int?])?](repeating: nil, count: 1 << predicted.count)
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
                offer(used, unassigned, nil)
                for (person, cost) in row.enumerated() where used & 1 << person == 0 {
                    if let cost { offer(used | 1 << person, cost, person) }
                }
            }
            best = next
        }
        return best.compactMap { $0 }.min { $0.cost < $1.cost }?.choice ?? []
    }

    /// Cost of an assignment: minus twice the logarithm of (likelihood that the observation is this
    /// person / likelihood that the detector missed the person); nil outside the gate.
    private static func cost(_ sighting: Sighting, _ predicted: GroundFilter) -> Double? {
        let away = Angle.wrapped(sighting.yaw - predicted.yaw)
        // If an arm appears, the centre of a person's box jumps. Therefore the standard deviation
        // of the heading includes 0.1 m at the person's distance.
        let width = 0.1 / predicted.distance
        let variance =
            predicted.yawVariance + GroundFilter.headingSigma * GroundFilter.headingSigma
            + width * width
        var squared = away * away / variance
        if let distance = sighting.distance {
            let ratio = cm_log(max(distance, 0.1) / predicted.distance) / distanceSigma
            squared += ratio * ratio
        }
        guard squared < gate else { return nil }
        return squared + cm_log(variance) - 2 * cm_log(detection / (1 - detection))
    }
}

extension TrackedPerson {
    fileprivate mutating func see(_ sighting: Sighting, _ time: Double) {
        let gap = time - lastSeen
        ground.predict(gap)
        ground.correct(sighting)
        // First-order low-pass filter with a time constant of 0.3 s.
        aimPitch += (sighting.aimPitch - aimPitch) * min(1, gap / (gap + 0.3))
        sightings += 1
        lastSeen = time
    }
}
