import FoundationEssentials
public import GimbalCore
import Synchronization

/// Detector of bodies in a phone's picture. A detector is used by one thread at a time.
public protocol PoseSource {
    /// Finds bodies in a JPEG picture.
    ///
    /// - Parameters:
    ///   - jpeg: The picture as JPEG.
    ///   - quarterTurns: Number of clockwise quarter turns that make the people upright, 0...3.
    /// - Returns: Size of the picture before its rotation, pixels, and the detected bodies. The
    ///   coordinates of the bodies' points refer to the rotated picture.
    /// - Throws: An error if the picture cannot be examined.
    func bodies(in jpeg: [UInt8], quarterTurns: Int) throws -> (
        width: Int, height: Int, bodies: [Body]
    )
}

/// Person in a phone's picture.
public struct PhonePerson: Sendable, Equatable {
    /// ID of the person.
    public let id: String
    /// Name of the phone.
    public let device: String
    /// Midpoint between the hips, in the phone's world frame, m.
    public let position: Vector3
    /// Time of the picture's arrival on CLOCK_MONOTONIC, s.
    public let time: Double
}

/// Processor of the phones' frames. The processor detects the people in each picture, computes
/// their positions in the phone's world frame, assigns IDs, and broadcasts the result.
public struct AerieWorker {
    private let server: AerieServer
    private let source: any PoseSource
    private var register = PeopleRegister()
    private let report: @Sendable (_ device: String, _ people: [PhonePerson]) -> Void

    /// Creates a processor of the phones' frames.
    ///
    /// - Parameters:
    ///   - server: Source of the frames.
    ///   - source: Detector of bodies.
    ///   - report: Function that `step` calls after each examined frame, with the people in the
    ///     phone's picture.
    public init(
        _ server: AerieServer, _ source: any PoseSource,
        report: @escaping @Sendable (_ device: String, _ people: [PhonePerson]) -> Void = { _, _ in
        }
    ) {
        self.server = server
        self.source = source
        self.report = report
    }

    /// Examines one frame: the newest frame of the phone that has waited longest.
    ///
    /// - Parameter seconds: Timeout of the wait for a frame, s.
    /// - Returns: True if a frame was examined; false if none arrived in time.
    @discardableResult
    public mutating func step(within seconds: Double) -> Bool {
        guard let item = server.frames.take(within: seconds) else { return false }
        do {
            try examine(item)
        } catch {
            server.count(\.unusable)
            let problem = (error as? Unusable)?.sentence ?? AerieDevice.sentence(error)
            item.device.refuse(problem)
        }
        return true
    }

    /// Reason why a frame cannot be used.
    struct Unusable: Error {
        let sentence: String

        init(_ sentence: String) { self.sentence = sentence }
    }

    private mutating func examine(_ item: FrameQueue.Item) throws {
        let frame = try JSONDecoder().decode(CameraFrame.self, from: item.payload)
        guard let pose = DevicePose(frame.devicePose, axes: server.options.axes) else {
            throw Unusable("devicePose is not a 4 x 4 matrix of a rotation and a translation")
        }
        item.device.note(pose, arrival: item.arrival)
        guard let jpeg = Data(base64Encoded: frame.imageData), !jpeg.isEmpty else {
            throw Unusable("imageData is not base64")
        }
        let turns = pose.quarterTurns
        let picture: (width: Int, height: Int, bodies: [Body])
        do {
            picture = try source.bodies(in: Array(jpeg), quarterTurns: turns)
        } catch {
            throw Unusable("imageData cannot be processed: \(error)")
        }
        guard
            let optics = Optics(frame.intrinsics, width: picture.width, height: picture.height)
        else { throw Unusable("intrinsics are not plausible for a camera") }
        let placed = picture.bodies.prefix(PeopleRegister.limit).compactMap { body in
            BodyPlacement(
                body.turnedBack(
                    turns, width: Double(picture.width), height: Double(picture.height)), optics
            ).map { (body.confidence, body.joints, $0) }
        }
        let hips = placed.map { pose.rotation.rotate($0.2.hips) + pose.position }
        let names = register.names(
            for: hips, device: item.device.id, camera: pose.position, now: item.arrival)
        let poses = zip(names, placed).map { name, person in
            DetectedPose(
                personId: name,
                joints: JointType.allCases.compactMap { type in
                    guard let place = person.2.joints[type], let point = person.1[type] else {
                        return nil
                    }
                    let p = pose.rotation.rotate(place) + pose.position
                    return Joint(
                        type: type, position: [Float(p.x), Float(p.y), Float(p.z)],
                        confidence: Float(point.visibility))
                },
                sourceDevice: item.device.id, confidence: Float(person.0))
        }
        server.broadcast(
            PoseBroadcast(timestamp: server.options.now(), poses: poses), source: item.device.id)
        report(
            item.device.id,
            zip(names, hips).map {
                PhonePerson(id: $0, device: item.device.id, position: $1, time: item.arrival)
            })
    }
}
