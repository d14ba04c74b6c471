import GimbalCore
import Port
public import Realtime
public import Wire

/// Declaration of one quantity of the control loop, for all interfaces. The declaration contains
/// name, unit and meaning of the quantity. The declaration also contains the quantity's place in
/// the loop's record and in `status`, and the quantity's field in recordings. The declaration
/// defines `variables`, `subscribe`, the numbers of `status`, the recorder, the columns of the
/// recorder's tables, and the manual page.
public struct Observable: Sendable {
    typealias Read<Value> = @Sendable (StabilizerSnapshot) -> Value

    /// Description of the quantity in the reply to the command `variables`.
    public let variable: Variable
    /// Function that reads the value for `subscribe` from a record of the loop.
    public let read: @Sendable (TelemetryRecord) -> JSONValue
    /// Field of the message `Tick` in recordings; nil if the value is not recorded.
    public private(set) var field: RecordedField?
    /// Member of `status`; for a vector, the member contains all components. Nil if `status` does
    /// not show the value. Only the first component of a vector has the member; nil for the others.
    fileprivate(set) var member: StatusMember?

    /// Creates an observable of any kind.
    private init(
        _ name: String, _ unit: String, _ summary: String,
        _ read: @escaping @Sendable (TelemetryRecord) -> JSONValue
    ) {
        variable = Variable(name: name, unit: unit, summary: summary)
        self.read = read
    }

    /// Creates a numeric observable; NaN means that the value is unknown. Recordings contain the
    /// value if the field `number` is not nil.
    private init(
        _ name: String, _ unit: Unit, _ summary: String, recorded number: Int?,
        as field: String? = nil, isFlag: Bool = false,
        _ read: @escaping @Sendable (TelemetryRecord) -> Double
    ) {
        let value: @Sendable (TelemetryRecord) -> Double = { read($0) * unit.factor }
        self.init(name, unit.name, summary) {
            let value = value($0)
            return value.isNaN ? .null : .double(value)
        }
        self.field = number.map {
            RecordedField(number: $0, name: unit.key(field ?? name), isFlag: isFlag, value: value)
        }
    }
}

/// Unit of an observable.
struct Unit: Sendable {
    /// Name for display.
    var name: String
    /// Suffix of the names in `status` and in recordings; for example `dps` in `gyro_bias_dps`.
    var suffix: String
    /// Factor from the unit of the loop's value (an SI unit, or ns for durations) to this unit.
    var factor = 1.0

    static let pure = Unit(name: "", suffix: "")
    static let degrees = Unit(name: "deg", suffix: "deg", factor: 180 / .pi)
    static let degreesPerSecond = Unit(name: "deg/s", suffix: "dps", factor: 180 / .pi)
    static let percent = Unit(name: "%", suffix: "percent", factor: 100)
    static let gramMetres = Unit(name: "g·m", suffix: "gm", factor: 1e3)
    static let microseconds = Unit(name: "us", suffix: "us", factor: 1e-3)
    static let milliseconds = Unit(name: "ms", suffix: "ms", factor: 1e3)
    static let seconds = Unit(name: "s", suffix: "s")
    static let metres = Unit(name: "m", suffix: "m")
    static let metresPerSecond2 = Unit(name: "m/s²", suffix: "m_s2")
    static let newtonMetres = Unit(name: "N·m", suffix: "nm")
    static let kilogramMetres2 = Unit(name: "kg·m²", suffix: "kg_m2")
    static let celsius = Unit(name: "°C", suffix: "c")

    /// Append the suffix of this unit to a name: `gyro_bias.yaw` becomes `gyro_bias_yaw_dps`.
    func key(_ name: some StringProtocol) -> String {
        String(name.map { $0 == "." ? "_" : $0 }) + (suffix.isEmpty ? "" : "_\(suffix)")
    }
}

/// Field of the message `Tick` in recordings.
public struct RecordedField: Sendable {
    /// Number of the field in the message `Tick`. The number never changes, and a removed field's
    /// number is not used again.
    public let number: Int
    /// Name that ends with the unit, for example `gyro_bias_yaw_dps`.
    public let name: String
    /// True if the value is a Boolean; false if it is a number.
    public let isFlag: Bool
    /// Function that reads the value from a record, in the unit of `name`; 1 or 0 for a Boolean.
    public let value: @Sendable (TelemetryRecord) -> Double
}

// Functions that declare observables. `in` is the place of the value in `status`, without the unit.
// For example, `imu.accel` means `accel_m_s2` in the object `imu`. `where` returns true if the value
// is known; an unknown value is null in `status` and in streams. `recorded` is the number of the
// field, or of the first of three fields. `as` is the name of the field, if it differs from the name
// of the variable.
extension Observable {
    /// Declares an observable whose value is a word or a list of words.
    static func words(
        _ name: String, _ summary: String,
        _ read: @escaping @Sendable (StabilizerSnapshot) -> JSONValue
    ) -> [Observable] {
        [Observable(name, "", summary) { read($0.snapshot) }]
    }

    /// Declares a numeric observable that is read from the record of a tick.
    static func tick(
        _ name: String, _ unit: Unit, _ summary: String, recorded number: Int? = nil,
        as field: String? = nil, _ read: @escaping @Sendable (TelemetryRecord) -> Double
    ) -> [Observable] {
        [Observable(name, unit, summary, recorded: number, as: field, read)]
    }

    /// Declares a numeric observable that is read from the snapshot.
    static func number(
        _ name: String, _ unit: Unit, _ summary: String, in place: String? = nil,
        where isKnown: @escaping Read<Bool> = { _ in true }, recorded number: Int? = nil,
        as field: String? = nil, _ read: @escaping Read<Double>
    ) -> [Observable] {
        let known: Read<Double> = { isKnown($0) ? read($0) : .nan }
        return tick(name, unit, summary, recorded: number, as: field) { known($0.snapshot) }
            .shown(in: place, unit, .unknown) { Number(known($0) * unit.factor) }
    }

    /// Declares a Boolean observable; `subscribe` sends it as 1 or 0.
    static func flag(
        _ name: String, _ summary: String, in place: String? = nil, recorded number: Int? = nil,
        _ read: @escaping Read<Bool>
    ) -> [Observable] {
        let flag = Observable(name, .pure, summary, recorded: number, isFlag: true) {
            read($0.snapshot) ? 1 : 0
        }
        return [flag].shown(in: place, .pure, false, read)
    }

    /// Declares an observable that counts events since the start.
    static func count(
        _ name: String, _ summary: String, in place: String? = nil, _ read: @escaping Read<UInt64>
    ) -> [Observable] {
        tick(name, .pure, summary) { Double(read($0.snapshot)) }
            .shown(in: place, .pure, 0) { Int(read($0)) }
    }

    /// Declares three numeric observables, one for each axis of the gimbal.
    static func axes(
        _ name: String, _ unit: Unit, _ summary: String, in place: String? = nil,
        where isKnown: @escaping Read<Bool> = { _ in true }, recorded number: Int? = nil,
        _ read: @escaping Read<AxisVector>
    ) -> [Observable] {
        let known: Read<AxisVector> = { isKnown($0) ? read($0) : AxisVector(repeating: .nan) }
        return GimbalAxis.allCases.enumerated().map { index, axis in
            Observable(
                "\(name).\(axis.name)", unit, "\(summary), \(axis.name)",
                recorded: number.map { $0 + index }
            ) { known($0.snapshot)[axis] }
        }
        .shown(in: place, unit, AxisNumbers()) { AxisNumbers(known($0) * unit.factor) }
    }

    /// Declares three numeric observables, one for each axis of the camera. `subscribe` and
    /// recordings order the three values by gimbal axis; `status` shows them as x, y and z.
    static func body(
        _ name: String, _ unit: Unit, _ summary: String, in place: String? = nil,
        where isKnown: @escaping Read<Bool> = { _ in true }, recorded number: Int? = nil,
        _ read: @escaping Read<Vector3>
    ) -> [Observable] {
        let known: Read<Vector3> = { isKnown($0) ? read($0) : Vector3(.nan, .nan, .nan) }
        return axes(name, unit, summary, recorded: number) { known($0).perAxis }
            .shown(in: place, unit, VectorNumbers()) { VectorNumbers(known($0) * unit.factor) }
    }
}

extension [Observable] {
    /// Declare a member of `status` for the first observable of the array.
    func shown<Value: Encodable & Sendable>(
        in place: String?, _ unit: Unit, _ unknown: Value,
        _ value: @escaping Observable.Read<Value>
    ) -> [Observable] {
        guard let names = place?.split(separator: ".") else { return self }
        var result = self
        result[0].member = StatusMember(
            group: names.dropLast().first.map(String.init), name: unit.key(names[names.count - 1])
        ) { snapshot in
            guard let snapshot else { return unknown }
            return value(snapshot)
        }
        return result
    }
}
