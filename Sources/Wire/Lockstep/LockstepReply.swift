public import GimbalCore

/// Reply to one line from a simulator: the motor commands from the line's time `t` until the next
/// line.
public struct LockstepReply: Sendable {
    /// The time `t` of the line, unchanged.
    public var t: Double
    /// Commands for the motors.
    public var output: MotorOutput
    /// Type of the motors, which selects the relevant part of the output.
    public var motorType: MotorType
    /// Estimated attitude after this line's sample: rotation from the body frame to the earth
    /// frame.
    public var attitude: Quaternion
    /// Name of the mode, as in the configuration.
    public var mode: String

    /// Creates a reply.
    public init(
        t: Double, output: MotorOutput, motorType: MotorType, attitude: Quaternion, mode: String
    ) {
        self.t = t
        self.output = output
        self.motorType = motorType
        self.attitude = attitude
        self.mode = mode
    }

    /// Appends the reply as one line with its newline. Every number has enough digits for an exact
    /// conversion.
    public func write(to bytes: inout [UInt8]) {
        bytes += #"{"t":"#.utf8
        JSONValue.write(t, to: &bytes)
        bytes += output.enabled ? #","enabled":true"#.utf8 : #","enabled":false"#.utf8
        Self.write("torque", output.enabled ? output.torque : .zero, to: &bytes)
        switch motorType {
        case .torque: break
        case .servo: Self.write("angle", output.angle, to: &bytes)
        case .field:
            Self.write("field", output.field, to: &bytes)
            Self.write("power", output.enabled ? output.power : .zero, to: &bytes)
        }
        bytes += #","attitude":["#.utf8
        Self.write(attitude.w, to: &bytes)
        for component in [attitude.x, attitude.y, attitude.z] {
            bytes.append(UInt8(ascii: ","))
            Self.write(component, to: &bytes)
        }
        bytes += #"],"mode":"#.utf8
        JSONValue.write(mode, to: &bytes)
        bytes += "}\n".utf8
    }

    private static func write(_ name: String, _ axes: AxisVector, to bytes: inout [UInt8]) {
        bytes += ",\"".utf8
        bytes += name.utf8
        bytes += "\":[".utf8
        write(axes.yaw, to: &bytes)
        bytes.append(UInt8(ascii: ","))
        write(axes.roll, to: &bytes)
        bytes.append(UInt8(ascii: ","))
        write(axes.pitch, to: &bytes)
        bytes.append(UInt8(ascii: "]"))
    }

    /// Appends a number. An infinite or NaN value becomes zero, because a simulated motor must
    /// never receive `null`.
    private static func write(_ value: Double, to bytes: inout [UInt8]) {
        JSONValue.write(value.isFinite ? value : 0, to: &bytes)
    }
}
