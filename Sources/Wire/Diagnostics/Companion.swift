/// Health report of a companion program: the parameters of `companion`. The daemon includes the
/// report in `status` and `doctor` while the companion's connection is open.
public struct CompanionReport: Hashable, Sendable, Codable {
    /// Longest text in a report, bytes.
    public static let textLimit = 300

    /// Name of the companion, such as `eyes`.
    public var name: String
    /// Outcome for `doctor`.
    public var level = DoctorCheck.Level.ok
    /// Result of the check with the measured values, as text.
    public var finding = ""
    /// Remedy of the problem; empty if no remedy is needed.
    public var remedy = ""
    /// Values that the companion reports, by name. The last part of a name is the unit, as in
    /// `latency_ms`.
    public var values: [String: Number] = [:]
    /// Video stream that the companion offers; absent if it offers none.
    public var stream: VideoStream?
    /// State of person tracking; absent if the companion does not find people.
    public var following: FollowingState?
    /// State of photos and recordings; absent if the companion records no video.
    public var capture: CaptureState?

    /// Creates a report without findings.
    public init(name: String) { self.name = name }

    /// Adds a warning that the changed files of a TLS certificate cannot be used. A problem that the
    /// report already contains keeps its level and its remedy.
    ///
    /// - Parameter problem: Reason and remedy; nil if there is no such problem.
    public mutating func note(certificateProblem problem: String?) {
        guard let problem else { return }
        if level == .ok { level = .warn }
        finding += "; the changed certificate is not in use"
        if remedy.isEmpty { remedy = problem }
    }

    /// Beginning of a text, which ends with a whole character and has at most `textLimit` bytes.
    static func shortened(_ text: String) -> String {
        var text = text
        while text.utf8.count > textLimit { text.removeLast() }
        return text
    }

    /// Parameters of the request `companion` with this report. Texts that are too long are
    /// shortened, because airframed refuses them.
    public var params: [String: JSONValue] {
        var params: [String: JSONValue] = [
            "name": .string(name), "level": .string(level.rawValue),
            "finding": .string(Self.shortened(finding)),
            "remedy": .string(Self.shortened(remedy)),
            "values": .object(values.mapValues { $0.known.map(JSONValue.double) ?? .null }),
        ]
        if let stream {
            params["stream"] = .object([
                "uri": .string(stream.uri), "width": .int(stream.width),
                "height": .int(stream.height), "rate_hz": .double(stream.rateHz.value),
                "bitrate_kbps": .double(stream.bitrateKbps.value),
            ])
        }
        if let following {
            params["following"] = .object([
                "active": .bool(following.isActive), "people": .int(following.people),
                "box": following.box.map { .array($0.map(JSONValue.double)) } ?? .null,
            ])
        }
        if let capture { params["capture"] = capture.params }
        return params
    }
}

/// State of a companion that finds people and follows one of them.
public struct FollowingState: Hashable, Sendable, Codable {
    /// True if the companion follows or searches for a person.
    public var isActive: Bool
    /// Number of people in the picture.
    public var people: Int
    /// Box around the followed person (left, top, right, bottom), 0...1 of the picture; absent
    /// while the person is not in the picture.
    public var box: [Double]?

    enum CodingKeys: String, CodingKey {
        case isActive = "active"
        case people, box
    }

    /// Creates a state.
    public init(isActive: Bool, people: Int, box: [Double]? = nil) {
        self.isActive = isActive
        self.people = people
        self.box = box
    }
}

/// A user's choice of the person to follow.
public struct FollowingChoice: Hashable, Sendable, Codable {
    /// Action of a choice.
    public enum Action: String, Sendable, Codable, CaseIterable {
        /// Follow the person nearest to the centre of the picture.
        case on
        /// Stop following a person.
        case off
        /// Follow the next person.
        case next
        /// Follow the person at a position in the picture.
        case point
        /// Follow a person that a phone has detected.
        case person
    }

    /// Sequence number of the choice, from 1. A companion applies each choice only once.
    public var number: Int
    /// Action of the choice.
    public var action: Action
    /// Position in the picture for the action `point`, 0...1 from the left and from the top.
    public var x: Number?, y: Number?
    /// ID of the person for the action `person`.
    public var person: String?

    /// Creates a choice.
    public init(
        number: Int, action: Action, x: Number? = nil, y: Number? = nil, person: String? = nil
    ) {
        self.number = number
        self.action = action
        self.x = x
        self.y = y
        self.person = person
    }
}

/// Answer to the report of a companion.
public struct CompanionAnswer: Hashable, Sendable, Codable {
    /// Result as a sentence for the user.
    public var sentence: String
    /// A user's latest choice, if it is less than 3 s old; otherwise absent.
    public var choice: FollowingChoice?
    /// Oldest pending command, at most 3 s old; absent if there is none.
    public var order: CameraOrder?

    /// Creates an answer.
    public init(_ sentence: String, choice: FollowingChoice? = nil, order: CameraOrder? = nil) {
        self.sentence = sentence
        self.choice = choice
        self.order = order
    }
}

/// Attitude of the camera at a given time.
public struct AttitudeReply: Hashable, Sendable, Codable {
    /// Time of the attitude on the loop's clock, s. `ping` returns the current time of this clock.
    public var t: Number
    /// Quaternion w, x, y, z, body to earth.
    public var attitude: [Double]

    /// Creates an attitude.
    public init(t: Number, attitude: [Double]) {
        self.t = t
        self.attitude = attitude
    }
}

/// A video stream that players can open.
public struct VideoStream: Hashable, Sendable, Codable {
    /// Largest length of a stream's address, bytes; equal to the size of MAVLink's field.
    public static let longestURI = 159

    /// Address of the stream, such as `rtsp://10.0.0.2:8554/stream`.
    public var uri: String
    /// Width of the pictures, pixels.
    public var width: Int
    /// Height of the pictures, pixels.
    public var height: Int
    /// Pictures per second.
    public var rateHz: Number
    /// Bit rate, kbit/s.
    public var bitrateKbps: Number

    /// Creates the description of a stream.
    public init(uri: String, width: Int, height: Int, rateHz: Number, bitrateKbps: Number) {
        self.uri = uri
        self.width = width
        self.height = height
        self.rateHz = rateHz
        self.bitrateKbps = bitrateKbps
    }
}

/// State of a companion program in `status`.
public struct CompanionStatus: Hashable, Sendable, Codable {
    /// The newest report.
    public var report: CompanionReport
    /// Age of the companion's latest report, s.
    public var ageS: Number

    /// Creates the status of a companion.
    public init(report: CompanionReport, ageS: Number) {
        self.report = report
        self.ageS = ageS
    }

    /// Age of the latest report above which the companion counts as unresponsive, s. Companions
    /// send a report every second.
    public static let silenceLimit = 5.0

    /// Check for `doctor`, from the companion's latest report.
    public var check: DoctorCheck {
        guard ageS.value <= Self.silenceLimit else {
            return DoctorCheck(
                report.name, .warn, "no report for \(Int(ageS.value)) s",
                remedy: "the program hangs, or its computer is overloaded: restart the program.")
        }
        return DoctorCheck(report.name, report.level, report.finding, remedy: report.remedy)
    }
}
