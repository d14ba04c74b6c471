import Client
import FoundationEssentials
import PlainText
import Shots
import Wire

/// The tool `shoot`, which takes a series of photos. The MCP server executes the shot itself,
/// because airframed has no method for shots.
enum ShootTool {
    static let name = "shoot"

    /// Kind of a shot, as the tool's parameter `kind`.
    enum Kind: String, CaseIterable {
        case panorama, timelapse, orbit

        /// Numeric parameters of this kind of shot.
        var keys: [RecipeKey] {
            switch self {
            case .panorama: ShotRecipe.Panorama.keys
            case .timelapse: ShotRecipe.Timelapse.keys
            case .orbit: ShotRecipe.Orbit.keys
            }
        }

        /// Numeric parameters of the end of a time-lapse's path; empty for other kinds.
        var path: [RecipeKey] {
            self == .timelapse
                ? ShotRecipe.KeyFrame.keys.filter { ["yaw", "pitch"].contains($0.name) } : []
        }
    }

    /// Shutters that an assistant can use. The other shutters run commands or switch GPIO lines,
    /// which an assistant must not do.
    enum Shutter: String, CaseIterable {
        case none, eyes
    }

    /// Action of a call.
    enum Action: String, CaseIterable {
        case status, start, cancel
    }

    /// State of a shot, as the tool returns it.
    struct Report: Decodable {
        enum State: String, Decodable, CaseIterable {
            case none, planned, active, complete, ended
        }

        var state = State.none
        var sentence = "No shot has been started."
        var photos = 0
        var done = 0
        var secondsLeft = 0.0

        var json: JSONValue {
            [
                "state": .string(state.rawValue), "sentence": .string(sentence),
                "photos": .int(photos), "done": .int(done), "seconds_left": .double(secondsLeft),
            ]
        }
    }

    /// The tool in the form of a method. If several kinds have the same parameter, its range
    /// includes the range of every kind.
    static func method(_ limits: Limits) -> MethodDescription {
        var numbers: [ParameterDescription] = []
        for kind in Kind.allCases {
            for key in kind.keys + kind.path {
                let text = "\(kind.rawValue): \(key.summary)\(usual(key))"
                if let known = numbers.firstIndex(where: { $0.name == key.name }) {
                    numbers[known].summary += "; " + text
                    numbers[known].minimum = wider(numbers[known].minimum, key.range.lowerBound, <)
                    numbers[known].maximum = wider(numbers[known].maximum, key.range.upperBound, >)
                } else {
                    numbers.append(number(key, text))
                }
            }
        }
        numbers = numbers.map { parameter in
            var parameter = parameter
            parameter.summary += "."
            return parameter
        }
        var rate = number(ShotRecipe.rateKey, "Largest turn rate between photos.")
        rate.maximum = Number(min(ShotRecipe.rateKey.range.upperBound, limits.rateDps))
        return MethodDescription(
            name: name,
            summary:
                "Takes a series of photos: the camera moves through a sequence of attitudes, and takes a photo at each attitude when it is still. The gimbal must be in mode \"locked\". The call returns when the shot has begun; the action \"status\" shows the progress. The shot ends if another request moves the camera, or if the assistant's connection ends. An axis can turn by at most \(Format.plain(limits.travelDeg)) degrees between two photos.",
            access: .action,
            parameters: [
                ParameterDescription(
                    name: "action", kind: .word,
                    summary: "Action; default: start if kind is given, otherwise status.",
                    words: Action.allCases.map(\.rawValue)),
                ParameterDescription(
                    name: "kind", kind: .word,
                    summary:
                        "Kind of the shot: a grid of pictures that covers a field, photos at equal intervals, or photos at equal steps of yaw.",
                    words: Kind.allCases.map(\.rawValue)),
                ParameterDescription(
                    name: "dry_run", kind: .bool,
                    summary:
                        "If true, the tool only checks and describes the plan; the camera does not move."
                ),
                ParameterDescription(
                    name: "shutter", kind: .word,
                    summary: "Shutter: airframe-eyes, or none (default: none).",
                    words: Shutter.allCases.map(\.rawValue)),
                rate,
            ] + numbers, result: JSONSchema.of(Report.self))
    }

    private static func wider(
        _ known: Number?, _ bound: Double, _ isOutside: (Double, Double) -> Bool
    ) -> Number {
        guard let known, !isOutside(bound, known.value) else { return Number(bound) }
        return known
    }

    private static func number(_ key: RecipeKey, _ summary: String) -> ParameterDescription {
        ParameterDescription(
            name: key.name, kind: key.isWhole ? .integer : .number, summary: summary,
            unit: key.unit, minimum: Number(key.range.lowerBound),
            maximum: Number(key.range.upperBound))
    }

    private static func usual(_ key: RecipeKey) -> String {
        key.usual.map { " (default: \(Format.plain($0)))" } ?? ""
    }

    /// The action of a call.
    static func action(_ arguments: [String: JSONValue]) throws(ClientError) -> Action {
        try word("action", arguments) ?? (arguments["kind"] == nil ? .status : .start)
    }

    /// True if a call only checks and describes the plan.
    ///
    /// - Throws: `ClientError` if `dry_run` is not a Boolean: a client that sends `"true"` must not
    ///   start the shot.
    static func isDryRun(_ arguments: [String: JSONValue]) throws(ClientError) -> Bool {
        guard let value = arguments["dry_run"] else { return false }
        guard let isDryRun = value.bool else {
            throw refusal("invalid_params", "dry_run must be true or false.", field: "dry_run")
        }
        return isDryRun
    }

    /// Creates the plan of a shot from a call's arguments.
    ///
    /// - Throws: `ClientError` that names the parameter, its range and the limit.
    static func plan(
        _ arguments: [String: JSONValue], _ limits: Limits
    ) throws(ClientError) -> ShotPlan {
        guard let kind: Kind = try word("kind", arguments) else {
            throw refusal(
                "invalid_params",
                "A shot needs kind: \(Kind.allCases.map(\.rawValue).joined(separator: ", ")).",
                field: "kind")
        }
        let numbers = (kind.keys + kind.path + [ShotRecipe.rateKey]).map(\.name)
        let names = ["action", "kind", "dry_run", "shutter"] + numbers
        if let other = arguments.keys.sorted().first(where: { !names.contains($0) }) {
            throw refusal(
                "invalid_params",
                "\(kind.rawValue) has no parameter \"\(other.prefix(64))\"."
                    + Suggestion.sentence(for: other, in: names), field: other)
        }
        var recipe = try recipe(kind, arguments)
        if arguments[ShotRecipe.rateKey.name] == nil {
            recipe.rate = min(recipe.rate, limits.rateDps)
        }
        guard recipe.rate <= limits.rateDps else {
            throw refusal(
                "out_of_range",
                "An assistant can turn the camera at no more than \(Format.plain(limits.rateDps)) degrees per second (mcp.max_rate_dps).",
                field: ShotRecipe.rateKey.name)
        }
        do throws(RecipeProblem) {
            return try ShotPlan(recipe)
        } catch {
            throw refusal("out_of_range", error.sentence + ".", field: error.key)
        }
    }

    /// Checks that the camera can execute a plan.
    ///
    /// - Parameters:
    ///   - plan: The plan.
    ///   - limits: The assistant's limits.
    ///   - link: Connection to the daemon.
    /// - Returns: State of the camera at the beginning of the shot, and a sentence about the first
    ///   waypoint that the yaw joint cannot reach; nil if there is no such waypoint.
    /// - Throws: `ClientError` if the camera cannot begin the shot, or cannot reach a pose of the
    ///   plan.
    static func check(
        _ plan: ShotPlan, _ limits: Limits, _ link: DaemonLink
    ) throws(ClientError) -> (ShotSession.CameraState, warning: String?) {
        let status = try link.ask("status")
        guard let sight = ShotSession.CameraState(status), sight.isHeld else {
            throw refusal(
                "refused",
                "A shot needs the mode \"locked\", with the motors on. Select this mode with the tool `mode` first."
            )
        }
        if plan.recipe.shutter.kind == .eyes { _ = try ActiveShot.capture(link) }
        let setting = try link.ask("get", ["keys": ["motion.range_deg"]]).array?.first?["value"]
        let ranges = setting?.array?.map { $0.array?.compactMap(\.number) ?? [] } ?? []
        let joint = YawJoint(status)
        if let sentence = plan.refusal(outside: ranges, originYaw: sight.target.yaw) {
            throw refusal("out_of_range", sentence)
        }
        let move = plan.largestMove(from: sight.target, within: ranges, joint: joint)
        // The daemon measures the rotation from the camera's attitude, which differs from the
        // target.
        guard move.angle <= limits.travelDeg - 1 else {
            let (reason, remedy) =
                move.isDetour
                ? (
                    ", because motion.range_deg or joints.range_deg prevents a shorter way",
                    "Choose a smaller field, or begin at another yaw."
                ) : ("", "Take more photos, or choose a smaller field.")
            throw refusal(
                "out_of_range",
                "The camera would turn by \(Format.fixed(move.angle, 0)) degrees to waypoint \(move.waypoint)\(reason); an assistant can turn it by less than \(Format.plain(limits.travelDeg)) degrees in one request (mcp.max_travel_deg). \(remedy)"
            )
        }
        return (sight, joint.flatMap(plan.warning))
    }

    /// Creates the recipe from the arguments. The recipe is decoded from JSON, so its decoder
    /// validates the arguments.
    private static func recipe(
        _ kind: Kind, _ arguments: [String: JSONValue]
    ) throws(ClientError) -> ShotRecipe {
        func picked(_ keys: [RecipeKey]) -> JSONValue {
            .object(arguments.filter { name, _ in keys.contains { $0.name == name } })
        }
        let shutter: Shutter = try word("shutter", arguments) ?? .none
        var text: [String: JSONValue] = [
            kind.rawValue: picked(kind.keys), "shutter": ["kind": .string(shutter.rawValue)],
        ]
        text[ShotRecipe.rateKey.name] = arguments[ShotRecipe.rateKey.name]
        if kind == .timelapse {
            let end = picked(kind.path)
            text["frame"] = [["pitch": end["pitch"] ?? 0], end]
        }
        do {
            return try JSONDecoder().decode(
                ShotRecipe.self, from: Data(JSONValue.object(text).text.utf8))
        } catch let problem as RecipeProblem {
            throw refusal("out_of_range", problem.sentence + ".", field: problem.key)
        } catch {
            throw refusal("invalid_params", "The description of the shot cannot be read.")
        }
    }

    private static func refusal(
        _ code: String, _ message: String, field: String? = nil
    ) -> ClientError {
        .refused(RequestError(code, message, field: field))
    }

    private static func word<Word: RawRepresentable<String> & CaseIterable>(
        _ name: String, _ arguments: [String: JSONValue]
    ) throws(ClientError) -> Word? {
        guard let value = arguments[name] else { return nil }
        guard let word = value.string.flatMap(Word.init(rawValue:)) else {
            let words = Word.allCases.map(\.rawValue).joined(separator: ", ")
            throw refusal(
                "invalid_params", "\(name) must be one of \(words).", field: name)
        }
        return word
    }
}
