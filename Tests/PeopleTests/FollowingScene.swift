import GimbalCore
import People
import Simulation

/// A simulated gimbal whose camera delivers late pictures of people who walk in front of it.
struct FollowingScene {
    /// A person's position at a time, m north and m east of the camera; nil while a wall hides the
    /// person.
    typealias Walk = (_ seconds: Double) -> (north: Double, east: Double)?

    /// Pictures per second, their delay, and the fraction of people that the detector misses.
    static let (rateHz, delay, missing) = (10, 0.15, 0.2)
    /// Height of the middle of a body below the camera, m.
    private static let drop = 0.3

    let view = CameraView(width: 640, height: 480, fieldOfView: 62 * .pi / 180)
    var loop: SimulatedLoop
    var follower = PersonFollower()
    let people: [Walk]
    private var random: RandomSource
    private var pending:
        [(due: Double, exposed: Double, attitude: Quaternion, people: [(index: Int, Sighting)])] =
            []
    private var nextExposure = 0.0
    /// Time after a picture at which the request is repeated, s; infinite without repetitions.
    private let repetition: Double
    private var nextRepetition = Double.infinity
    /// For each person, the number of the tracked person in the last sighting.
    private(set) var numbers: [Int?]

    /// The scene at time zero: the gimbal has started and turned to a heading, and tracking begins.
    /// With `repetition`, s, the request is repeated between two pictures, as in airframe-eyes.
    init(
        _ people: [Walk], seed: UInt64, heading: Double = 0,
        motion: BaseMotion = BaseMotion(.still, seed: 1), repetition: Double = .infinity
    ) {
        self.people = people
        self.repetition = repetition
        numbers = Array(repeating: nil, count: people.count)
        random = RandomSource(seed: seed)
        loop = SimulatedLoop(motion, seed: seed, rateHz: 500) { gimbal, tuning in
            gimbal.plant.stepRate = 2000
            gimbal.imu.sampleRate = 500
            tuning.bootMode = .locked
        }
        loop.run(seconds: Self.start / 2)
        loop.ask(.point(target: AxisVector(yaw: heading, roll: 0, pitch: 0), duration: 1.5))
        loop.run(seconds: Self.start / 2)
        loop.ask(.mode(.tracking))
        follower.ask(.on, at: Self.start)
        nextExposure = Self.start
    }

    private static let start = 8.0

    /// Time since the start, s.
    var seconds: Double { loop.seconds - Self.start }

    private func direction(_ place: (north: Double, east: Double)) -> EarthDirection {
        EarthDirection(Vector3(place.north, place.east, Self.drop))
    }

    /// Position of a person in the undelayed picture, 0...1 from the left; nil outside the picture
    /// or behind a wall.
    func place(_ index: Int) -> Double? {
        guard let place = people[index](seconds),
            let point = view.point(of: direction(place), loop.gimbal.attitude),
            (0..<view.width).contains(point.x), (0..<view.height).contains(point.y)
        else { return nil }
        return point.x / view.width
    }

    /// Runs the scene for a time.
    mutating func run(_ duration: Double, each: (FollowingScene) -> Void = { _ in }) {
        let end = loop.seconds + duration
        while loop.seconds < end {
            if loop.seconds >= nextExposure {
                expose()
                nextExposure += 1 / Double(Self.rateHz)
            }
            while let first = pending.first, first.due <= loop.seconds {
                pending.removeFirst()
                evaluate(first.exposed, first.attitude, first.people)
                nextRepetition = loop.seconds + repetition
            }
            if loop.seconds >= nextRepetition {
                nextRepetition += repetition
                if let aim = follower.hold(at: loop.seconds) { ask(aim) }
            }
            loop.step()
            each(self)
        }
    }

    private mutating func expose() {
        var seen: [(Int, Sighting)] = []
        for index in people.indices {
            guard place(index) != nil, let place = people[index](seconds),
                var point = view.point(of: direction(place), loop.gimbal.attitude)
            else { continue }
            // Random numbers are drawn also for a missed person, so that different runs stay
            // comparable.
            let isMissed = random.uniform() < Self.missing
            point.x += 4 * random.gaussian()
            point.y += 4 * random.gaussian()
            let distance =
                (place.north * place.north + place.east * place.east).squareRoot()
                * (1.1 + 0.1 * random.gaussian())
            if isMissed { continue }
            // Like the daemon's history, this history contains the estimated attitude.
            let seenAt = view.direction(of: point, loop.snapshot.attitude)
            seen.append(
                (index, Sighting(yaw: seenAt.yaw, aimPitch: seenAt.pitch, distance: distance)))
        }
        pending.append((loop.seconds + Self.delay, loop.seconds, loop.snapshot.attitude, seen))
    }

    private mutating func evaluate(
        _ exposed: Double, _ attitude: Quaternion, _ people: [(index: Int, Sighting)]
    ) {
        let axis = EarthDirection(attitude.rotate(Vector3(1, 0, 0)))
        let view = view
        let ids = follower.update(
            people.map(\.1), axis: axis,
            point: { x, y in
                view.direction(
                    of: PixelPoint(x: x * view.width, y: y * view.height), attitude)
            }, exposed: exposed, now: loop.seconds)
        for (person, id) in zip(people, ids) { numbers[person.index] = id ?? numbers[person.index] }
        if let aim = follower.aim(at: loop.seconds, axis: axis, view) { ask(aim) }
    }

    private mutating func ask(_ aim: PersonFollower.Aim) {
        loop.ask(
            .aim(
                Aim(
                    target: AxisVector(yaw: aim.yaw, roll: 0, pitch: aim.pitch),
                    rate: AxisVector(yaw: aim.yawRate, roll: 0, pitch: 0),
                    smoothing: follower.framing.smoothing)),
            validUntil: loop.now.advanced(bySeconds: 1))
    }
}
