public import FoundationEssentials

/// Kind of a message between phone and server.
public enum MessageType: String, Codable, Sendable {
    /// `AuthRequest` of a phone.
    case authRequest
    /// The server's `AuthResponse`, a message that also reports every error.
    case authResponse
    /// `CameraFrame` of a phone.
    case cameraFrame
    /// `PoseBroadcast` of the server.
    case poseBroadcast
    /// Heartbeat of a phone, and the server's answer to a heartbeat.
    case heartbeat
}

/// Envelope of every message.
public struct Message: Codable, Sendable {
    /// Kind of the payload.
    public var type: MessageType
    /// Time of sending, Unix time, s.
    public var timestamp: Double
    /// JSON text of the message; the envelope contains this text as base64.
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
    ///   - type: Kind of the message.
    ///   - timestamp: Unix time, s.
    ///   - body: The message to be encoded.
    /// - Throws: `EncodingError` if a number is not finite.
    public init(_ type: MessageType, timestamp: Double, _ body: some Encodable) throws {
        self.init(type: type, timestamp: timestamp, payload: try JSONEncoder().encode(body))
    }

    /// JSON text of the envelope, UTF-8.
    var text: [UInt8] { (try? JSONEncoder().encode(self)).map { Array($0) } ?? [] }
}

/// Model and operating system of the phone.
public struct DeviceInfo: Codable, Sendable, Equatable {
    /// Model of the phone, such as "iPhone 14 Pro".
    public var model: String
    /// Operating system of the phone, such as "iOS 17.1".
    public var osVersion: String
    /// True if the phone has a LiDAR sensor, which measures distances.
    public var hasLiDAR: Bool

    /// Creates a description.
    public init(model: String, osVersion: String, hasLiDAR: Bool) {
        self.model = model
        self.osVersion = osVersion
        self.hasLiDAR = hasLiDAR
    }

    /// Maximum length of `model` and of `osVersion` on the server, characters; longer texts are
    /// cut.
    static let longest = 64

    /// The description without control characters, which a terminal would interpret, and with at
    /// most `longest` characters per text.
    var printable: DeviceInfo {
        func clean(_ text: String) -> String {
            let visible = text.unicodeScalars.filter(\.isPrintable)
            return String(String.UnicodeScalarView(visible.prefix(Self.longest)))
        }
        return DeviceInfo(
            model: clean(model), osVersion: clean(osVersion), hasLiDAR: hasLiDAR)
    }
}

extension Unicode.Scalar {
    /// False for control characters, which a terminal would interpret, and for separators.
    var isPrintable: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: false
        default: true
        }
    }
}

/// A phone's request for admission.
public struct AuthRequest: Codable, Sendable, Equatable {
    /// Name of the phone, as in the path of its HTTP request.
    public var deviceId: String
    /// Base64 of HMAC-SHA256 with the shared secret over `deviceId:timestamp`.
    public var token: String
    /// Model and operating system of the phone.
    public var deviceInfo: DeviceInfo
    /// Unix time, s, in exactly the text form that was signed. HawkSight sends no timestamp, so the
    /// server cannot check HawkSight's tokens.
    public var timestamp: String?

    /// Creates a request.
    public init(deviceId: String, token: String, deviceInfo: DeviceInfo, timestamp: String? = nil) {
        self.deviceId = deviceId
        self.token = token
        self.deviceInfo = deviceInfo
        self.timestamp = timestamp
    }
}

/// Answer to an `AuthRequest`, or report of an error.
public struct AuthResponse: Codable, Sendable, Equatable {
    /// True if the phone is admitted.
    public var success: Bool
    /// ID of the session; nil after a failure.
    public var sessionId: String?
    /// Description of the error; nil after success.
    public var error: String?

    /// Creates an answer.
    public init(success: Bool, sessionId: String? = nil, error: String? = nil) {
        self.success = success
        self.sessionId = sessionId
        self.error = error
    }
}

/// Intrinsics of a phone's camera: focal lengths and principal point, pixels.
public struct CameraIntrinsics: Codable, Sendable, Equatable {
    /// Focal lengths, pixels.
    public var fx: Float, fy: Float
    /// Principal point, pixels from the upper left corner.
    public var cx: Float, cy: Float
    /// Picture size for these focal lengths and this principal point, pixels.
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

/// Picture that a phone has taken, with the pose of the phone.
public struct CameraFrame: Codable, Sendable, Equatable {
    /// Identifier of the picture.
    public var frameId: String
    /// Time of the picture on the phone's clock, s.
    public var timestamp: Double
    /// Picture as JPEG in base64.
    public var imageData: String
    /// Pose of the phone in its world frame, as a matrix of 4 × 4 numbers; see `DevicePose`.
    public var devicePose: [[Float]]
    /// Intrinsics of the camera for this picture.
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

/// Joints of a body in a broadcast.
public enum JointType: String, Codable, Sendable, CaseIterable {
    case head, leftShoulder, rightShoulder, leftElbow, rightElbow, leftWrist, rightWrist
    case leftHip, rightHip, leftKnee, rightKnee, leftAnkle, rightAnkle
}

/// Position of a joint.
public struct Joint: Codable, Sendable, Equatable {
    /// Kind of joint.
    public var type: JointType
    /// Position x, y, z of the joint, in the world frame of the phone that took the picture, m.
    public var position: [Float]
    /// Probability that the joint is visible, 0...1.
    public var confidence: Float

    /// Creates a position.
    public init(type: JointType, position: [Float], confidence: Float) {
        self.type = type
        self.position = position
        self.confidence = confidence
    }
}

/// A person and the positions of the person's joints.
public struct DetectedPose: Codable, Sendable, Equatable {
    /// ID of the person, constant while the person is visible.
    public var personId: String
    /// Visible joints of the person.
    public var joints: [Joint]
    /// `deviceId` of the phone that took the picture. The positions are in this phone's world
    /// frame.
    public var sourceDevice: String
    /// Probability that the detected body is a person, 0...1.
    public var confidence: Float

    /// Creates a person.
    public init(personId: String, joints: [Joint], sourceDevice: String, confidence: Float) {
        self.personId = personId
        self.joints = joints
        self.sourceDevice = sourceDevice
        self.confidence = confidence
    }
}

/// Broadcast to all phones: the people in one phone's picture.
public struct PoseBroadcast: Codable, Sendable, Equatable {
    /// Time of the broadcast, Unix time, s.
    public var timestamp: Double
    /// People in the phone's picture; empty if there are none.
    public var poses: [DetectedPose]

    /// Creates a broadcast.
    public init(timestamp: Double, poses: [DetectedPose]) {
        self.timestamp = timestamp
        self.poses = poses
    }
}
