import Client
import GimbalCore
import Glibc
import Recording
import Wire

/// Recording of the camera's motion while a video is recorded. The `.gcsv` file is written from a
/// stream of the daemon's socket. In addition, the flight recorder makes a continuous recording
/// that contains every tick.
struct MotionStream {
    /// Names of the variables: rates about x, y and z, and specific force along x, y and z.
    private static let names = [
        "rate.roll", "rate.pitch", "rate.yaw", "accel.x", "accel.y", "accel.z",
    ]
    /// Maximum rate of the socket's streams, Hz.
    private static let hz = 200.0

    private let subscription: Int
    private let offset: Double
    /// The log, which can outlast the stream.
    let log: MotionLog

    /// Subscribes to the motion, and starts the flight recorder unless it is already recording.
    init(_ log: MotionLog, _ client: DaemonClient) throws(ClientError) {
        self.log = log
        offset = try client.clockOffset().seconds
        subscription = try client.subscribe(Self.names, hz: Self.hz)
        log.flight = try Self.startFlight(client)
    }

    /// Writes a message of the daemon to the log; other messages are ignored.
    ///
    /// - Throws: `Errno` if the file cannot be written.
    func take(_ message: JSONValue) throws {
        guard message["subscription"]?.int == subscription, let time = message["t"]?.number
        else { return }
        let values = Self.names.compactMap { message["values"]?[$0]?.number }
        guard values.count == Self.names.count else { return }
        let rate = Vector3(values[0], values[1], values[2]) * (.pi / 180)
        let force = Vector3(values[3], values[4], values[5])
        try log.append(GyroLog.Sample(time: time, rate: rate, force: force), offset: offset)
    }

    /// Ends the stream, and the flight recording if this stream has started it. The flight recording
    /// continues if another client has requested it in the meantime.
    func end(_ client: DaemonClient) throws(ClientError) {
        try client.unsubscribe(subscription)
        let _: RecorderStatus? = try Self.flight(client, "stop")
    }

    /// Starts a continuous recording with the flight recorder. The recording includes the second
    /// before the request, because the first picture precedes the request.
    ///
    /// - Returns: Name of the file; nil if the recorder is off or has not created the file within a
    ///   second.
    private static func startFlight(_ client: DaemonClient) throws(ClientError) -> String? {
        guard let before = try flight(client, "status"), before.isEnabled else { return nil }
        let earlier = before.isRecording ? nil : before.openFile
        var status = before.isRecording ? before : try flight(client, "start", past: 1)
        for _ in 0..<20 {
            guard let present = status else { return nil }
            if let file = name(in: present, after: earlier) { return file }
            usleep(50_000)
            status = try flight(client, "status")
        }
        return status.flatMap { name(in: $0, after: earlier) }
    }

    /// Name of the file of the present flight recording.
    ///
    /// - Parameters:
    ///   - status: State of the flight recorder.
    ///   - earlier: Path of an earlier recording that was not complete at the start of the present
    ///     one, because the disk is slow; nil if there was none.
    /// - Returns: The name; nil before the recorder has created the file.
    static func name(in status: RecorderStatus, after earlier: String?) -> String? {
        guard let path = status.openFile, path != earlier else { return nil }
        return path.split(separator: "/").last.map(String.init)
    }

    /// Sends a request to the flight recorder; nil if the daemon refuses the request.
    private static func flight(
        _ client: DaemonClient, _ action: String, past: Double? = nil
    ) throws(ClientError) -> RecorderStatus? {
        var params: [String: JSONValue] = ["action": .string(action)]
        params["seconds"] = past.map(JSONValue.double)
        // The flight recording belongs to this connection. It stops when the connection ends, even if
        // this program is killed, and continues if another client requests it.
        if action != "status" { params["attached"] = true }
        do throws(ClientError) {
            return try client.request("record", params)
        } catch {
            if case .refused = error { return nil }
            throw error
        }
    }
}
