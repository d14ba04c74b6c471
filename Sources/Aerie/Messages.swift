public import FoundationEssentials

/// Kind of a message.
public enum MessageType: String, Codable, Sendable {
    /// `AuthRequest` of a phone.
    case authRequest
    /// `AuthResponse` of the server, also for every error.
    case authResponse
    /// `CameraFrame` of a phone.
    case cameraFrame
    /// `PoseBroadcast` of the server.
    case poseBroadcast
    /// Sign of life of a phone, and the server's answer to it.
    case heartbeat
}

/// Envelope of every message.
public struct Message: Codable, Sendable {
    /// Kind of the payload.
    public var type: MessageType
    /// Time of sending, Unix time, s.
    public var timestamp: Double
    /// JSON text of the message; base64 in the envelope.
    public var payload: Data

    /// Creates an envelope.
    public init(type: MessageType, timestamp: Double, payload: Data) {
        self.type = type
        self.timestamp = timestamp
        self.payload = payload
    }

    /// Puts a message into an envelope.
    ///
    /// - Parameters:
    ///   - type: Its kind.
    ///   - timestamp: Unix time, s.
    ///   - body: The message.
    /// - Throws: `EncodingError` for a number that is not finite.
    public init(_ type: MessageType, timestamp: Double, _ body: some Encodable) throws {
        self.init(type: type, timestamp: timestamp, payload: try JSONEncoder().encode(body))
    }

    /// The envelope as JSON text, UTF-8.
    var text: [UInt8] { (try? JSONEncoder().encode(self)).map { Array($0) } ?? [] }
}

/// Kind of phone.
public struct DeviceInfo: Codable, Sendable, Equatable {
    /// Model, as "iPhone 14 Pro".
    public var model: String
    /// Version of its system, as "iOS 17.1".
    public var osVersion: String
    /// Whether it measures distances.
    public var hasLiDAR: Bool

    /// Creates a description.
    public init(model: String, osVersion: String, hasLiDAR: Bool) {
        self.model = model
        self.osVersion = osVersion
        self.hasLiDAR = hasLiDAR
    }
}

/// Request of a phone to be admitted.
public struct AuthRequest: Codable, Sendable, Equatable {
    /// Name of the phone, which the address contains too.
    public var deviceId: String
    /// Base64 of HMAC-SHA256 with the shared secret over `deviceId:timestamp`.
    public var token: String
    /// Kind of phone.
    public var deviceInfo: DeviceInfo
    /// The signed Unix time, s, as the exact text that was signed. HawkSight does not send it, so its
    /// token cannot be checked.
    public var timestamp: String?

    /// Creates a request.
    public init(deviceId: String, token: String, deviceInfo: DeviceInfo, timestamp: String? = nil) {
        self.deviceId = deviceId
        self.token = token
        self.deviceInfo = deviceInfo
        self.timestamp = timestamp
    }
}

/// Answer to an `AuthRequest`, and the message for every error.
public struct AuthResponse: Codable, Sendable, Equatable {
    /// Whether the phone is admitted.
    public var success: Bool
    /// Name of the session; nil after a failure.
    public var sessionId: String?
    /// The problem; nil after success.
    public var error: String?

    /// Creates an answer.
    public init(success: Bool, sessionId: String? = nil, error: String? = nil) {
        self.success = success
        self.sessionId = sessionId
        self.error = error
    }
}

/// Optics of a phone's camera, pixels.
public struct CameraIntrinsics: Codable, Sendable, Equatable {
    /// Focal lengths.
    public var fx: Float, fy: Float
    /// Principal point, from the upper left corner.
    public var cx: Float, cy: Float
    /// Size of the picture to which the other values apply.
    public var width: Int, height: Int

    /// Creates a description.
    public init(fx: Float, fy: Float, cx: Float, cy: Float, width: Int, height: Int) {
        self.fx = fx
        self.fy = fy
        self.cx = cx
        self.cy = cy
        self.width = width
        self.height = height
    }
}

/// Picture of a phone with its pose.
public struct CameraFrame: Codable, Sendable, Equatable {
    /// Name of the picture.
    public var frameId: String
    /// Time of the picture on the phone's clock, s.
    public var timestamp: Double
    /// JPEG as base64.
    public var imageData: String
    /// Pose of the phone in its world, a matrix of 4 × 4; see `DevicePose`.
    public var devicePose: [[Float]]
    /// Optics.
    public var intrinsics: CameraIntrinsics

    /// Creates a frame.
    public init(
        frameId: String, timestamp: Double, imageData: String, devicePose: [[Float]],
        intrinsics: CameraIntrinsics
    ) {
        self.frameId = frameId
        self.timestamp = timestamp
        self.imageData = imageData
        self.devicePose = devicePose
        self.intrinsics = intrinsics
    }
}

/// Joint of a body that a broadcast can contain.
public enum JointType: String, Codable, Sendable, CaseIterable {
    case head, leftShoulder, rightShoulder, leftElbow, rightElbow, leftWrist, rightWrist
    case leftHip, rightHip, leftKnee, rightKnee, leftAnkle, rightAnkle
}

/// Place of a joint.
public struct Joint: Codable, Sendable, Equatable {
    /// The joint.
    public var type: JointType
    /// x, y, z in the world of the phone that saw it, m.
    public var position: [Float]
    /// Probability that the joint is visible, 0...1.
    public var confidence: Float

    /// Creates a place.
    public init(type: JointType, position: [Float], confidence: Float) {
        self.type = type
        self.position = position
        self.confidence = confidence
    }
}

/// Person with its joints.
public struct DetectedPose: Codable, Sendable, Equatable {
    /// Name of the person, which stays the same while the person is followed.
    public var personId: String
    /// The visible joints.
    public var joints: [Joint]
    /// `deviceId` of the phone that saw the person, in whose world the positions are.
    public var sourceDevice: String
    /// Probability that this is a person, 0...1.
    public var confidence: Float

    /// Creates a person.
    public init(personId: String, joints: [Joint], sourceDevice: String, confidence: Float) {
        self.personId = personId
        self.joints = joints
        self.sourceDevice = sourceDevice
        self.confidence = confidence
    }
}

/// People whom one phone sees, for all phones.
public struct PoseBroadcast: Codable, Sendable, Equatable {
    /// Time of the broadcast, Unix time, s.
    public var timestamp: Double
    /// The people; empty if the phone sees none.
    public var poses: [DetectedPose]

    /// Creates a broadcast.
    public init(timestamp: Double, poses: [DetectedPose]) {
        self.timestamp = timestamp
        self.poses = poses
    }
}
