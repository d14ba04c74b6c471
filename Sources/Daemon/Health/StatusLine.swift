import GimbalCore
import Wire

/// The machine's state in one line, for `systemctl status`.
enum StatusLine {
    /// Text with the mode if the motors are on; otherwise text with the most severe reason for
    /// which they are off.
    static func text(_ snapshot: StabilizerSnapshot) -> String {
        // The catalogue of conditions lists mild conditions first and severe conditions last.
        let reason = Conditions.catalogue.last { words in
            guard snapshot.conditions.intersects(words.condition) else { return false }
            switch Supervisor.response(to: words.condition) {
            case .off, .brake, .softOff, .blockStart: return true
            case .report: return false
            }
        }
        if snapshot.output.enabled, reason == nil {
            return "Stabilising, mode \(snapshot.mode.name)."
        }
        guard let reason else {
            return "Motors off; they are switched on when the start-up checks have passed."
        }
        return "Motors \(snapshot.output.enabled ? "ramping down" : "off"): \(reason.sentence)"
    }
}
