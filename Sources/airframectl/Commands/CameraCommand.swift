import ArgumentParser
import Client
import Glibc
import PlainText
import Wire

struct CameraCommand: AcknowledgedCommand {
    static let configuration = CommandConfiguration(
        commandName: "camera",
        abstract:
            "Take a photo, record the video, or change the video's settings: photo, record, stop, set.",
        discussion: """
            `record` and `stop` begin and end a recording (MP4) on the gimbal's computer; `photo` stores a JPEG file next to the recordings. \
            `set` changes live settings of airframe-eyes until airframe-eyes restarts or reads its file again, for example \
            `airframectl camera set video.width=1280 video.height=720 video.bitrate_kbps=4000`; video.enabled=false ends the stream.
            The command needs airframe-eyes.
            """)

    /// Camera action for users.
    enum Action: String, ExpressibleByArgument, CaseIterable {
        case photo, record, stop, set
    }

    /// Time within which airframe-eyes must execute a command, s. airframe-eyes gives the reason of
    /// a failed photo after 5 s.
    private static let patience = 7.0

    @OptionGroup var options: GlobalOptions
    @Argument(help: "photo, record, stop or set.")
    var action: Action
    @Argument(help: "Settings for the action `set`, as KEY=VALUE.")
    var settings: [String] = []

    func validate() throws {
        guard settings.isEmpty == (action != .set) else {
            throw ValidationError("\"set\" requires KEY=VALUE; the other actions have no settings.")
        }
        if let text = settings.first(where: { !$0.contains("=") }) {
            throw ValidationError(
                "\(text) has no value. Write KEY=VALUE, such as video.rate_hz=30.")
        }
    }

    func run() throws {
        let client = try options.connect()
        let photos = try capture(client)?.photos ?? 0
        var params: [String: JSONValue] = ["action": .string(action.rawValue)]
        if action == .set { params["settings"] = .array(settings.map(JSONValue.string)) }
        let reply: CameraReply = try client.request(Method.camera, params)
        let end = DaemonClient.now() + Self.patience
        var newest: CaptureState?
        while DaemonClient.now() < end {
            newest = try capture(client)
            if let state = newest, state.order >= reply.number {
                // The problem can be that of an earlier photo.
                if action == .record || action == .stop, isDone(state, photos) {
                    return finish(state)
                }
                if let problem = problem(state, reply.number, photos) {
                    throw ClientError.refused(RequestError("refused", problem, field: nil))
                }
                if isDone(state, photos) { return finish(state) }
            }
            usleep(100_000)
        }
        throw ClientError.timeout(Self.delay(of: reply.number, in: newest))
    }

    /// Message about a command without a result.
    ///
    /// - Parameters:
    ///   - order: Sequence number of the command.
    ///   - state: Newest state that airframe-eyes has reported; nil if it is not connected.
    /// - Returns: A sentence with the cause, and a sentence with the remedy.
    static func delay(of order: Int, in state: CaptureState?) -> String {
        guard let state else {
            return "airframe-eyes is no longer connected. See airframectl doctor."
        }
        return state.order < order
            ? "airframe-eyes has not begun the command. See airframectl doctor."
            : "airframe-eyes has begun the command, but has not reported a result within \(Format.plain(patience)) s. See `journalctl -u airframe-eyes`."
    }

    /// Reason why the command has failed; nil if there is none.
    private func problem(_ state: CaptureState, _ order: Int, _ photos: Int) -> String? {
        guard action == .photo else { return state.problem }
        guard case .failed(let reason) = PhotoOutcome(of: order, before: photos, in: state) else {
            return nil
        }
        return reason
    }

    private func isDone(_ state: CaptureState, _ photos: Int) -> Bool {
        switch action {
        case .photo: state.photos > photos
        case .record: state.isRecording
        case .stop: !state.isRecording
        case .set: true
        }
    }

    private func finish(_ state: CaptureState) {
        let sentence =
            switch action {
            case .photo: "The photo is stored."
            case .record: "The video is being recorded."
            case .stop: "The recording has ended."
            case .set:
                "The settings apply until airframe-eyes restarts or reads its configuration file again."
            }
        let values: [String: JSONValue] = [
            "recording": .bool(state.isRecording), "photos": .int(state.photos),
        ]
        Output.line(Output.text(of: sentence, values, json: options.json))
    }

    private func capture(_ client: DaemonClient) throws -> CaptureState? {
        let status: Status = try client.request(Method.status)
        return status.companions.lazy.compactMap(\.report.capture).first
    }
}
