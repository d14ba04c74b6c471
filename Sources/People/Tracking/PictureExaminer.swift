public import GimbalCore

/// Examiner of a camera's pictures: follows the people whom it knows with the model of landmarks, and
/// looks for others with the detector, in the whole picture and in parts of it by turns. Only one
/// thread uses a `PictureExaminer`.
public final class PictureExaminer {
    /// Number by which the shorter edge of the picture is divided for people far away; 1: people
    /// nearby only.
    public var divisions = 2
    /// Time between two searches while the followed person is in the picture, s.
    public var searchInterval = 1.0

    /// Body that was in the last picture: its direction in the earth frame, and its place.
    private struct Known {
        var direction: EarthDirection
        var region: SquareRegion
        var lastSeen: Double
    }

    private let finder: PersonFinder
    private var known: [Int: Known] = [:]
    private var lastSearch = -Double.infinity
    private var turn = 0

    /// Time without a sighting after which a body is only looked for by the detector, s.
    private static let patience = 0.5

    /// Creates an examiner.
    ///
    /// - Parameter finder: The models; nothing else uses them meanwhile.
    public init(_ finder: PersonFinder) { self.finder = finder }

    /// Forgets all people.
    public func reset() {
        known = [:]
        lastSearch = -.infinity
        turn = 0
    }

    /// Finds the people in a picture.
    ///
    /// - Parameters:
    ///   - picture: The picture.
    ///   - view: Relation of its pixels to directions.
    ///   - attitude: Attitude of the camera at the exposure, body to earth.
    ///   - time: Time of the exposure, s.
    ///   - tracker: The people so far, with their motion.
    ///   - isSearching: Whether the person to follow is not in the picture.
    /// - Returns: The people.
    /// - Throws: The reason why the models cannot be executed.
    public func examine(
        _ picture: RGBPicture, _ view: CameraView, _ attitude: Quaternion, at time: Double,
        tracker: PersonTracker, isSearching: Bool
    ) throws(InferenceError) -> [Person] {
        var people: [Person] = []
        for (id, body) in known.sorted(by: { $0.value.lastSeen > $1.value.lastSeen }) {
            guard time - body.lastSeen <= Self.patience, let tracked = tracker[id] else {
                known[id] = nil
                continue
            }
            var direction = body.direction
            direction.yaw +=
                tracked.direction(at: time).yaw - tracked.direction(at: body.lastSeen).yaw
            guard let centre = view.point(of: direction, attitude) else { continue }
            var region = body.region
            region.centre = centre
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
        return people + (try search(picture, besides: people))
    }

    /// Looks for others: in the whole picture, then in two of the parts, and so on.
    private func search(_ picture: RGBPicture, besides people: [Person]) throws(InferenceError)
        -> [Person]
    {
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
            found += try finder.find(in: picture, region, besides: people + found)
        }
        return found
    }

    /// Notes the numbers of the people of the last picture.
    ///
    /// - Parameters:
    ///   - people: The people.
    ///   - ids: Their numbers; nil for one that is not tracked.
    ///   - view: Relation of pixels to directions.
    ///   - attitude: Attitude of the camera at the exposure.
    ///   - time: Time of the exposure, s.
    public func note(
        _ people: [Person], _ ids: [Int?], _ view: CameraView, _ attitude: Quaternion,
        at time: Double
    ) {
        for (person, id) in zip(people, ids) {
            guard let id else { continue }
            known[id] = Known(
                direction: view.direction(of: person.region.centre, attitude),
                region: person.region, lastSeen: time)
        }
    }
}
