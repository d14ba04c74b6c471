import GimbalCore
import Port
import WebTarget
import Wire

/// Decoders of bytes from outside the program, with the properties that must hold for all inputs. A
/// violated property ends the process, which libFuzzer and the test over the corpora detect.
public enum FuzzTargets {
    /// Targets; each name is also the name of the folder in Corpora.
    public static let all: [(name: String, run: @Sendable ([UInt8]) -> Void)] = [
        ("Diagnostics", diagnostics), ("AirOS", airos), ("RBL", rbl), ("MAVLink", mavlink),
        ("Rider", rider), ("Recording", recording), ("Web", WebTarget.run), ("Motors", motors),
        ("IIO", iio),
    ]

    /// Decodes a line on the diagnostics socket, or from a simulator.
    public static func diagnostics(_ bytes: [UInt8]) {
        _ = try? Request(line: bytes)
        _ = try? LockstepSample(parsing: bytes)
        guard let value = try? JSONValue(parsing: bytes) else { return }
        // A decoded value can be encoded, and decoding it again gives the same value.
        let text = Array(value.text.utf8)
        guard let again = try? JSONValue(parsing: text) else { fatalError("unreadable: \(text)") }
        precondition(again.text == value.text, "a second read returns another value")
    }

    /// Decodes a write of an AirOS app; the first byte selects the characteristic.
    public static func airos(_ bytes: [UInt8]) {
        guard let first = bytes.first else { return }
        let value = Array(bytes.dropFirst())
        switch first & 3 {
        case 0: _ = try? AirOSMode(bytes: value)
        case 1:
            guard let pid = try? PIDTriple(bytes: value) else { return }
            precondition(pid.p.isFinite && pid.i.isFinite && pid.d.isFinite, "not finite")
            precondition(pid.bytes == value, "the encoded value differs")
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
