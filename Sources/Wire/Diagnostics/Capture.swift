/// State of a companion that takes photos and records video.
public struct CaptureState: Hashable, Sendable, Codable {
    /// True if a recording runs.
    public var isRecording = false
    /// Duration of the recording, s.
    public var recordingS = Number(0)
    /// Number of photos since the start of the companion.
    public var photos = 0
    /// Free space on the disk for recordings, MB; unknown without the disk.
    public var freeMb = Number.unknown
    /// Size of this disk, MB; unknown without the disk.
    public var totalMb = Number.unknown
    /// Number of the newest order that the companion has executed; 0 before the first.
    public var order = 0
    /// Reason why the newest order was not executed, or why a requested recording does not run.
    public var problem: String?

    /// A companion that has done nothing yet.
    public init() {}

    /// The member `capture` of the request `companion`.
    var params: JSONValue {
        func number(_ value: Number) -> JSONValue { value.known.map(JSONValue.double) ?? .null }
        return .object([
            "recording": .bool(isRecording), "recording_s": number(recordingS),
            "photos": .int(photos), "free_mb": number(freeMb), "total_mb": number(totalMb),
            "order": .int(order), "problem": problem.map(JSONValue.string) ?? .null,
        ])
    }
}

/// Order of a user to the companion that records video.
public struct CameraOrder: Hashable, Sendable, Codable {
    /// Action of an order.
    public enum Action: String, Sendable, Codable, CaseIterable {
        /// Take a photo.
        case photo
        /// Begin to record the video.
        case record
        /// End the recording.
        case stop
        /// Change live settings of the companion until its next start.
        case set
    }

    /// Number of the order, from 1; the companion executes each number once.
    public var number: Int
    /// The action.
    public var action: Action
    /// `KEY=VALUE` for `set`.
    public var settings: [String]

    /// Creates an order.
    public init(number: Int, action: Action, settings: [String] = []) {
        self.number = number
        self.action = action
        self.settings = settings
    }
}

/// Answer to an order: its number, with which the companion reports its execution.
public struct CameraReply: Hashable, Sendable, Codable {
    /// Sentence for a person.
    public var sentence: String
    /// Number of the order, see `CaptureState.order`.
    public var number: Int

    /// An answer.
    public init(_ sentence: String, number: Int) {
        self.sentence = sentence
        self.number = number
    }
}
