import Configuration
import GimbalCore
import Port

/// Parameter that ground stations can change: one number of a setting. The parameters are gains and
/// limits of motion; each axis has a separate parameter.
struct MAVLinkParameter: Sendable {
    /// Name of the parameter, at most 16 bytes. The name never changes, because ground stations
    /// store the name in files.
    let name: String
    /// Function that reads the parameter's value, in the unit of the setting.
    let read: @Sendable (Settings) -> Double
    /// Function that returns a change of the setting; the change replaces only this parameter's
    /// number.
    let changed: @Sendable (Settings, Double) -> SettingUpdate

    /// Creates a parameter for the number at `part` of the setting at `path`.
    private init<Value: Sendable>(
        _ name: String, _ path: Path<Settings, Value>, _ part: Path<Value, Double>
    ) {
        self.name = "GMB_" + name
        read = { $0[keyPath: path][keyPath: part] }
        changed = { settings, number in
            var value = settings[keyPath: path]
            value[keyPath: part] = number
            return SettingUpdate(path, value)
        }
    }

    /// All MAVLink parameters, in the order of their indices.
    static let all: [MAVLinkParameter] =
        gains("PIT", \.airos.pid.pitch) + gains("RLL", \.airos.pid.roll)
        + gains("YAW", \.airos.pid.yaw)
        + limits("PIT", \.pitch, \.lower.pitch, \.upper.pitch)
        + limits("RLL", \.roll, \.lower.roll, \.upper.roll)
        + limits("YAW", \.yaw, \.lower.yaw, \.upper.yaw)

    /// The settings that contain the values of the MAVLink parameters.
    static var keys: [String] {
        let settings = Settings()
        return Set(all.map { $0.changed(settings, $0.read(settings)).key }).sorted()
    }

    private typealias Path<Root, Value> = any WritableKeyPath<Root, Value> & Sendable

    private static func gains(
        _ axis: String, _ path: Path<Settings, PIDTriple>
    ) -> [MAVLinkParameter] {
        [
            MAVLinkParameter(axis + "_P", path, \.p), MAVLinkParameter(axis + "_I", path, \.i),
            MAVLinkParameter(axis + "_D", path, \.d),
        ]
    }

    private static func limits(
        _ name: String, _ axis: Path<AxisVector, Double>, _ lower: Path<AxisRanges, Double>,
        _ upper: Path<AxisRanges, Double>
    ) -> [MAVLinkParameter] {
        [
            MAVLinkParameter(name + "_RATE", \.motion.maxRateDps, axis),
            MAVLinkParameter(name + "_ACC", \.motion.maxAccelerationDps2, axis),
            MAVLinkParameter(name + "_MIN", \.motion.rangeDeg, lower),
            MAVLinkParameter(name + "_MAX", \.motion.rangeDeg, upper),
        ]
    }
}
