import Configuration
import GimbalCore

/// What ground stations may tune, under names of at most 16 bytes: gains as apps know them, and the limits of motion, each
/// axis by itself. Names never change, ground stations keep them in files.
enum MAVLinkParameterTable {
    /// One number of one setting.
    struct Entry: Sendable {
        let name: String
        /// The setting that it is a part of.
        let key: String
        /// The number.
        let read: @Sendable (Settings) -> Double
        /// The whole setting with another number.
        let changed: @Sendable (Settings, Double) -> SettingValue
    }

    static let entries: [Entry] =
        gains("PIT", "pitch", \.airos.pid.pitch) + gains("RLL", "roll", \.airos.pid.roll)
        + gains("YAW", "yaw", \.airos.pid.yaw)
        + axes.flatMap { axis, path in
            [
                number(axis + "_RATE", "motion.max_rate_dps", \.motion.maxRateDps, path),
                number(
                    axis + "_ACC", "motion.max_acceleration_dps2",
                    \.motion.maxAccelerationDps2, path),
                limit(axis + "_MIN", \.lower, path), limit(axis + "_MAX", \.upper, path),
            ]
        }

    private typealias Path<Root, Value> = any WritableKeyPath<Root, Value> & Sendable

    private static let axes: [(String, Path<AxisVector, Double>)] = [
        ("PIT", \.pitch), ("RLL", \.roll), ("YAW", \.yaw),
    ]

    private static func gains(
        _ axis: String, _ word: String, _ path: Path<Settings, PIDTriple>
    ) -> [Entry] {
        let parts: [(String, Path<PIDTriple, Double>)] = [("P", \.p), ("I", \.i), ("D", \.d)]
        return parts.map { part, number in
            Entry(
                name: "GMB_\(axis)_\(part)", key: "airos.pid.\(word)",
                read: { $0[keyPath: path][keyPath: number] },
                changed: { settings, value in
                    var triple = settings[keyPath: path]
                    triple[keyPath: number] = value
                    return .pid(triple)
                })
        }
    }

    private static func number(
        _ name: String, _ key: String, _ path: Path<Settings, AxisVector>,
        _ axis: Path<AxisVector, Double>
    ) -> Entry {
        Entry(
            name: "GMB_" + name, key: key, read: { $0[keyPath: path][keyPath: axis] },
            changed: { settings, value in
                var triple = settings[keyPath: path]
                triple[keyPath: axis] = value
                return .triple(triple)
            })
    }

    private static func limit(
        _ name: String, _ end: Path<AxisRanges, AxisVector>, _ axis: Path<AxisVector, Double>
    ) -> Entry {
        Entry(
            name: "GMB_" + name, key: "motion.range_deg",
            read: { $0.motion.rangeDeg[keyPath: end][keyPath: axis] },
            changed: { settings, value in
                var ranges = settings.motion.rangeDeg
                ranges[keyPath: end][keyPath: axis] = value
                return .ranges(ranges)
            })
    }
}
