import Configuration
import GimbalCore

/// What ground stations may tune, under names of at most 16 bytes: gains as apps know them, and the limits of motion, each
/// axis by itself. Names never change, ground stations keep them in files.
enum MAVLinkParameterTable {
    /// One number of one setting.
    struct Entry: Sendable {
        let name: String
        /// The number.
        let read: @Sendable (Settings) -> Double
        /// The whole setting with another number.
        let changed: @Sendable (Settings, Double) -> SettingUpdate

        /// The number at `part` of the setting at `path`.
        fileprivate init<Value>(
            _ name: String, _ path: any WritableKeyPath<Settings, Value> & Sendable,
            _ part: any WritableKeyPath<Value, Double> & Sendable
        ) {
            self.name = "GMB_" + name
            read = { $0[keyPath: path][keyPath: part] }
            changed = { settings, number in
                var value = settings[keyPath: path]
                value[keyPath: part] = number
                return SettingUpdate(path, value)
            }
        }
    }

    static let entries: [Entry] =
        gains("PIT", \.airos.pid.pitch) + gains("RLL", \.airos.pid.roll)
        + gains("YAW", \.airos.pid.yaw)
        + limits("PIT", \.pitch, \.lower.pitch, \.upper.pitch)
        + limits("RLL", \.roll, \.lower.roll, \.upper.roll)
        + limits("YAW", \.yaw, \.lower.yaw, \.upper.yaw)

    /// The settings that they are parts of.
    static var keys: Set<String> {
        let settings = Settings()
        return Set(entries.map { $0.changed(settings, $0.read(settings)).key })
    }

    private typealias Path<Root, Value> = any WritableKeyPath<Root, Value> & Sendable

    private static func gains(_ axis: String, _ path: Path<Settings, PIDTriple>) -> [Entry] {
        [
            Entry(axis + "_P", path, \.p), Entry(axis + "_I", path, \.i),
            Entry(axis + "_D", path, \.d),
        ]
    }

    private static func limits(
        _ name: String, _ axis: Path<AxisVector, Double>, _ lower: Path<AxisRanges, Double>,
        _ upper: Path<AxisRanges, Double>
    ) -> [Entry] {
        [
            Entry(name + "_RATE", \.motion.maxRateDps, axis),
            Entry(name + "_ACC", \.motion.maxAccelerationDps2, axis),
            Entry(name + "_MIN", \.motion.rangeDeg, lower),
            Entry(name + "_MAX", \.motion.rangeDeg, upper),
        ]
    }
}
