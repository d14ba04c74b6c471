import GimbalCore
import Hardware

extension FuzzTargets {
    /// Decodes bytes of servos or of a motor board, or frames of drives on a CAN bus. The first
    /// byte selects the protocol.
    public static func motors(_ bytes: [UInt8]) {
        guard let first = bytes.first else { return }
        let count = Int(first) % MotorDecoder.names.count
        for value in MotorDecoder.values(of: count, in: Array(bytes.dropFirst())) {
            precondition(value.isFinite, "not finite: \(MotorDecoder.names[count])")
        }
    }
}
