public import GimbalCore

/// People detector for a camera's pictures. Known people are found with the landmark model. The
/// detector searches for other people, alternately in the whole picture and in parts of the
/// picture. A `PictureExaminer` is used by one thread only.
public final class PictureExaminer {
    /// Number of parts along the picture's shorter edge in the search for distant people; 1 finds
    /// only near people.
    public var divisions = 2
    /// Interval between searches while the followed person is in the picture, s.
    public var searchInterval = 1.0

    /// Recently observed body: its direction in the earth frame, and its position in the picture.
    private struct Body {
        var direction: EarthDirection
        var region: SquareRegion
        var lastSeen: Double
    }

    private let finder: PersonFinder
    private var known: [Int: Body] = [:]
    private var lastSearch = -Double.infinity
    /// Time of the exposure of the previous picture, s.
    private var lastPicture = -Double.infinity
    private var turn = 0

    /// Time without an observation after which a body counts as lost, s. Afterwards only the
    /// detector can find the body.
    private static let patience = 0.5

    /// Creates an examiner.
    ///
    /// - Parameter finder: Finder with the models, for this examiner only.
    public init(_ finder: PersonFinder) { self.finder = finder }

    /// Removes all known people.
    public func reset() {
        known = [:]
        (lastSearch, lastPicture) = (-.infinity, -.infinity)
        turn = 0
    }

    /// Determines whether a body can be found without the detector. A body of the previous picture
    /// never counts as lost: on a slow board, or with a low `people.rate_hz`, this picture is older
    /// than `patience`, and the detector examines the whole picture only every second time.
    ///
    /// - Parameters:
    ///   - lastSeen: Time of the body's last observation, s.
    ///   - previous: Time of the exposure of the previous picture, s.
    ///   - time: Time of the exposure of the present picture, s.
    /// - Returns: True if the body does not count as lost.
    static func isKnown(lastSeen: Double, previous: Double, at time: Double) -> Bool {
        lastSeen >= previous || time - lastSeen <= patience
    }

    /// Finds the people in a picture.
    ///
    /// - Parameters:
    ///   - picture: The picture.
    ///   - view: Camera model of the picture.
    ///   - attitude: Attitude of the camera at the exposure, body to earth.
    ///   - time: Time of the exposure, s.
    ///   - tracker: Tracker with the people in earlier pictures and their motion.
    ///   - isSearching: True if the person to follow has not been found.
    ///   - progress: Function that is called before each run of a model. On a slow board, a picture
    ///     with several people takes longer than the timeout of mode `tracking`.
    /// - Returns: The people.
    /// - Throws: The reason why the models cannot be executed.
    public func examine(
        _ picture: RGBPicture, _ view: CameraView, _ attitude: Quaternion, at time: Double,
        tracker: PersonTracker, isSearching: Bool, progress: () -> Void
    ) throws(InferenceError) -> [Person] {
        var people: [Person] = []
        let previous = lastPicture
        lastPicture = time
        for (id, body) in known.sorted(by: { $0.value.lastSeen > $1.value.lastSeen }) {
            guard Self.isKnown(lastSeen: body.lastSeen, previous: previous, at: time),
                let tracked = tracker[id]
            else {
                known[id] = nil
                continue
            }
            var direction = body.direction
            direction.yaw +=
                tracked.direction(at: time).yaw - tracked.direction(at: body.lastSeen).yaw
            guard let centre = view.point(of: direction, attitude) else { continue }
            var region = body.region
            region.centre = centre
            progress()
            if let person = try finder.find(in: picture, region),
                !people.contains(where: { $0.isSame(as: person) })
            {
                people.append(person)
            }
        }
        guard isSearching || time - lastSearch >= searchInterval || people.isEmpty else {
            return people
        }
        lastSearch = time
        return people + (try search(picture, besides: people, progress))
    }

    /// Searches for other people. Successive calls examine the whole picture and two of its parts
    /// in turn.
    private func search(
        _ picture: RGBPicture, besides people: [Person], _ progress: () -> Void
    ) throws(InferenceError) -> [Person] {
        let pattern = SearchPattern(
            width: picture.width, height: picture.height, divisions: divisions)
        var regions = [pattern.regions[0]]
        let parts = pattern.regions.count - 1
        if turn % 2 == 1, parts > 0 {
            regions = (0..<min(2, parts)).map { pattern.regions[1 + (turn - 1 + $0) % parts] }
        }
        turn += 1
        var found: [Person] = []
        for region in regions {
            found += try finder.find(
                in: picture, region, besides: people + found, progress: progress)
        }
        return found
    }

    /// Stores the positions of the people in the last picture, by track ID.
    ///
    /// - Parameters:
    ///   - people: The people in the picture.
    ///   - ids: Track ID of each person; nil for an untracked person.
    ///   - view: Camera model of the picture.
    ///   - attitude: Attitude of the camera at the exposure.
    ///   - time: Time of the exposure, s.
    public func note(
        _ people: [Person], _ ids: [Int?], _ view: CameraView, _ attitude: Quaternion,
        at time: Double
    ) {
        for (person, id) in zip(people, ids) {
            guard let id else { continue }
            known[id] = Body(
                direction: view.direction(of: person.region.centre, attitude),
                region: person.region, lastSeen: time)
        }
    }
}
