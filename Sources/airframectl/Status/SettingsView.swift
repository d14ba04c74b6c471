import PlainText
import Wire

/// Text output of settings.
enum SettingsView {
    /// Width of the widest column, characters. A few settings have values of several hundred
    /// characters.
    private static let widest = 40

    static func lines(_ settings: [Setting], verbose: Bool, _ style: Style) -> [String] {
        if settings.count == 1, !verbose, let setting = settings.first {
            return [Format.value(setting.value)]
        }
        var table = Table(widest: widest)
        for setting in settings {
            let unit = setting.unit.isEmpty ? "" : " " + setting.unit
            table.add(
                .init(setting.key), .init("= " + Format.value(setting.value) + unit),
                .init(setting.origin, setting.origin == "default" ? .quiet : .caution),
                .init(verbose ? details(setting) : "", .quiet))
        }
        return table.lines(style)
    }

    private static func details(_ setting: Setting) -> String {
        var parts = ["default \(Format.value(setting.defaultValue))"]
        if !setting.range.isEmpty { parts.append("allowed \(setting.range)") }
        if !setting.isLive { parts.append("a change takes effect after a restart of airframed") }
        if !setting.summary.isEmpty { parts.append(setting.summary) }
        return parts.joined(separator: "; ")
    }

    static func lines(_ changes: [SettingChange], _ style: Style) -> [String] {
        if changes.isEmpty { return ["All settings have their defaults."] }
        var table = Table(widest: widest)
        for change in changes {
            var note =
                change.isUnsaved ? "not saved, saved value \(Format.value(change.savedValue))" : ""
            if let rollback = change.rollbackS?.known {
                note += ", reverts in \(Format.duration(rollback.rounded(.up)))"
            }
            table.add(
                .init(change.key), .init(Format.value(change.defaultValue), .quiet),
                .init("→ " + Format.value(change.value), .strong), .init(change.origin, .quiet),
                .init(note, .caution))
        }
        return table.lines(style)
    }

    static func sentence(_ setting: Setting) -> String {
        let unit = setting.unit.isEmpty ? "" : " " + setting.unit
        var text = "\(setting.key) = \(Format.value(setting.value))\(unit)"
        // airframed accepts only the active value of a setting that needs a restart.
        if !setting.isLive { text += ", as before" }
        if let rollback = setting.rollbackS?.known {
            text += "; reverts in \(Format.duration(rollback.rounded(.up))) unless saved"
        }
        return text + "."
    }
}
