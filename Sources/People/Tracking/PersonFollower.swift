import GimbalCore

/// State machine that selects the followed person, and computes the direction for the camera. All
/// times are in seconds on the same clock. The type has no clock and no thread; the time is a
/// parameter.
public struct PersonFollower: Sendable {
    /// Choice of a user.
    public enum Choice: Sendable, Equatable {
        /// Follow the person nearest to the centre of the picture, unless a person is already
        /// followed.
        case on
        /// Follow no person.
        case off
        /// Follow the next person to the right; after the last person, the first one.
        case next
        /// Follow the person at a position in the picture, 0...1 from the left and from the top.
        case point(x: Double, y: Double)
    }

    /// Direction for the camera, and the rate of this direction.
    public struct Aim: Sendable, Equatable {
        /// Heading, rad, -π...π, and its rate, rad/s.
        public var yaw: Double, yawRate: Double
        /// Elevation, rad, -π/2...π/2.
        public var pitch: Double
        /// Time of this direction, s.
        public var time: Double

        /// Creates a direction.
        public init(yaw: Double, yawRate: Double, pitch: Double, time: Double) {
            (self.yaw, self.yawRate, self.pitch, self.time) = (yaw, yawRate, pitch, time)
        }
    }

    /// State of the follower.
    public enum State: Sendable, Equatable {
        /// No person is followed or searched for.
        case off
        /// No person has been found yet. The camera holds its direction.
        case waiting
        /// The person with this track ID is followed.
        case following(Int)
        /// The person with this track ID has been lost. The camera first continues the person's
        /// motion, then holds its direction.
        case lost(Int)
    }

    /// Current state of the follower.
    public private(set) var state = State.off
    /// Time without a person after which the follower stops, s.
    public var patience = 15.0
    /// Desired position of the person in the picture.
    public var framing = Framing()
    /// Tracker of the people in the pictures.
    public private(set) var tracker = PersonTracker()

    /// Time without an observation after which the person counts as lost, s.
    private static let lossSeconds = 0.6
    /// Time for which a lost person's motion is predicted, s. Longer predictions would be
    /// unreliable.
    private static let coastSeconds = 4.0
    /// Gate for the reacquisition of a lost person: largest difference between a new person's
    /// heading and the predicted heading, rad.
    private static let reunion = 0.9

    private var choice: Choice?
    /// Time of the latest choice, or of the start of the present search, s.
    private var begun = 0.0
    private var lastAim: Aim?
    /// Camera model of the last picture; nil before the first one.
    private var view: CameraView?
    /// Last state of the followed person, for use after the tracker has removed the track.
    private var last: TrackedPerson?

    /// Creates a follower that follows no person.
    public init() {}

    /// Stores a user's choice for the next call of `update`. Each choice restarts the time without a
    /// person.
    public mutating func ask(_ choice: Choice, at time: Double) {
        if choice == .off {
            stop()
        } else {
            if state == .off {
                state = .waiting
                lastAim = nil
            }
            begun = time
            self.choice = choice
        }
    }

    /// Stops following the person, for example because another source moves the camera.
    public mutating func stop() {
        state = .off
        choice = nil
        lastAim = nil
        view = nil
        last = nil
        tracker.keep(nil, seconds: 0)
        tracker.forget()
    }

    /// Starts the time without a person again, for example while the models are being loaded.
    ///
    /// - Parameter time: Current time, s.
    public mutating func extendSearch(at time: Double) {
        if state == .waiting { begun = time }
    }

    /// Updates the people and the state with the observations of one picture.
    ///
    /// - Parameters:
    ///   - sightings: Observations of the people in the picture.
    ///   - axis: Direction of the optical axis at the exposure.
    ///   - point: Function that converts a picture position (0...1 from the left and from the top)
    ///     to a direction.
    ///   - exposed: Time of the exposure, s.
    ///   - now: Current time, s.
    /// - Returns: Track ID of each observation; nil for an unused observation.
    public mutating func update(
        _ sightings: [Sighting], axis: EarthDirection,
        point: (_ x: Double, _ y: Double) -> EarthDirection, exposed: Double, now: Double
    ) -> [Int?] {
        let ids = tracker.update(sightings, at: exposed)
        guard state != .off else { return ids }
        let seen = tracker.people.filter { exposed - $0.lastSeen < 1e-6 }
        let confirmed = seen.filter { $0.isConfirmed }
        if let chosen = fulfil(seen, confirmed, axis, point) { follow(chosen) }
        switch state {
        case .off: break
        case .waiting:
            if let nearest = nearest(confirmed, to: axis.yaw) {
                follow(nearest.id)
            } else if now - begun > patience {
                stop()
            }
        case .following(let id), .lost(let id): watch(id, confirmed, exposed, now)
        }
        return ids
    }

    /// Track ID of the followed or lost person; nil if there is none.
    public var target: Int? {
        switch state {
        case .off, .waiting: nil
        case .following(let id), .lost(let id): id
        }
    }

    /// True if the follower searches for a person.
    public var isSearching: Bool {
        switch state {
        case .waiting, .lost: true
        case .off, .following: choice != nil
        }
    }

    private mutating func follow(_ id: Int) {
        state = .following(id)
        tracker.keep(id, seconds: patience)
    }

    /// Updates the state of the followed person: found, lost, or found again.
    private mutating func watch(
        _ id: Int, _ confirmed: [TrackedPerson], _ exposed: Double, _ now: Double
    ) {
        if let present = tracker[id] { last = present }
        guard let person = last, person.id == id, tracker[id] != nil || person.isConfirmed else {
            // The observations were a false detection.
            state = .waiting
            begun = now
            last = nil
            return
        }
        let silence = exposed - person.lastSeen
        if silence < Self.lossSeconds {
            state = .following(id)
            return
        }
        state = .lost(id)
        // A new person near the lost person's expected direction counts as the lost person, unless
        // both have been in one picture.
        let expected = person.direction(at: min(exposed, person.lastSeen + Self.coastSeconds)).yaw
        let candidates = confirmed.filter {
            $0.id != id && $0.firstSeen > person.lastSeen
                && abs(Angle.wrapped($0.ground.yaw - expected)) < Self.reunion
        }
        if let found = nearest(candidates, to: expected) {
            follow(found.id)
        } else if silence > patience, now - begun > patience {
            stop()
        }
    }

    /// Applies the user's choice of a person. Returns the track ID of the selected person; nil if
    /// the user has not made a choice, or if no visible person is suitable.
    private mutating func fulfil(
        _ seen: [TrackedPerson], _ confirmed: [TrackedPerson], _ axis: EarthDirection,
        _ point: (_ x: Double, _ y: Double) -> EarthDirection
    ) -> Int? {
        guard let choice, !seen.isEmpty else { return nil }
        switch choice {
        case .off: return nil
        case .on:
            if case .following = state {
                self.choice = nil
                return nil
            }
            guard let nearest = nearest(confirmed, to: axis.yaw) else { return nil }
            self.choice = nil
            return nearest.id
        case .point(let x, let y):
            self.choice = nil
            return nearest(seen, to: point(x, y).yaw)?.id
        case .next:
            self.choice = nil
            let ordered = seen.sorted {
                Angle.wrapped($0.ground.yaw - axis.yaw)
                    < Angle.wrapped($1.ground.yaw - axis.yaw)
            }
            var present: Int?
            if case .following(let id) = state { present = id }
            guard let index = ordered.firstIndex(where: { $0.id == present }) else {
                return nearest(seen, to: axis.yaw)?.id
            }
            return ordered[(index + 1) % ordered.count].id
        }
    }

    private func nearest(_ people: [TrackedPerson], to yaw: Double) -> TrackedPerson? {
        people.min {
            abs(Angle.wrapped($0.ground.yaw - yaw))
                < abs(Angle.wrapped($1.ground.yaw - yaw))
        }
    }

    /// Direction for the camera at the given time; nil if the camera must not be moved.
    ///
    /// - Parameters:
    ///   - time: Time, s, not before the last picture.
    ///   - axis: Current direction of the optical axis. The camera holds this direction while no
    ///     person is followed.
    ///   - view: Camera model of the picture.
    /// - Returns: The direction and its rate.
    public mutating func aim(at time: Double, axis: EarthDirection, _ view: CameraView) -> Aim? {
        self.view = view
        let person: TrackedPerson?
        switch state {
        case .off: return nil
        case .waiting: person = nil
        case .following(let id), .lost(let id): person = tracker[id] ?? last
        }
        guard let person else {
            let aim = lastAim ?? Aim(yaw: axis.yaw, yawRate: 0, pitch: axis.pitch, time: time)
            lastAim = Aim(yaw: aim.yaw, yawRate: 0, pitch: aim.pitch, time: time)
            return lastAim
        }
        let end = person.lastSeen + Self.coastSeconds
        let direction = person.direction(at: min(time, end))
        var aim = Aim(
            yaw: Angle.wrapped(direction.yaw + framing.offset(view)),
            yawRate: time < end ? direction.yawRate : 0, pitch: direction.aimPitch, time: time)
        let dead = framing.deadAngle(view)
        if dead > 0, let lastAim {
            let away = Angle.wrapped(aim.yaw - lastAim.yaw)
            if abs(away) <= dead {
                aim.yaw = lastAim.yaw
                aim.yawRate = 0
            } else {
                aim.yaw = Angle.wrapped(aim.yaw - (away > 0 ? dead : -dead))
            }
        }
        lastAim = aim
        return aim
    }

    /// Selects the direction that the camera holds before the first picture. This method has no
    /// effect if a direction is already selected, or if no person is followed or searched for.
    ///
    /// - Parameters:
    ///   - axis: Current direction of the optical axis.
    ///   - time: Current time, s.
    public mutating func rest(on axis: EarthDirection, at time: Double) {
        guard state != .off, lastAim == nil else { return }
        lastAim = Aim(yaw: axis.yaw, yawRate: 0, pitch: axis.pitch, time: time)
    }

    /// Direction for the camera while no new picture has arrived; nil if the camera must not be
    /// moved. As with a hidden person, the predicted motion of the followed person continues.
    /// Otherwise the camera would stop between two pictures.
    ///
    /// - Parameter time: Time, s, not before the last picture.
    /// - Returns: The direction and its rate.
    public mutating func hold(at time: Double) -> Aim? {
        guard state != .off, let lastAim else { return nil }
        guard let view else {
            return Aim(yaw: lastAim.yaw, yawRate: 0, pitch: lastAim.pitch, time: time)
        }
        return aim(at: time, axis: EarthDirection(yaw: lastAim.yaw, pitch: lastAim.pitch), view)
    }
}
