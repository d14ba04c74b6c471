import Aerie
import People

/// Detector of bodies in phones' pictures: libjpeg-turbo decodes the pictures, and `PersonFinder`
/// finds the people. A `PhonePoseSource` is used by one thread at a time.
final class PhonePoseSource: PoseSource {
    private let decoder: JPEGDecoder
    private let finder: PersonFinder

    /// Loads the people-detection models.
    ///
    /// - Parameter directory: Directory of the models and the library.
    /// - Throws: The reason why the models or the JPEG library cannot be used.
    init(directory: String) throws {
        decoder = try JPEGDecoder()
        finder = try PersonFinder(directory: directory)
    }

    func bodies(in jpeg: [UInt8], quarterTurns: Int) throws -> (
        width: Int, height: Int, bodies: [Body]
    ) {
        let (width, height, picture) = try decoder.decode(jpeg)
        let people = try finder.find(in: picture.turned(quarterTurns))
        let scale = Double(width) / Double(picture.width)
        return (width, height, people.map { Body($0, scale: scale) })
    }
}

extension Body {
    /// Converts a person in a picture to a `Body`. `scale` is the width of the phone's picture
    /// divided by the width of the decoded picture.
    init(_ person: Person, scale: Double) {
        func point(_ landmark: Landmark) -> BodyPoint {
            BodyPoint(
                u: landmark.point.x * scale, v: landmark.point.y * scale, x: landmark.x,
                y: landmark.y, z: landmark.z, visibility: landmark.visibility)
        }
        let parts: [JointType: Landmark.Part] = [
            .leftShoulder: .leftShoulder, .rightShoulder: .rightShoulder, .leftElbow: .leftElbow,
            .rightElbow: .rightElbow, .leftWrist: .leftWrist, .rightWrist: .rightWrist,
            .leftHip: .leftHip, .rightHip: .rightHip, .leftKnee: .leftKnee, .rightKnee: .rightKnee,
            .leftAnkle: .leftAnkle, .rightAnkle: .rightAnkle,
        ]
        var joints = parts.mapValues { point(person[$0]) }
        // The position of the head is the midpoint between the ears.
        let (left, right) = (point(person[.leftEar]), point(person[.rightEar]))
        joints[.head] = BodyPoint(
            u: (left.u + right.u) / 2, v: (left.v + right.v) / 2, x: (left.x + right.x) / 2,
            y: (left.y + right.y) / 2, z: (left.z + right.z) / 2,
            visibility: max(left.visibility, right.visibility))
        self.init(
            confidence: person.score, points: person.landmarks.map(point), joints: joints)
    }
}
