import FoundationEssentials
import GimbalCore
import TestSupport
import Wire

@testable import Aerie

/// Simulated phone with the app HawkSight, according to the app's description: message order,
/// token, matrices and projection.
final class HawkSight {
    let socket: WebClient
    let device: String
    private(set) var session: String?

    /// Steps 1 and 2: Connects with the device name in the URL, from the address 127.0.0.`host`.
    init(
        port: Int, device: String = "3F2504E0-4F89-11D3-9A0C-0305E82C3301", host: UInt8 = 1
    ) throws {
        self.device = device
        socket = try WebClient(port: port, host: host)
        guard try socket.upgrade("/ws/connect/\(device)").status == 101 else {
            throw WebClient.Failure.malformed
        }
    }

    /// Token of the app: base64 of HMAC-SHA256 over `device:timestamp`.
    static func token(device: String, timestamp: String, secret: String) -> String {
        let key = SharedKey(secret: Array(secret.utf8))
        return Data(key.hmac("\(device):\(timestamp)".utf8)).base64EncodedString()
    }

    func send(_ type: String, _ payload: some Encodable) throws {
        let inner = try JSONEncoder().encode(payload).base64EncodedString()
        try socket.send(message: #"{"type":"\#(type)","timestamp":1732.5,"payload":"\#(inner)"}"#)
    }

    /// Reads messages until one of this type arrives.
    func receive<Body: Decodable>(_ type: MessageType, as: Body.Type) throws -> Body {
        while true {
            let message = try JSONDecoder().decode(
                Message.self, from: Data(try socket.message().utf8))
            if message.type == type {
                return try JSONDecoder().decode(Body.self, from: message.payload)
            }
        }
    }

    func response() throws -> AuthResponse { try receive(.authResponse, as: AuthResponse.self) }

    /// Steps 3 and 4: Sends the request with the token, and returns the answer.
    @discardableResult
    func authenticate(
        token: String? = nil, secret: String = "secret", timestamp: String? = nil
    ) throws -> AuthResponse {
        let request = AuthRequest(
            deviceId: device,
            // Without a time in the message, the app signs a time that it does not send.
            token: token
                ?? Self.token(device: device, timestamp: timestamp ?? "1732.25", secret: secret),
            deviceInfo: DeviceInfo(model: "iPhone 14 Pro", osVersion: "iOS 17.1", hasLiDAR: true),
            timestamp: timestamp)
        try send("authRequest", request)
        let answer = try response()
        session = answer.sessionId
        return answer
    }

    /// Step 5: Sends an image with pose and intrinsics.
    func send(frame id: Int, pose: DevicePose, axes: AerieOptions.CameraAxes) throws {
        try send(
            "cameraFrame",
            CameraFrame(
                frameId: "\(id)", timestamp: Double(id) / 30,
                imageData: Data([1]).base64EncodedString(), devicePose: pose.matrix(axes: axes),
                intrinsics: Skeleton.intrinsics))
    }

    /// Projection of a joint in the app: the inverse of the pose matrix, then a pinhole camera. The
    /// app draws only joints with a positive z.
    static func pixel(_ joint: Joint, _ matrix: [[Float]], _ k: CameraIntrinsics) -> (
        x: Float, y: Float
    )? {
        let d = (0..<3).map { joint.position[$0] - matrix[$0][3] }
        let p = (0..<3).map { column in (0..<3).reduce(0) { $0 + matrix[$1][column] * d[$1] } }
        guard p[2] > 0 else { return nil }
        let (x, y) = (k.fx * p[0] / p[2] + k.cx, k.fy * p[1] / p[2] + k.cy)
        guard x >= 0, x < Float(k.width), y >= 0, y < Float(k.height) else { return nil }
        return (x, y)
    }
}

extension DevicePose {
    /// Matrix of this pose in row-major order, which is the documented order of HawkSight.
    func matrix(axes: AerieOptions.CameraAxes) -> [[Float]] {
        let q = axes == .arkit ? rotation * .aboutX(.pi).conjugate : rotation
        let columns = [Vector3(1, 0, 0), Vector3(0, 1, 0), Vector3(0, 0, 1)].map { q.rotate($0) }
        let rows = [
            columns.map(\.x) + [position.x], columns.map(\.y) + [position.y],
            columns.map(\.z) + [position.z], [0, 0, 0, 1],
        ]
        return rows.map { $0.map(Float.init) }
    }
}
