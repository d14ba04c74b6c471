import PlainText
import Port
import Wire

/// The methods that read settings, change settings, or move the machine.
extension RequestHandler {
    func get(_ request: Request) throws(Refusal) -> [UInt8] {
        let patterns = try Parameters(request, ["keys"]).strings("keys") ?? []
        let settings = backend.settings()
        if patterns.isEmpty { return try encode(settings) }
        // Each setting once, however often and by whatever name it is asked for: an answer is never longer than `keys`.
        var wanted: [String: Bool] = [:]
        for pattern in patterns { wanted[Self.section(pattern)] = false }
        let chosen = settings.filter { setting in
            // A section stands for everything in it.
            let names = Self.names(of: setting.key).filter { wanted[$0] != nil }
            for name in names { wanted[name] = true }
            return !names.isEmpty
        }
        if let unknown = patterns.first(where: { wanted[Self.section($0)] == false }) {
            throw unknownKey(unknown, settings)
        }
        return try encode(chosen)
    }

    /// A pattern as a key or a section: `control.*` is `control`.
    private static func section(_ pattern: String) -> String {
        pattern.hasSuffix(".*") ? String(pattern.dropLast(2)) : pattern
    }

    /// A key and every section that it is in.
    private static func names(of key: String) -> [String] {
        let parts = key.split(separator: ".")
        return parts.indices.map { parts[...$0].joined(separator: ".") }
    }

    private func unknownKey(_ key: String, _ settings: [Setting]) -> Refusal {
        Refusal(
            .unknownKey,
            "There is no setting \"\(key.prefix(128))\"."
                + Suggestion.sentence(for: key, in: settings.map(\.key)),
            field: "keys")
    }

    func configure(_ method: Method, _ request: Request, _ connection: ClientConnection)
        throws(Refusal) -> [UInt8]?
    {
        let client = connection.client
        switch method {
        case .set:
            let parameters = try Parameters(request, ["key", "value", "rollback"])
            let key = try parameters.requiredString("key")
            let value = try parameters.required("value")
            let rollback = try parameters.number("rollback", in: 1...3600, unit: "s")
            return try encode(
                try backend.set(key: key, value: value, rollback: rollback, client: client))
        case .baseline:
            let parameters = try Parameters(request, ["action", "name"])
            let baseline = try baselineRequest(parameters)
            if baseline != .list { try requireWrite(connection) }
            return wait(request, connection) {
                backend.baseline(baseline, client: client, $0)
            }
        case .save:
            _ = try Parameters(request)
            return wait(request, connection) { backend.save(client: client, $0) }
        default:
            _ = try Parameters(request)
            return wait(request, connection) { backend.reload(client: client, $0) }
        }
    }

    private func baselineRequest(_ parameters: Parameters) throws(Refusal) -> BaselineRequest {
        let actions = ["list", "store", "restore", "delete"]
        let action = try parameters.string("action") ?? "list"
        switch action {
        case "list": return .list
        case "store": return .store(try baselineName(parameters))
        case "restore": return .restore(try baselineName(parameters))
        case "delete": return .delete(try baselineName(parameters))
        default:
            throw Refusal(
                .invalidParams,
                "action is \(actions.joined(separator: ", ")), not \"\(action.prefix(64))\"."
                    + Suggestion.sentence(for: action, in: actions),
                field: "action")
        }
    }

    /// The name becomes part of a file name, so it is kept plain.
    private func baselineName(_ parameters: Parameters) throws(Refusal) -> String {
        let name = try parameters.requiredString("name")
        let isPlain = name.utf8.allSatisfy {
            (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0)
                || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_")
        }
        guard isPlain, (1...64).contains(name.utf8.count) else {
            throw Refusal(
                .invalidParams,
                "name is 1 to 64 letters, digits, `-` and `_`.", field: "name")
        }
        return name
    }

    func calibrate(_ request: Request, _ connection: ClientConnection)
        throws(Refusal) -> [UInt8]?
    {
        let parameters = try Parameters(request, ["action", "what"])
        let calibration = try calibrationRequest(parameters)
        if calibration != .status { try requireWrite(connection) }
        return wait(request, connection) {
            backend.calibrate(calibration, client: connection.client, $0)
        }
    }

    func spectrum(_ request: Request, _ connection: ClientConnection)
        throws(Refusal) -> [UInt8]
    {
        let parameters = try Parameters(request, ["action", "seconds"])
        let seconds = try parameters.number("seconds", in: 1...60, unit: "seconds") ?? 10
        let wanted: SpectrumRequest
        switch try action(parameters, of: ["status", "start", "cancel"]) {
        case "start": wanted = .start(seconds: seconds)
        case "cancel": wanted = .cancel
        default: wanted = .status
        }
        if wanted != .status { try requireWrite(connection) }
        return try encode(try backend.spectrum(wanted, client: connection.client))
    }

    func autotune(_ request: Request, _ connection: ClientConnection)
        throws(Refusal) -> [UInt8]
    {
        let parameters = try Parameters(request, ["action", "axis", "apply"])
        let wanted: AutotuneRequest
        switch try action(parameters, of: ["status", "start", "cancel"]) {
        case "start":
            guard let axis = try parameters.string("axis") else { throw parameters.missing("axis") }
            let names = ["yaw", "roll", "pitch"]
            guard axis == "all" || names.contains(axis) else {
                throw Refusal(
                    .invalidParams,
                    "axis is yaw, roll, pitch or all, not \"\(axis.prefix(64))\"."
                        + Suggestion.sentence(for: axis, in: names + ["all"]),
                    field: "axis")
            }
            let apply = try parameters.bool("apply") ?? false
            wanted = .start(axes: axis == "all" ? names : [axis], apply: apply)
        case "cancel": wanted = .cancel
        default: wanted = .status
        }
        if wanted != .status { try requireWrite(connection) }
        return try encode(try backend.autotune(wanted, client: connection.client))
    }

    func record(_ request: Request, _ connection: ClientConnection) throws(Refusal) -> [UInt8] {
        let parameters = try Parameters(request, ["action", "seconds"])
        let seconds = try parameters.number("seconds", in: 0.1...600, unit: "seconds") ?? 60
        let wanted: RecordRequest
        switch try action(parameters, of: ["status", "last", "start", "stop"]) {
        case "last": wanted = .last(seconds: seconds)
        case "start": wanted = .start
        case "stop": wanted = .stop
        default: wanted = .status
        }
        if wanted != .status { try requireWrite(connection) }
        return try encode(try backend.record(wanted, client: connection.client))
    }

    func pair(_ request: Request, _ connection: ClientConnection) throws(Refusal) -> [UInt8] {
        let parameters = try Parameters(request, ["action", "seconds", "address"])
        let seconds = try parameters.number("seconds", in: 0...600, unit: "seconds") ?? 120
        let wanted: PairRequest
        switch try action(parameters, of: ["status", "allow", "forget"]) {
        case "allow": wanted = .allow(seconds: seconds)
        case "forget": wanted = .forget(address: try parameters.requiredString("address"))
        default: wanted = .status
        }
        if wanted != .status { try requireWrite(connection) }
        return try encode(try backend.pair(wanted, client: connection.client))
    }

    /// The parameter `action`, one of these words; the first one when it is left out.
    private func action(
        _ parameters: Parameters, of actions: [String]
    ) throws(Refusal) -> String {
        let action = try parameters.string("action") ?? actions[0]
        guard actions.contains(action) else {
            throw Refusal(
                .invalidParams,
                "action is \(actions.joined(separator: ", ")), not \"\(action.prefix(64))\"."
                    + Suggestion.sentence(for: action, in: actions),
                field: "action")
        }
        return action
    }

    private func calibrationRequest(_ parameters: Parameters)
        throws(Refusal) -> CalibrationRequest
    {
        let actions = ["status", "start", "cancel", "undo"]
        let action = try parameters.string("action") ?? "status"
        let what = try parameters.string("what")
        let names = backend.calibrationNames
        if let what, !names.contains(what) {
            throw Refusal(
                .invalidParams,
                "what is \(names.joined(separator: ", ")), not \"\(what.prefix(64))\"."
                    + Suggestion.sentence(for: what, in: names),
                field: "what")
        }
        switch action {
        case "status": return .status
        case "start":
            guard let what else { throw parameters.missing("what") }
            return .start(what)
        case "cancel": return .cancel
        case "undo": return .undo(what)
        default:
            throw Refusal(
                .invalidParams,
                "action is \(actions.joined(separator: ", ")), not \"\(action.prefix(64))\"."
                    + Suggestion.sentence(for: action, in: actions),
                field: "action")
        }
    }
}
