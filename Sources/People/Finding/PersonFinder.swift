/// Finder of people in pictures, with two models. The first model detects bodies in the whole
/// picture. The second model finds the landmarks of one body. A `PersonFinder` is used by one
/// thread at a time.
public final class PersonFinder {
    /// Names of the model files and of the library's file, as in the directory that `make
    /// deps-eyes` creates.
    public enum Files {
        /// File of the library LiteRT.
        public static let library = "libLiteRt.so"
        /// File of the detector's model.
        public static let detector = "pose_detection.tflite"
        /// File of the landmark model.
        public static let landmarks = "pose_landmark_full.tflite"
    }

    /// Largest number of people in a picture; the most probable people are kept.
    public var maximumPeople = 8
    /// Smallest score of a detection, 0...1. The landmark model checks each detection. Therefore a
    /// low value causes no wrong results, but increases the computing time.
    public var minimumDetectionScore = 0.4
    /// Smallest score of a person, 0...1.
    public var minimumScore = 0.5

    private let detector: PoseDetector
    private let landmarks: PoseLandmarks

    /// Loads the library and the models.
    ///
    /// - Parameters:
    ///   - directory: Directory that contains `Files`.
    ///   - threads: Number of threads that execute a model, at least 1.
    /// - Throws: The reason why people cannot be found, with a remedy.
    public init(directory: String, threads: Int = 1) throws(InferenceError) {
        let library = try InferenceLibrary(path: "\(directory)/\(Files.library)")
        detector = try PoseDetector(
            library, path: "\(directory)/\(Files.detector)", threads: threads)
        landmarks = try PoseLandmarks(
            library, path: "\(directory)/\(Files.landmarks)", threads: threads)
    }

    /// Finds the people in a picture.
    ///
    /// - Parameter picture: The picture.
    /// - Returns: The people, the most probable first.
    /// - Throws: The reason why the models cannot be executed.
    public func find(in picture: RGBPicture) throws(InferenceError) -> [Person] {
        try find(in: picture, SquareRegion(around: picture), besides: [])
    }

    /// Finds the people in a part of a picture.
    ///
    /// - Parameters:
    ///   - picture: The picture.
    ///   - region: Part of the picture that the detector examines.
    ///   - known: People who have already been found in the picture.
    ///   - progress: Function that is called before each run of a model.
    /// - Returns: The people in this part who are not in `known`, the most probable first.
    /// - Throws: The reason why the models cannot be executed.
    public func find(
        in picture: RGBPicture, _ region: SquareRegion, besides known: [Person],
        progress: () -> Void = {}
    ) throws(InferenceError) -> [Person] {
        var people: [Person] = []
        progress()
        let bodies = try detector.find(
            in: picture, region, minimumScore: minimumDetectionScore)
        for body in bodies {
            guard people.count + known.count < maximumPeople else { break }
            let isKnown = (known + people).contains { $0.isAround(body.hips, body.face.centre) }
            if isKnown { continue }
            progress()
            guard let person = try find(in: picture, body.region) else { continue }
            if !(known + people).contains(where: { $0.isSame(as: person) }) {
                people.append(person)
            }
        }
        return people
    }

    /// Finds a person in a part of the picture, given the person in the previous picture.
    ///
    /// - Parameters:
    ///   - picture: The picture.
    ///   - region: Part of the picture, from the previous picture's `Person`.
    /// - Returns: The person; nil if the part contains no body.
    /// - Throws: The reason why the model cannot be executed.
    public func find(in picture: RGBPicture, _ region: SquareRegion) throws(InferenceError)
        -> Person?
    {
        try landmarks.find(in: picture, region, minimumScore: minimumScore)
    }
}

extension Person {
    /// True if a detection with these positions of hips and face belongs to this person.
    func isAround(_ hips: PixelPoint, _ face: PixelPoint) -> Bool {
        let near = region.side / 8
        return distance(region.centre, hips) < near
            && distance(self[.nose].point, face) < near
    }

    /// True if two results in one picture are the same person.
    public func isSame(as other: Person) -> Bool {
        box.overlap(other.box) > 0.6
            || distance(region.centre, other.region.centre)
                < 0.1 * min(region.side, other.region.side)
    }

    private func distance(_ a: PixelPoint, _ b: PixelPoint) -> Double {
        let (dx, dy) = (a.x - b.x, a.y - b.y)
        return (dx * dx + dy * dy).squareRoot()
    }
}
