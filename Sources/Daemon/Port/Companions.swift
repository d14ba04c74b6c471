import GimbalCore
import Links
import Port
import Realtime
import Synchronization
import Wire

/// Health reports of companion programs, such as airframe-eyes. The newest report of each
/// connection is kept until the connection ends. The daemon only forwards reports to `status` and
/// `doctor`; nothing in the daemon depends on these reports.
final class Companions: Sendable {
    /// Largest number of companion programs.
    static let limit = 4
    /// Largest number of values in a companion's report.
    static let valueLimit = 16
    /// Longest text in a companion's report, bytes.
    static let textLimit = CompanionReport.textLimit

    private struct Entry {
        var client: Int
        var report: CompanionReport
        var time: Instant
        /// Time at which the client replaced another client's report with this name; nil if it has
        /// not replaced any.
        var taken: Instant?
        /// Last time at which two clients replaced each other's reports; nil if they have not.
        var contested: Instant?

        /// Records that the entry replaces an earlier entry with the same name.
        mutating func replace(_ earlier: Entry) {
            if earlier.client == client {
                return (taken, contested) = (earlier.taken, earlier.contested)
            }
            taken = time
            if Self.isRecent(earlier.taken, time) { contested = time }
        }

        static func isRecent(_ event: Instant?, _ now: Instant) -> Bool {
            event.map { now.seconds(since: $0) <= CompanionStatus.silenceLimit } ?? false
        }
    }

    /// Duration for which a user's selection is sent to the companion, s; longer than the interval
    /// between the companion's reports.
    static let choiceSeconds = 3.0

    private struct Choice {
        var client: Int
        var choice: FollowingChoice
        var time: Instant
    }

    /// Users' commands for the companion that records video.
    let orders = CameraOrders()
    private let entries = Mutex<[Entry]>([])
    private let choice = Mutex<(newest: Choice?, count: Int)>((nil, 0))

    /// Method `companion` of the diagnostics socket, with which a companion sends its report.
    var method: SocketMethod {
        .change(
            "companion",
            "Reports the health of a companion program; status and doctor contain the report.",
            [
                .text("name", required: true, "Name of the program, 1 to 32 bytes."),
                .word(
                    "level", of: DoctorCheck.Level.allCases.map(\.rawValue),
                    "Health; default: ok."),
                .text("finding", "State of the program, for the method `doctor`."),
                .text("remedy", "Remedy of a problem."),
                .any("values", "Object of numbers."),
                .any("stream", "Video stream: uri, width, height, rate_hz and bitrate_kbps."),
                .any("following", "Followed person: active, people and box."),
                .any(
                    "capture",
                    "State of the camera: whether it can take photos, and whether it records."),
            ]
        ) { [self] (parameters, caller) throws(Refusal) in
            let report = try Self.report(parameters)
            let now = MonotonicClock.now
            try note(report, from: caller.client.id, now: now)
            return CompanionAnswer(
                "airframed has stored the report of \(report.name).",
                choice: choice(for: caller.client.id, now: now),
                order: report.capture.flatMap {
                    orders.next(for: caller.client.id, done: $0.order, now: now)
                })
        }
    }

    // MARK: Choices of a person

    /// Stores a user's selection of a person. The next answer contains the selection for the
    /// companion that follows people.
    ///
    /// - Parameters:
    ///   - action: Action of the user, such as `point` or `person`.
    ///   - x: Horizontal position for the action `point`, 0...1 from the left of the picture.
    ///   - y: Vertical position for the action `point`, 0...1 from the top of the picture.
    ///   - person: Identifier of the person for the action `person`.
    ///   - now: Current time on CLOCK_MONOTONIC.
    func choice(
        _ action: FollowingChoice.Action, x: Double? = nil, y: Double? = nil,
        person: String? = nil, now: Instant
    ) {
        guard let client = follower(now: now)?.client else { return }
        choice.withLock { state in
            state.count += 1
            let choice = FollowingChoice(
                number: state.count, action: action, x: x.map { Number($0) },
                y: y.map { Number($0) }, person: person)
            state.newest = Choice(client: client, choice: choice, time: now)
        }
    }

    private func choice(for client: Int, now: Instant) -> FollowingChoice? {
        choice.withLock { state in
            guard let newest = state.newest, newest.client == client,
                now.seconds(since: newest.time) <= Self.choiceSeconds
            else { return nil }
            return newest.choice
        }
    }

    /// True if a user has recently ended the following of a person by this companion.
    func isEnded(for client: Int, now: Instant) -> Bool {
        choice(for: client, now: now)?.action == .off
    }

    /// Connection and report of the companion that follows people, if its reports are recent; nil
    /// if there is no such companion.
    func follower(now: Instant) -> (client: Int, report: CompanionReport)? {
        entries.withLock { entries in
            entries.first {
                now.seconds(since: $0.time) <= CompanionStatus.silenceLimit
                    && $0.report.following != nil
            }.map { (client: $0.client, report: $0.report) }
        }
    }

    /// Connection and report of the companion that records video; nil if there is none, or if its
    /// reports are not recent.
    func camera(now: Instant) -> (client: Int, state: CaptureState)? {
        entries.withLock { entries in
            for entry in entries
            where now.seconds(since: entry.time) <= CompanionStatus.silenceLimit {
                if let state = entry.report.capture { return (entry.client, state) }
            }
            return nil
        }
    }

    /// Stores a report. The report replaces earlier reports of the same connection or the same
    /// name, so that each name exists once.
    ///
    /// - Throws: `Refusal` if `limit` other companions are connected.
    func note(_ report: CompanionReport, from client: Int, now: Instant) throws(Refusal) {
        let isNoted = entries.withLock { entries in
            let others = entries.filter { $0.client != client && $0.report.name != report.name }
            guard others.count < Self.limit else { return false }
            var entry = Entry(client: client, report: report, time: now)
            if let earlier = entries.first(where: { $0.report.name == report.name }) {
                entry.replace(earlier)
            }
            entries = others + [entry]
            return true
        }
        guard isNoted else {
            throw Refusal(
                .tooMany,
                "\(Self.limit) companion programs already report their health, which is the maximum; stop one of them."
            )
        }
    }

    /// Removes the report of a connection that has ended.
    func left(_ client: Int) { entries.withLock { $0.removeAll { $0.client == client } } }

    /// The reports of the companions, in the order of their names. Two programs that report with the
    /// same name are a warning.
    func status(now: Instant) -> [CompanionStatus] {
        entries.withLock { entries in
            entries.map { entry -> CompanionStatus in
                var report = entry.report
                if Entry.isRecent(entry.contested, now) {
                    if report.level == .ok { report.level = .warn }
                    report.finding = "two programs report the name \(report.name)"
                    report.remedy =
                        "Stop one of the two programs: each one replaces the report of the other."
                }
                return CompanionStatus(
                    report: report, ageS: Number(now.seconds(since: entry.time)))
            }
        }.sorted { $0.report.name < $1.report.name }
    }

    /// Video stream of a companion with recent reports; nil if there is no stream.
    func stream(now: Instant) -> VideoStream? {
        status(now: now).first {
            $0.report.stream != nil && $0.ageS.value <= CompanionStatus.silenceLimit
        }?.report.stream
    }

    private static func report(_ parameters: Parameters) throws(Refusal) -> CompanionReport {
        var report = CompanionReport(name: try parameters.requiredString("name"))
        guard (1...32).contains(report.name.utf8.count), report.name.utf8.allSatisfy(isNameByte)
        else {
            throw Refusal(
                .outOfRange, "name must have 1 to 32 characters; a-z, 0-9, _ and - are allowed.",
                field: "name")
        }
        if let word = try parameters.word("level") {
            report.level = DoctorCheck.Level(rawValue: word) ?? .ok
        }
        report.finding = try text("finding", parameters)
        report.remedy = try text("remedy", parameters)
        report.stream = try parameters.value("stream").map(stream)
        report.following = try parameters.value("following").map(following)
        report.capture = try parameters.value("capture").map(capture)
        guard let values = parameters.value("values") else { return report }
        guard let members = values.object, members.count <= valueLimit else {
            throw Refusal(
                .invalidParams, "values must be an object with at most \(valueLimit) numbers.",
                field: "values")
        }
        for (name, value) in members {
            guard (1...32).contains(name.utf8.count), name.utf8.allSatisfy(isNameByte),
                value == .null || value.number != nil
            else {
                throw Refusal(
                    .invalidParams,
                    "Each member of values must be a number or null, and its name must have 1 to 32 characters; a-z, 0-9, _ and - are allowed.",
                    field: "values")
            }
            report.values[name] = value.number.map { Number($0) } ?? .unknown
        }
        return report
    }

    private static func stream(_ value: JSONValue) throws(Refusal) -> VideoStream {
        guard let uri = value["uri"]?.string, let width = value["width"]?.int,
            let height = value["height"]?.int, let rate = value["rate_hz"]?.number,
            let bitrate = value["bitrate_kbps"]?.number,
            (1...VideoStream.longestURI).contains(uri.utf8.count),
            uri.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
            (1...65535).contains(width), (1...65535).contains(height),
            (0...1000).contains(rate), (0...1_000_000).contains(bitrate)
        else {
            throw Refusal(
                .invalidParams,
                "stream must be an object with uri (at most \(VideoStream.longestURI) printable characters), width, height, rate_hz and bitrate_kbps.",
                field: "stream")
        }
        return VideoStream(
            uri: uri, width: width, height: height, rateHz: Number(rate),
            bitrateKbps: Number(bitrate))
    }

    private static func following(_ value: JSONValue) throws(Refusal) -> FollowingState {
        let box = value["box"].flatMap { $0 == .null ? nil : $0 }
        let edges = box?.array?.compactMap(\.number)
        guard let isActive = value["active"]?.bool, let people = value["people"]?.int,
            (0...1000).contains(people), box == nil || edges?.count == 4,
            edges?.allSatisfy({ (-10...10).contains($0) }) ?? true
        else {
            throw Refusal(
                .invalidParams,
                "following must be an object with active, people and box (left, top, right and bottom as fractions of the picture, or null).",
                field: "following")
        }
        return FollowingState(isActive: isActive, people: people, box: edges)
    }

    private static func capture(_ value: JSONValue) throws(Refusal) -> CaptureState {
        let numbers = ["recording_s", "free_mb", "total_mb"].map { value[$0]?.number }
        guard let isRecording = value["recording"]?.bool, let photos = value["photos"]?.int,
            let order = value["order"]?.int, photos >= 0, order >= 0,
            numbers.allSatisfy({ CaptureState.numbers.contains($0 ?? 0) }),
            value["problem"]?.string?.utf8.count ?? 0 <= textLimit
        else {
            throw Refusal(
                .invalidParams,
                "capture must be an object with recording, recording_s, photos, free_mb, total_mb, order (sequence number of the last executed command) and problem (string or null).",
                field: "capture")
        }
        var state = CaptureState()
        (state.isRecording, state.photos, state.order) = (isRecording, photos, order)
        state.recordingS = numbers[0].map { Number($0) } ?? .unknown
        state.freeMb = numbers[1].map { Number($0) } ?? .unknown
        state.totalMb = numbers[2].map { Number($0) } ?? .unknown
        state.problem = value["problem"]?.string
        return state
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "_"), UInt8(ascii: "-"):
            true
        default: false
        }
    }

    private static func text(_ name: String, _ parameters: Parameters) throws(Refusal) -> String {
        let text = try parameters.string(name) ?? ""
        guard text.utf8.count <= textLimit else {
            throw Refusal(
                .outOfRange, "\(name) has more than \(textLimit) bytes; shorten this text.",
                field: name)
        }
        return text
    }
}
