import GimbalCore
import Port
import TestSupport
import Testing

@testable import Configuration

@Suite("Schema of the settings")
struct SchemaTests {
    @Test(
        "the default limit of writes allows a phone to fill a serial line of 115,200 baud with writes of 20 bytes"
    )
    func serialLine() {
        #expect(Settings().bluetooth.maxWritesHz * 20 * 10 >= 115_200)
    }

    @Test("every property of Settings has exactly one key of the same name")
    func everyPropertyHasAKey() {
        let properties = Self.leaves(of: Settings(), path: "").sorted()
        #expect(properties == Schema.settings.map { Self.camelCase($0.key) }.sorted())
    }

    @Test("each key is declared once, and each table has a summary")
    func keysAreUnique() {
        let keys = Schema.settings.map(\.key)
        #expect(Set(keys).count == keys.count)
        #expect(Set(Schema.settings.map(\.table)) == Set(Schema.tables.map(\.name)))
        #expect(Schema.tables.count == Set(Schema.tables.map(\.name)).count)
    }

    @Test(
        "each key is bound to the property of the same name",
        arguments: Schema.settings.filter { !$0.hasOneValueOnly })
    func bindings(of setting: Setting) {
        var settings = Settings()
        setting.write(&settings, Self.otherValue(than: setting.defaultValue, for: setting))
        #expect(setting.value(in: settings) != setting.defaultValue, "no setting was written")
        let changed = Schema.settings.filter { $0.value(in: settings) != $0.defaultValue }
        #expect(changed.map(\.key) == [setting.key])
        let before = Self.leafValues(of: Settings(), path: "")
        let after = Self.leafValues(of: settings, path: "")
        let properties = after.filter { before[$0.key] != $0.value }.map(\.key)
        #expect(properties == [Self.camelCase(setting.key)])
    }

    @Test("each default, written as TOML, is allowed", arguments: Schema.settings)
    func defaultsAreAllowed(of setting: Setting) throws {
        let text = setting.defaultValue.tomlText
        let (_, value) = try ConfigurationLoader.value(of: setting.key, text: text, at: nil)
        #expect(value == setting.defaultValue)
    }

    @Test("each setting has a summary in one sentence", arguments: Schema.settings)
    func sentences(of setting: Setting) {
        #expect(setting.summary.hasSuffix("."))
        #expect(setting.summary.first?.isUppercase == true || setting.kind.isChoice)
        #expect(!(setting.summary + (setting.hint ?? "")).contains("\n"))
    }

    @Test("the default settings violate no rule")
    func defaultsKeepTheRules() {
        #expect(ConfigurationRule.all.allSatisfy { $0.violation(Settings()) == nil })
        for key in ConfigurationRule.all.flatMap(\.keys) { #expect(Schema.setting(key) != nil) }
    }

    @Test("the service permits every priority of the loop, and the next higher for the power line")
    func priorities() throws {
        let unit = try CommittedFile("systemd/airframed.service").text()
        let limit = try #require(unit.firstMatch(of: /\nLimitRTPRIO=(\d+)\n/))
        let setting = try #require(Schema.setting("loop.priority"))
        guard case .integer(let range) = setting.kind else {
            Issue.record("loop.priority is not a whole number")
            return
        }
        #expect(Int(limit.1) == range.upperBound + 1)
    }

    @Test("the service's file states the mode of the socket, and the setting of its group")
    func socketMode() throws {
        let unit = try CommittedFile("systemd/airframed.service").text()
        let comment = try #require(unit.split(separator: "\nRuntimeDirectory=").first)
        #expect(comment.contains("mode 0660"))
        #expect(comment.contains("diagnostics.group"))
        #expect(Schema.setting("diagnostics.group") != nil)
    }

    @Test("the friction limit can be half of the largest torque limit")
    func frictionLimit() throws {
        let friction = try #require(Schema.setting("control.friction_limit_nm"))
        let torque = try #require(Schema.setting("motors.torque_limit_nm"))
        guard case .number(let frictions) = friction.kind, case .triple(let torques) = torque.kind
        else {
            Issue.record("the settings do not have the expected kinds")
            return
        }
        #expect(frictions.upperBound == torques.upperBound / 2)
    }

    @Test("the defaults are equal to the defaults of the core")
    func coreDefaults() {
        let settings = Settings()
        let screen = SampleScreen.Parameters()
        #expect(abs(Angle.degrees(settings.imu.gyroRangeDps).radians - screen.gyroRange) < 0.01)
        #expect(abs(settings.imu.accelRangeG * 9.80665 - screen.accelRange) < 0.1)
        #expect(settings.imu.frozenMs / 1000 == screen.frozenSeconds)
        #expect(settings.imu.timeoutMs / 1000 == screen.staleSeconds)
        #expect(settings.imu.faultHoldMs / 1000 == screen.holdSeconds)
        let supervisor = Supervisor.Parameters()
        #expect(settings.motors.softStartS == supervisor.softStartSeconds)
        #expect(settings.supervisor.softStopS == supervisor.softStopSeconds)
        #expect(settings.supervisor.recoveryS == supervisor.recoverySeconds)
    }

    /// Converts a key such as `loop.rate_hz` to the property path `loop.rateHz`.
    private static func camelCase(_ key: String) -> String {
        key.split(separator: ".").map { part in
            let words = part.split(separator: "_")
            return words[0]
                + words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
        }.joined(separator: ".")
    }

    private static func leaves(of value: Any, path: String) -> [String] {
        Array(leafValues(of: value, path: path).keys)
    }

    /// All properties that are not structures of settings, with their values as text.
    private static func leafValues(of value: Any, path: String) -> [String: String] {
        let mirror = Mirror(reflecting: value)
        let isLeaf =
            value is AxisVector || value is AxisRanges || value is PIDTriple
            || value is AxisSigns
            || mirror.displayStyle != .struct
        guard !isLeaf, !(value is String) else { return [path: "\(value)"] }
        var result: [String: String] = [:]
        for child in mirror.children {
            let name = (path.isEmpty ? "" : path + ".") + (child.label ?? "")
            result.merge(leafValues(of: child.value, path: name)) { $1 }
        }
        return result
    }

    /// Returns an allowed value different from the default.
    private static func otherValue(than value: SettingValue, for setting: Setting) -> SettingValue {
        switch (setting.kind, value) {
        case (.bool, .bool(let flag)): .bool(!flag)
        case (.integer(let range), .integer(let number)):
            .integer(number == range.lowerBound ? range.upperBound : range.lowerBound)
        case (.number(let range), .number(let number)):
            .number(number == range.lowerBound ? range.upperBound : range.lowerBound)
        case (.choice(let words, _), .text(let word)):
            .text(words.first { $0 != word } ?? word)
        case (.triple(let range), .triple(let v)):
            .triple(AxisVector(yaw: v.yaw, roll: v.roll, pitch: range.upperBound - 0.5))
        case (.ranges, .ranges(let r)):
            .ranges(AxisRanges(lower: r.lower, upper: AxisVector(repeating: 90)))
        case (.signs, .signs(let v)):
            .signs(AxisSigns(pitch: -v.pitch, roll: v.roll, yaw: v.yaw))
        case (.bindings, .bindings): .bindings([])
        case (.notches, .notches): .notches([Notch(hz: 85)])
        case (.pid, .pid(let v)): .pid(PIDTriple(p: v.p, i: v.i, d: 0.3))
        default: .text("/other")
        }
    }
}

extension Setting {
    /// True for a choice with a single word, which has no other value.
    var hasOneValueOnly: Bool {
        if case .choice(let words, _) = kind { return words.count == 1 }
        return false
    }
}

extension Setting.Kind {
    var isChoice: Bool {
        if case .choice = self { return true }
        return false
    }
}
