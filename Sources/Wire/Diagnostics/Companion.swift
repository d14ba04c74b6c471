/// Health that a companion program reports to the daemon: the parameters of `companion`. The daemon
/// shows it in `status` and `doctor` while the companion's connection is open.
public struct CompanionReport: Hashable, Sendable, Codable {
    /// Name of the companion, such as `eyes`.
    public var name: String
    /// Outcome for `doctor`.
    public var level = DoctorCheck.Level.ok
    /// Finding with numbers, as text.
    public var finding = ""
    /// Remedy of the problem; empty if no remedy is needed.
    public var remedy = ""
    /// Figures of the companion by name. The last part of a name is the unit, as in `latency_ms`.
    public var values: [String: Number] = [:]
    /// Video stream that the companion offers; absent if it offers none.
    public var stream: VideoStream?

    /// Creates a report without findings.
    public init(name: String) { self.name = name }

    /// Parameters of the request `companion` with this report.
    public var params: [String: JSONValue] {
        var params: [String: JSONValue] = [
            "name": .string(name), "level": .string(level.rawValue), "finding": .string(finding),
            "remedy": .string(remedy),
            "values": .object(values.mapValues { $0.known.map(JSONValue.double) ?? .null }),
        ]
        if let stream {
            params["stream"] = .object([
                "uri": .string(stream.uri), "width": .int(stream.width),
                "height": .int(stream.height), "rate_hz": .double(stream.rateHz.value),
                "bitrate_kbps": .double(stream.bitrateKbps.value),
            ])
        }
        return params
    }
}

/// Video stream that players can open.
public struct VideoStream: Hashable, Sendable, Codable {
    /// Longest address of a stream, bytes: the size of MAVLink's field.
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
    /// Age of the companion's newest report, s.
    public var ageS: Number

    /// Creates the status of a companion.
    public init(report: CompanionReport, ageS: Number) {
        self.report = report
        self.ageS = ageS
    }

    /// Age of the newest report above which a companion is reported as hung, s. Companions send a
    /// report every second.
    public static let silenceLimit = 5.0

    /// Check of `doctor` from the newest report.
    public var check: DoctorCheck {
        guard ageS.value <= Self.silenceLimit else {
            return DoctorCheck(
                report.name, .warn, "no report for \(Int(ageS.value)) s",
                remedy: "the program hangs or its computer is overloaded: restart it.")
        }
        return DoctorCheck(report.name, report.level, report.finding, remedy: report.remedy)
    }
}
