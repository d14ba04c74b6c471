/// State of a companion program (airframe-eyes) that takes photos and records video.
public struct CaptureState: Hashable, Sendable, Codable {
    /// True if video is being recorded.
    public var isRecording = false
    /// Duration of the recording, s.
    public var recordingS = Number(0)
    /// Number of photos since the start of the companion program.
    public var photos = 0
    /// Free space on the disk for recordings, MB; unknown if the disk is missing.
    public var freeMb = Number.unknown
    /// Size of the disk for recordings, MB; unknown if the disk is missing.
    public var totalMb = Number.unknown
    /// Sequence number of the latest command that the companion program has executed; 0 before the
    /// first command.
    public var order = 0
    /// Reason why the latest command failed, or why a requested recording is not running; nil if
    /// there is no problem.
    public var problem: String?

    /// Creates the state of a companion program that has not executed a command yet.
    public init() {}

    /// Permitted numbers in the member `capture` of the request `companion`.
    public static let numbers = 0.0...1e12

    /// Value of the member `capture` in the request `companion`. airframed refuses a report with a
    /// number outside `numbers`, such as the space of a network drive without a limit, so numbers
    /// are limited.
    var params: JSONValue {
        func number(_ value: Number) -> JSONValue {
            let (low, high) = (Self.numbers.lowerBound, Self.numbers.upperBound)
            return value.known.map { .double(min(max($0, low), high)) } ?? .null
        }
        return .object([
            "recording": .bool(isRecording), "recording_s": number(recordingS),
            "photos": .int(photos), "free_mb": number(freeMb), "total_mb": number(totalMb),
            "order": .int(order),
            "problem": problem.map { .string(CompanionReport.shortened($0)) } ?? .null,
        ])
    }
}

/// A user's command for the companion program that records video.
public struct CameraOrder: Hashable, Sendable, Codable {
    /// Action of a command.
    public enum Action: String, Sendable, Codable, CaseIterable {
        /// Take a photo.
        case photo
        /// Start recording video.
        case record
        /// End the recording.
        case stop
        /// Change settings of the running companion program; the changes are lost when the program
        /// ends.
        case set
    }

    /// Sequence number of the command, from 1. The companion program executes the command with each
    /// number only once.
    public var number: Int
    /// The action.
    public var action: Action
    /// `KEY=VALUE` for `set`.
    public var settings: [String]

    /// Creates a command.
    public init(number: Int, action: Action, settings: [String] = []) {
        self.number = number
        self.action = action
        self.settings = settings
    }
}

/// Answer to a command, with the command's sequence number. The companion program reports this
/// number after the execution.
public struct CameraReply: Hashable, Sendable, Codable {
    /// Sentence for a person.
    public var sentence: String
    /// Sequence number of the command, see `CaptureState.order`.
    public var number: Int

    /// An answer.
    public init(_ sentence: String, number: Int) {
        self.sentence = sentence
        self.number = number
    }
}
