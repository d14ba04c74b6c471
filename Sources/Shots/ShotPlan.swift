import PlainText

/// Waypoints of a shot, in order, computed from the shot's description. The same description always
/// gives the same plan.
public struct ShotPlan: Sendable, Equatable {
    /// Waypoint: a pose that the camera visits, with or without a photo.
    public struct Frame: Sendable, Equatable {
        /// Orientation of the camera; yaw is relative to the yaw at the beginning of the shot,
        /// -180...180°.
        public var pose: Pose
        /// Waiting time after the camera has become still, s.
        public var dwell = 0.0
        /// Number of the photo, from 1; nil if no photo is taken at this waypoint.
        public var photo: Int?
        /// Time of the photo since the beginning of the shot, s; nil if the photo is taken as soon
        /// as the camera is still.
        public var due: Double?
    }

    /// The description.
    public let recipe: ShotRecipe
    /// The waypoints, at least one.
    public let frames: [Frame]
    /// Number of photos.
    public let photos: Int

    /// Computes the waypoints.
    ///
    /// - Throws: `RecipeProblem` if the description contradicts itself.
    public init(_ recipe: ShotRecipe) throws(RecipeProblem) {
        try recipe.check()
        self.recipe = recipe
        var frames = Self.places(recipe)
        var photos = 0
        for index in frames.indices where frames[index].photo != nil {
            photos += 1
            frames[index].photo = photos
        }
        self.frames = frames
        self.photos = photos
    }

    /// Poses that the camera visits. The photos are not numbered yet: each number is 0.
    private static func places(_ recipe: ShotRecipe) -> [Frame] {
        switch recipe.kind {
        case .keyFrames:
            recipe.frames.map {
                Frame(pose: $0.pose, dwell: $0.dwell, photo: $0.shoots ? 0 : nil)
            }
        case .panorama(let panorama):
            panorama.grid.poses.map { Frame(pose: $0, photo: 0) }
        case .timelapse(let timelapse):
            timelapsed(timelapse, through: recipe.frames.map(\.pose))
        case .orbit(let orbit):
            (0..<orbit.photos).map { index in
                // The last photo of a whole circle would repeat the first one.
                let isClosed = orbit.turn.truncatingRemainder(dividingBy: 360) == 0
                let steps = Double(isClosed ? orbit.photos : orbit.photos - 1)
                let yaw = orbit.turn * Double(index) / steps
                return Frame(pose: Pose(yaw: Pose.wrapped(yaw), pitch: orbit.pitch), photo: 0)
            }
        }
    }

    private static func timelapsed(_ timelapse: ShotRecipe.Timelapse, through points: [Pose])
        -> [Frame]
    {
        let steps = Double(timelapse.photos - 1)
        let path = ShotPath(
            through: points, smoothing: Double(timelapse.smoothing) / steps, ease: timelapse.ease)
        return (0..<timelapse.photos).map { index in
            let pose = path.pose(at: Double(index) / steps)
            return Frame(
                pose: pose.turned(byYaw: 0), photo: 0, due: Double(index) * timelapse.interval)
        }
    }

    /// Checks that each waypoint is within the gimbal's range.
    ///
    /// - Parameters:
    ///   - ranges: Value of `motion.range_deg`: lower and upper end for yaw, roll and pitch,
    ///     degrees.
    ///   - originYaw: Yaw of the camera at the beginning, earth frame, degrees.
    /// - Returns: The first angle outside the range, as a sentence; nil if there is none.
    public func refusal(outside ranges: [[Double]], originYaw: Double) -> String? {
        guard ranges.count == 3 else { return nil }
        for (index, frame) in frames.enumerated() {
            let pose = frame.pose.turned(byYaw: originYaw)
            let angles = [("yaw", pose.yaw), ("roll", pose.roll), ("pitch", pose.pitch)]
            for ((name, angle), range) in zip(angles, ranges) where range.count == 2 {
                // Yaw has the same direction after each whole turn, as in airframed.
                let turns = name == "yaw" ? ((range[0] - angle) / 360).rounded(.up) : 0
                let turned = angle + 360 * turns
                guard turned < range[0] || turned > range[1] else { continue }
                return
                    "Waypoint \(index + 1): \(name) \(Format.fixed(angle, 1))° is outside motion.range_deg (\(Format.plain(range[0]))...\(Format.plain(range[1])))."
            }
        }
        return nil
    }

    /// Checks that the yaw joint can reach each waypoint while the handle keeps its heading.
    ///
    /// - Parameter joint: The yaw joint at the beginning of the shot.
    /// - Returns: The first waypoint that the joint cannot reach, as a sentence; nil if there is
    ///   none.
    public func warning(_ joint: YawJoint) -> String? {
        let range = joint.range
        for (index, frame) in frames.enumerated() {
            let angle = joint.angle + frame.pose.yaw
            // The joint has the same direction after each whole turn.
            let turns = ((range.lowerBound - angle) / 360).rounded(.up)
            guard angle + 360 * turns > range.upperBound else { continue }
            return
                "Waypoint \(index + 1): the yaw joint cannot reach yaw \(Format.fixed(frame.pose.yaw, 1))° (joints.range_deg), unless you turn the handle before the photo."
        }
        return nil
    }

    /// Identifier of the plan: a checksum (FNV-1a, 64 bits) of the poses, in hundredths of a
    /// degree, and of the photos' numbers and times, in ms. A saved state contains the identifier
    /// of its plan.
    public var identification: String {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        func add(_ value: Double) {
            for shift in stride(from: 0, to: 64, by: 8) {
                let bits = UInt64(bitPattern: Int64((value * 100).rounded()))
                hash = (hash ^ (bits >> UInt64(shift)) & 0xFF) &* 0x100_0000_01b3
            }
        }
        for frame in frames {
            [frame.pose.yaw, frame.pose.roll, frame.pose.pitch].forEach(add)
            add(Double(frame.photo ?? 0))
            add((frame.due ?? 0) * 10)
        }
        return String(hash, radix: 16)
    }
}

/// Predicted times of arrival and departure at a shot's waypoints.
public struct ShotForecast: Sendable, Equatable {
    /// Additional duration of each move, s, for acceleration, braking and the decay of the camera's
    /// motion.
    private static let overhead = 0.8

    /// Times of arrival and departure for each waypoint, since the beginning of the shot, s.
    public private(set) var times: [(arrival: Double, departure: Double)] = []

    /// Computes the times.
    ///
    /// - Parameters:
    ///   - plan: The plan with the waypoints.
    ///   - shutter: Time that the shutter takes, s.
    public init(_ plan: ShotPlan, shutter: Double = 0) {
        let recipe = plan.recipe
        var now = 0.0
        var last = plan.frames.first?.pose ?? Pose()
        for frame in plan.frames {
            let angle = frame.pose.distance(to: last)
            if angle > 0 { now += angle / recipe.rate + Self.overhead }
            let arrival = now
            now += recipe.still.seconds + frame.dwell
            if frame.photo != nil {
                now = max(now, frame.due ?? 0) + recipe.shutter.hold + shutter
            }
            times.append((arrival, now))
            last = frame.pose
        }
    }

    /// Duration of the whole shot, s.
    public var duration: Double { times.last?.departure ?? 0 }

    /// Remaining time of the shot after the departure from the waypoint before `frame`, s.
    public func rest(from frame: Int) -> Double {
        frame == 0 ? duration : duration - times[min(frame, times.count) - 1].departure
    }

    /// True if the two forecasts have the same times.
    public static func == (a: ShotForecast, b: ShotForecast) -> Bool {
        a.times.elementsEqual(b.times) { $0 == $1 }
    }
}
