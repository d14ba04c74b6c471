/// Saved state of a shot. The state is saved before and after each photo, and synced to the disk.
/// If the shutter can report whether a photo was taken, an interrupted shot continues without
/// missing or duplicate photos.
public struct ShotRecord: Sendable, Equatable, Codable {
    /// Photo that the program is about to take, and possibly took before the program ended.
    public struct Pending: Sendable, Equatable, Codable {
        /// Value of the shutter's counter before the photo; nil if the shutter has no counter.
        public var mark: Int?
        /// Time shortly before the photo, s since 1970.
        public var time: Double

        /// Creates an intention.
        public init(mark: Int?, time: Double) { (self.mark, self.time) = (mark, time) }
    }

    /// Version of the format.
    public static let format = 1

    /// Version of the format of this record.
    public var version = Self.format
    /// The description of the shot.
    public var recipe: ShotRecipe
    /// Identifier of the plan, see `ShotPlan.identification`.
    public var plan: String
    /// Yaw of the camera at the beginning, earth frame, degrees.
    public var originYaw: Double
    /// Number of completed waypoints, which is also the index of the current waypoint.
    public var done = 0
    /// The photo at the current waypoint, if the photo is about to be taken; nil otherwise.
    public var pending: Pending?
    /// Time of the newest photo, s since 1970; nil before the first one. After a restart, the
    /// intervals continue from this time.
    public var newestPhoto: Double?
    /// Numbers of photos that were perhaps taken twice.
    public var repeated: [Int] = []
    /// Numbers of photos that were perhaps not taken.
    public var skipped: [Int] = []
    /// Number of photos that were taken although the camera was not still.
    public var unsteady = 0
    /// Numbers of photos that were taken in another pose, because a joint was at the end of its
    /// range; nil if there are none.
    public var blocked: [Int]?

    /// Creates the state of a shot that has not begun.
    public init(_ plan: ShotPlan, originYaw: Double) {
        recipe = plan.recipe
        self.plan = plan.identification
        self.originYaw = originYaw
    }

    /// Sentences about photos that were taken although the camera was not still at its pose, that
    /// were perhaps taken twice, or that are perhaps missing.
    public var remarks: [String] {
        func list(_ photos: [Int]) -> String { photos.map(String.init).joined(separator: ", ") }
        var remarks: [String] = []
        if unsteady > 0 { remarks.append("The camera was moving during \(unsteady) photos.") }
        if let blocked {
            remarks.append(
                "A joint was at the end of its range, so these photos have another pose: \(list(blocked))."
            )
        }
        if !repeated.isEmpty { remarks.append("Perhaps double: \(list(repeated)).") }
        if !skipped.isEmpty { remarks.append("Perhaps missing: \(list(skipped)).") }
        return remarks
    }

    /// True if the record belongs to the plan, and all its values are valid.
    public func fits(_ plan: ShotPlan) -> Bool {
        version == Self.format && self.plan == plan.identification
            && (0...plan.frames.count).contains(done) && originYaw.isFinite
            && (pending == nil || done < plan.frames.count)
    }
}
