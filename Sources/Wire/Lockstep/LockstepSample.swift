public import GimbalCore

/// Line from a simulator: the sensor readings at `t`, in SI units and in the frames of `IMUSample`.
/// An optional sensor is nil if the line does not contain it.
public struct LockstepSample: Hashable, Sendable {
    /// Longest line without its newline, bytes.
    public static let longestLine = 64 * 1024

    /// The simulator's time, s, a finite number.
    public var t: Double
    /// Angular rate of the camera, body frame (forward, right, down), rad/s.
    public var gyro: Vector3
    /// Specific force on the camera, body frame (forward, right, down), m/s².
    public var accel: Vector3
    /// Joint angles from encoders, rad.
    public var joints: AxisVector?
    /// Joint rates from encoders, rad/s.
    public var jointRates: AxisVector?
    /// Angular rate of the handle, handle frame (forward, right, down), rad/s.
    public var baseGyro: Vector3?
    /// Magnetic field at the camera, body frame (forward, right, down), T.
    public var magneticField: Vector3?

    /// Parses one line.
    ///
    /// - Parameter line: The line without its newline.
    /// - Throws: The first error in the line, with the invalid member's name. Unknown members are
    ///   ignored.
    public init(parsing line: [UInt8]) throws(LockstepError) {
        let value: JSONValue
        do {
            value = try JSONValue(parsing: line)
        } catch {
            throw Self.unreadable(line, error)
        }
        guard let members = value.object else {
            throw LockstepError(
                .invalidJSON, "the line is \(value.kind); expected a JSON object")
        }
        t = try Self.number(members, Key.t)
        gyro = try Vector3(Self.required(members, Key.gyro))
        accel = try Vector3(Self.required(members, Key.accel))
        joints = try Self.triple(members, Key.joints).map(AxisVector.init)
        jointRates = try Self.triple(members, Key.jointRates).map(AxisVector.init)
        baseGyro = try Self.triple(members, Key.baseGyro).map(Vector3.init)
        magneticField = try Self.triple(members, Key.mag).map(Vector3.init)
    }

    /// Names of the JSON members in a simulator's line.
    enum Key {
        static let t = "t"
        static let gyro = "gyro"
        static let accel = "accel"
        static let joints = "joints"
        static let jointRates = "joint_rates"
        static let baseGyro = "base_gyro"
        static let mag = "mag"

        static let all = [t, gyro, accel, joints, jointRates, baseGyro, mag]
    }
}

extension LockstepSample {
    /// Three numbers, in the order of the line.
    typealias Triple = (Double, Double, Double)

    private static func number(
        _ members: [String: JSONValue], _ key: String
    ) throws(LockstepError) -> Double {
        guard let value = members[key] else {
            throw LockstepError(
                .missing, "\(key) is missing; expected a number of seconds", field: key)
        }
        guard let number = value.number else {
            throw LockstepError(
                .wrongType, "\(key) is \(value.kind); expected a number", field: key)
        }
        return number
    }

    private static func required(
        _ members: [String: JSONValue], _ key: String
    ) throws(LockstepError) -> Triple {
        guard let triple = try triple(members, key) else {
            throw LockstepError(
                .missing, "\(key) is missing; expected an array of three numbers", field: key)
        }
        return triple
    }

    /// Reads the three numbers of a member; nil if the member is missing.
    private static func triple(
        _ members: [String: JSONValue], _ key: String
    ) throws(LockstepError) -> Triple? {
        guard let value = members[key] else { return nil }
        guard let elements = value.array else {
            throw LockstepError(
                .wrongType, "\(key) is \(value.kind); expected an array of three numbers",
                field: key)
        }
        guard elements.count == 3 else {
            throw LockstepError(
                .wrongLength, "\(key) has \(elements.count) elements; expected three",
                field: key)
        }
        func element(_ index: Int) throws(LockstepError) -> Double {
            guard let number = elements[index].number else {
                throw LockstepError(
                    .wrongType,
                    "\(key)[\(index)] is \(elements[index].kind); expected a number",
                    field: key)
            }
            return number
        }
        return (try element(0), try element(1), try element(2))
    }

    /// Creates the error for a line that is not JSON, or that contains a number outside the range
    /// of a double.
    private static func unreadable(_ line: [UInt8], _ error: JSONError) -> LockstepError {
        let isBlank = line.allSatisfy { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }
        if isBlank {
            return LockstepError(.invalidJSON, "the line is empty; expected a JSON object")
        }
        let field = member(around: error.offset, in: line)
        // Overflow is the JSON parser's only error about a number's value; all other errors concern
        // the syntax.
        let code: LockstepError.Code =
            error.reason.hasSuffix("is out of range") ? .outOfRange : .invalidJSON
        return LockstepError(code, error.sentence, field: field)
    }

    /// Name of the last known member before a position; empty if there is none.
    private static func member(around offset: Int, in line: [UInt8]) -> String {
        let text = String(decoding: line.prefix(offset), as: UTF8.self)
        let places = Key.all.compactMap { key in
            text.lastPlace(of: "\"\(key)\"").map { (key, $0) }
        }
        return places.max { $0.1 < $1.1 }?.0 ?? ""
    }
}

extension Vector3 {
    init(_ triple: LockstepSample.Triple) { self.init(triple.0, triple.1, triple.2) }
}

extension AxisVector {
    init(_ triple: LockstepSample.Triple) {
        self.init(yaw: triple.0, roll: triple.1, pitch: triple.2)
    }
}

extension String {
    /// Position of the last occurrence of `word`; nil if the text does not contain the word.
    fileprivate func lastPlace(of word: String) -> Int? {
        let (text, pattern) = (Array(utf8), Array(word.utf8))
        guard text.count >= pattern.count else { return nil }
        return (0...(text.count - pattern.count)).last {
            text[$0..<($0 + pattern.count)].elementsEqual(pattern)
        }
    }
}
