import Configuration
import GimbalCore
import PlainText
import Wire

/// Check of `doctor` for settings without their intended effect: valid values whose function another
/// setting switches off or limits. A rule of the configuration would refuse the start.
struct SettingsDoctor {
    let settings: Settings

    /// Largest corner frequency of a low-pass filter, as a fraction of the loop's rate.
    private static let highestCorner = 0.45

    /// The check; nil if every setting has its intended effect.
    var check: DoctorCheck? {
        let problems = [push, lowPass, fallback, continuous].compactMap(\.self)
        guard !problems.isEmpty else { return nil }
        return DoctorCheck(
            "conflicting settings", .warn, problems.map(\.finding).joined(separator: "; "),
            remedy: problems.map(\.remedy).joined(separator: " "))
    }

    private typealias Problem = (finding: String, remedy: String)

    private var push: Problem? {
        guard settings.push.enabled, settings.motors.type != .torque else { return nil }
        return (
            "push.enabled has no effect with motors.type = \"\(settings.motors.type.name)\"",
            "Set push.enabled to false: only motors of type \"torque\" feel a hand."
        )
    }

    private var lowPass: Problem? {
        let corners = settings.filter.lowPassHz
        let highest = Self.highestCorner * Double(settings.loop.rateHz)
        guard max(corners.yaw, corners.roll, corners.pitch) > highest else { return nil }
        let limit = Format.fixed(highest, 0)
        return (
            "filter.low_pass_hz is limited to \(limit) Hz at this loop.rate_hz",
            "Set filter.low_pass_hz to at most \(limit) Hz, or to 0 for no filter."
        )
    }

    private var fallback: Problem? {
        let (off, fallback) = (settings.commander.offS, settings.commander.fallbackS)
        guard off > 0, fallback >= off else { return nil }
        return (
            "commander.fallback_s has no effect, because commander.off_s turns the motors off before",
            "Set commander.off_s to a longer time than commander.fallback_s, or one of them to 0."
        )
    }

    private var continuous: Problem? {
        guard settings.recording.continuous, !settings.recording.enabled else { return nil }
        return (
            "recording.continuous has no effect while recording.enabled is false",
            "Set recording.enabled to true, or recording.continuous to false."
        )
    }
}
