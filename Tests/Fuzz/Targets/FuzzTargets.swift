import GimbalCore
import Port
import Wire

/// Every decoder of bytes that come from outside, and what must hold whatever they are. A property
/// that does not hold ends the process: that is what libFuzzer looks for, and what the test over
/// the corpora would show.
public enum FuzzTargets {
    /// Names, as the folders of the corpora have them.
    public static let all: [(name: String, run: @Sendable ([UInt8]) -> Void)] = [
        ("Diagnostics", diagnostics), ("AirOS", airos), ("RBL", rbl), ("MAVLink", mavlink),
        ("Rider", rider), ("Recording", recording), ("Web", web), ("Motors", motors),
        ("IIO", iio),
    ]

    /// A line on the diagnostics socket, or from a simulator.
    public static func diagnostics(_ bytes: [UInt8]) {
        _ = try? Request(line: bytes)
        _ = try? LockstepSample(parsing: bytes)
        guard let value = try? JSONValue(parsing: bytes) else { return }
        // What was read can be written, and is the same when it is read again.
        let text = Array(value.text.utf8)
        guard let again = try? JSONValue(parsing: text) else { fatalError("unreadable: \(text)") }
        precondition(again.text == value.text, "read again, it is something else")
    }

    /// A write of an AirOS app; the first byte says to which characteristic.
    public static func airos(_ bytes: [UInt8]) {
        guard let first = bytes.first else { return }
        let value = Array(bytes.dropFirst())
        switch first & 3 {
        case 0: _ = try? AirOSMode(bytes: value)
        case 1:
            guard let pid = try? PIDTriple(bytes: value) else { return }
            precondition(pid.p.isFinite && pid.i.isFinite && pid.d.isFinite, "not finite")
            precondition(pid.bytes == value, "written back, it is something else")
        case 2:
            guard let kalman = try? KalmanTriple(bytes: value) else { return }
            precondition(
                kalman.qAngle.isFinite && kalman.qBias.isFinite && kalman.rMeasure.isFinite,
                "not finite")
        default:
            switch try? AirOSCommand(bytes: value) {
            case .trackPan(let speed), .trackTilt(let speed):
                precondition(speed.isFinite, "not finite")
            default: break
            }
        }
    }
}
