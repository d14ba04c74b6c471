import PlainText

/// Error in a shot's description.
public struct RecipeProblem: Error, Equatable, Sendable {
    /// Key with its table, such as `panorama.overlap`; empty if the error concerns the whole shot.
    public var key: String
    /// Problem and remedy, as the end of a sentence that begins with the key.
    public var text: String

    /// Creates a mistake.
    public init(key: String, text: String) { (self.key, self.text) = (key, text) }

    /// Creates the error of a number that is outside its range.
    init(key: String, _ value: Double, outside range: ClosedRange<Double>) {
        let bounds = "\(Format.plain(range.lowerBound))...\(Format.plain(range.upperBound))"
        self.init(key: key, text: "= \(Format.plain(value)) is outside \(bounds)")
    }

    /// Sentence without a full stop.
    public var sentence: String { key.isEmpty ? text : "\(key) \(text)" }
}

/// Key in a shot's description, as in the file.
private struct Name: CodingKey {
    var stringValue: String
    var intValue: Int? { nil }
    init(_ name: String) { stringValue = name }
    init?(stringValue: String) { self.init(stringValue) }
    init?(intValue: Int) { nil }
}

/// Reader of one table in a shot's description. Missing keys have default values; unknown keys are
/// errors.
private struct Table {
    private let container: KeyedDecodingContainer<Name>
    private let path: String

    init(_ decoder: any Decoder, _ path: String, keys: [String]) throws {
        container = try decoder.container(keyedBy: Name.self)
        self.path = path
        for key in container.allKeys where !keys.contains(key.stringValue) {
            let guess = Suggestion.sentence(for: key.stringValue, in: keys)
            throw RecipeProblem(
                key: prefixed(key.stringValue),
                text: guess.isEmpty
                    ? "is not a known key; the keys are \(keys.joined(separator: ", "))"
                    : "is not a known key.\(guess)")
        }
    }

    func prefixed(_ key: String) -> String { path.isEmpty ? key : "\(path).\(key)" }

    func has(_ key: String) -> Bool { container.contains(Name(key)) }

    func value<Value: Decodable>(_ key: String, _ type: Value.Type, _ name: String) throws -> Value?
    {
        guard has(key) else { return nil }
        do {
            return try container.decode(type, forKey: Name(key))
        } catch is DecodingError {
            throw RecipeProblem(key: prefixed(key), text: "is not \(name)")
        }
    }

    func number(_ key: String, in range: ClosedRange<Double>, _ usual: Double? = nil) throws
        -> Double
    {
        guard let value = try value(key, Double.self, "a number") ?? usual else {
            throw RecipeProblem(key: prefixed(key), text: "is missing")
        }
        guard range.contains(value) else {
            throw RecipeProblem(key: prefixed(key), value, outside: range)
        }
        return value
    }

    func integer(_ key: String, in range: ClosedRange<Int>, _ usual: Int? = nil) throws -> Int {
        guard let value = try value(key, Int.self, "a whole number") ?? usual else {
            throw RecipeProblem(key: prefixed(key), text: "is missing")
        }
        guard range.contains(value) else {
            throw RecipeProblem(
                key: prefixed(key),
                text: "= \(value) is outside \(range.lowerBound)...\(range.upperBound)")
        }
        return value
    }

    func number(_ key: RecipeKey) throws -> Double {
        try number(key.name, in: key.range, key.usual)
    }

    func integer(_ key: RecipeKey) throws -> Int {
        try integer(
            key.name, in: Int(key.range.lowerBound)...Int(key.range.upperBound),
            key.usual.map { Int($0) })
    }

    func bool(_ key: String, _ usual: Bool) throws -> Bool {
        try value(key, Bool.self, "true or false") ?? usual
    }

    func text(_ key: String, _ usual: String) throws -> String {
        try value(key, String.self, "a string") ?? usual
    }

    func word<Word: RawRepresentable<String> & CaseIterable>(_ key: String, _ usual: Word) throws
        -> Word
    {
        let text = try text(key, usual.rawValue)
        guard let word = Word(rawValue: text) else {
            let names = Word.allCases.map(\.rawValue).joined(separator: ", ")
            throw RecipeProblem(key: prefixed(key), text: "= \"\(text)\" is not one of \(names)")
        }
        return word
    }
}

// Text formats of the description: TOML in the user's file, which is converted to JSON, and JSON in
// the saved state.
extension ShotRecipe {
    /// Reads a description.
    ///
    /// - Throws: `RecipeProblem` for an unknown key, a wrong type or a value outside its range.
    public init(from decoder: any Decoder) throws {
        let keys = ["rate_dps", "frame", "panorama", "timelapse", "orbit", "still", "shutter"]
        let table = try Table(decoder, "", keys: keys)
        let kinds = ["panorama", "timelapse", "orbit"].filter(table.has)
        guard kinds.count <= 1 else {
            throw RecipeProblem(
                key: "[\(kinds[1])]", text: "and [\(kinds[0])] are different kinds of shots")
        }
        frames = try table.value("frame", [KeyFrame].self, "a list of [[frame]]") ?? []
        if let panorama = try table.value("panorama", Panorama.self, "a table") {
            kind = .panorama(panorama)
        } else if let timelapse = try table.value("timelapse", Timelapse.self, "a table") {
            kind = .timelapse(timelapse)
        } else if let orbit = try table.value("orbit", Orbit.self, "a table") {
            kind = .orbit(orbit)
        } else {
            kind = .keyFrames
        }
        rate = try table.number(Self.rateKey)
        still = try table.value("still", Stillness.self, "a table") ?? still
        shutter = try table.value("shutter", ShutterSettings.self, "a table") ?? shutter
        try check()
    }

    /// Checks the range of each number that the options of a program set.
    ///
    /// - Throws: `RecipeProblem`.
    public func checkNumbers() throws(RecipeProblem) {
        for frame in frames {
            try KeyFrame.yaw.check(frame.pose.yaw, in: "frame")
            try KeyFrame.roll.check(frame.pose.roll, in: "frame")
            try KeyFrame.pitch.check(frame.pose.pitch, in: "frame")
            try KeyFrame.dwell.check(frame.dwell, in: "frame")
        }
        switch kind {
        case .keyFrames: break
        case .panorama(let panorama):
            try Panorama.fovWidth.check(panorama.fovWidth, in: "panorama")
            try Panorama.fovHeight.check(panorama.fovHeight, in: "panorama")
            try Panorama.width.check(panorama.width, in: "panorama")
            try Panorama.height.check(panorama.height, in: "panorama")
            try Panorama.pitch.check(panorama.pitch, in: "panorama")
            try Panorama.overlap.check(panorama.overlap, in: "panorama")
        case .timelapse(let timelapse):
            try Timelapse.photos.check(Double(timelapse.photos), in: "timelapse")
            try Timelapse.interval.check(timelapse.interval, in: "timelapse")
            try Timelapse.smoothing.check(Double(timelapse.smoothing), in: "timelapse")
            try Timelapse.ease.check(timelapse.ease, in: "timelapse")
        case .orbit(let orbit):
            try Orbit.photos.check(Double(orbit.photos), in: "orbit")
            try Orbit.turn.check(orbit.turn, in: "orbit")
            try Orbit.pitch.check(orbit.pitch, in: "orbit")
        }
        try Self.rateKey.check(rate)
        try ShutterSettings.line.check(Double(shutter.line), in: "shutter")
        try ShutterSettings.hold.check(shutter.hold, in: "shutter")
    }

    /// Checks the rules that concern several keys.
    ///
    /// - Throws: `RecipeProblem`.
    public func check() throws(RecipeProblem) {
        switch kind {
        case .keyFrames where frames.isEmpty:
            throw RecipeProblem(
                key: "", text: "the file needs [[frame]], [panorama], [timelapse] or [orbit]")
        case .keyFrames where frames.count > 10_000:
            throw RecipeProblem(key: "[[frame]]", text: "occurs more than 10000 times")
        case .timelapse where frames.isEmpty || frames.count > 1000:
            throw RecipeProblem(
                key: "[timelapse]", text: "needs 1 to 1000 [[frame]], the waypoints of the path")
        case .timelapse where frames.contains { $0.dwell > 0 || !$0.shoots }:
            throw RecipeProblem(
                key: "[[frame]]",
                text: "of a time-lapse is a waypoint, and cannot have dwell_s or shutter")
        case .timelapse(let timelapse) where timelapse.smoothing > timelapse.photos:
            throw RecipeProblem(key: "timelapse.smoothing", text: "is larger than timelapse.photos")
        case .panorama(let panorama):
            guard panorama.grid.count > 0 else {
                throw RecipeProblem(key: "panorama", text: "has no grid that covers its field")
            }
            guard panorama.grid.count <= 10_000 else {
                throw RecipeProblem(
                    key: "panorama",
                    text: "has \(panorama.grid.count) pictures; at most 10000 are allowed")
            }
        default: break
        }
        switch kind {
        case .panorama where !frames.isEmpty, .orbit where !frames.isEmpty:
            throw RecipeProblem(key: "[[frame]]", text: "is not used by this kind of shot")
        default: break
        }
        try shutter.check()
    }

    /// Writes the description with all keys.
    public func encode(to encoder: any Encoder) throws {
        var table = encoder.container(keyedBy: Name.self)
        try table.encode(rate, forKey: Name("rate_dps"))
        if !frames.isEmpty { try table.encode(frames, forKey: Name("frame")) }
        switch kind {
        case .keyFrames: break
        case .panorama(let panorama): try table.encode(panorama, forKey: Name("panorama"))
        case .timelapse(let timelapse): try table.encode(timelapse, forKey: Name("timelapse"))
        case .orbit(let orbit): try table.encode(orbit, forKey: Name("orbit"))
        }
        try table.encode(still, forKey: Name("still"))
        try table.encode(shutter, forKey: Name("shutter"))
    }
}

extension ShotRecipe.KeyFrame {
    /// Reads a key frame.
    public init(from decoder: any Decoder) throws {
        let table = try Table(decoder, "frame", keys: Self.keys.map(\.name) + ["shutter"])
        pose = Pose(
            yaw: try table.number(Self.yaw), roll: try table.number(Self.roll),
            pitch: try table.number(Self.pitch))
        dwell = try table.number(Self.dwell)
        shoots = try table.bool("shutter", true)
    }

    /// Writes a key frame.
    public func encode(to encoder: any Encoder) throws {
        var table = encoder.container(keyedBy: Name.self)
        try table.encode(pose.yaw, forKey: Name("yaw"))
        try table.encode(pose.roll, forKey: Name("roll"))
        try table.encode(pose.pitch, forKey: Name("pitch"))
        try table.encode(dwell, forKey: Name("dwell_s"))
        try table.encode(shoots, forKey: Name("shutter"))
    }
}

extension ShotRecipe.Panorama {
    /// Reads a panorama.
    public init(from decoder: any Decoder) throws {
        let table = try Table(decoder, "panorama", keys: Self.keys.map(\.name))
        self.init(
            fovWidth: try table.number(Self.fovWidth), fovHeight: try table.number(Self.fovHeight),
            width: try table.number(Self.width), height: try table.number(Self.height),
            pitch: try table.number(Self.pitch), overlap: try table.number(Self.overlap))
    }

    /// Keys of the table.
    enum CodingKeys: String, CodingKey {
        case fovWidth = "fov_width"
        case fovHeight = "fov_height"
        case width, height, pitch, overlap
    }
}

extension ShotRecipe.Timelapse {
    /// Reads a time-lapse.
    public init(from decoder: any Decoder) throws {
        let table = try Table(decoder, "timelapse", keys: Self.keys.map(\.name))
        self.init(
            photos: try table.integer(Self.photos), interval: try table.number(Self.interval),
            smoothing: try table.integer(Self.smoothing), ease: try table.number(Self.ease))
    }

    /// Keys of the table.
    enum CodingKeys: String, CodingKey {
        case photos
        case interval = "interval_s"
        case smoothing, ease
    }
}

extension ShotRecipe.Orbit {
    /// Reads the parameters of an `orbit` shot.
    public init(from decoder: any Decoder) throws {
        let table = try Table(decoder, "orbit", keys: Self.keys.map(\.name))
        self.init(
            photos: try table.integer(Self.photos), turn: try table.number(Self.turn),
            pitch: try table.number(Self.pitch))
    }
}

extension ShotRecipe.Stillness {
    /// Reads the conditions.
    public init(from decoder: any Decoder) throws {
        let table = try Table(decoder, "still", keys: CodingKeys.allCases.map(\.rawValue))
        error = try table.number("error_deg", in: 0.001...10, error)
        rate = try table.number("rate_dps", in: 0.01...100, rate)
        seconds = try table.number("seconds", in: 0...60, seconds)
        patience = try table.number("patience_s", in: 0...3600, patience)
    }

    /// Keys of the table.
    enum CodingKeys: String, CodingKey, CaseIterable {
        case error = "error_deg"
        case rate = "rate_dps"
        case seconds
        case patience = "patience_s"
    }
}

extension ShutterSettings {
    /// Reads a shutter.
    public init(from decoder: any Decoder) throws {
        let table = try Table(decoder, "shutter", keys: CodingKeys.allCases.map(\.rawValue))
        kind = try table.word("kind", kind)
        command = try table.value("command", [String].self, "a list of strings") ?? command
        file = try table.text("file", file)
        chip = try table.text("gpio_chip", chip)
        line = try table.integer(Self.line)
        isActiveLow = try table.bool("active_low", isActiveLow)
        pulse = try table.number("pulse_s", in: 0.001...10, pulse)
        address = try table.text("address", address)
        system = try table.integer("system", in: 1...255, system)
        hold = try table.number(Self.hold)
        timeout = try table.number("timeout_s", in: 0.1...3600, timeout)
        doubt = try table.word("doubt", doubt)
        try check()
    }

    /// Keys of the table.
    enum CodingKeys: String, CodingKey, CaseIterable {
        case kind, command, file
        case chip = "gpio_chip"
        case line = "gpio_line"
        case isActiveLow = "active_low"
        case pulse = "pulse_s"
        case address, system
        case hold = "hold_s"
        case timeout = "timeout_s"
        case doubt
    }
}
