public import GimbalCore
import Synchronization

/// State of a joint's encoder, which the bus thread writes and other threads read. No thread waits
/// for another thread, because each value is one machine word.
public final class EncoderReport: Sendable {
    private let silentCount = Atomic(UInt64(0))
    private let noMagnetCount = Atomic(UInt64(0))
    private let answer = Atomic(Answer.angle.rawValue)

    /// Creates the report of an encoder before its first reading.
    public init() {}

    /// Reason why the last reading of the encoder failed, such as "does not answer"; nil after a
    /// success.
    public var failure: String? {
        switch Answer(rawValue: answer.load(ordering: .relaxed)) {
        case .silence: "does not answer"
        case .noMagnet: "has no magnet"
        case .angle, nil: nil
        }
    }

    /// Number of failed readings of the encoder, by reason.
    public var counters: [String: Int] {
        [
            "no_answer": Int(silentCount.load(ordering: .relaxed)),
            "no_magnet": Int(noMagnetCount.load(ordering: .relaxed)),
        ]
    }

    enum Answer: UInt8 { case angle, silence, noMagnet }

    /// Stores the result of a reading of the encoder. Only the bus thread calls this method.
    func note(_ answer: Answer) {
        switch answer {
        case .angle: break
        case .silence: silentCount.wrappingAdd(1, ordering: .relaxed)
        case .noMagnet: noMagnetCount.wrappingAdd(1, ordering: .relaxed)
        }
        self.answer.store(answer.rawValue, ordering: .relaxed)
    }
}

/// States of the three encoders, one for each joint.
public struct EncoderReports: Sendable {
    private let yaw = EncoderReport()
    private let roll = EncoderReport()
    private let pitch = EncoderReport()

    /// Creates reports that contain no reading yet.
    public init() {}

    /// Joints at which the last reading of the encoder failed.
    public var failing: AxisSet {
        AxisSet(
            yaw: yaw.failure != nil, roll: roll.failure != nil, pitch: pitch.failure != nil)
    }

    /// The report of one joint's encoder.
    public subscript(axis: GimbalAxis) -> EncoderReport {
        switch axis {
        case .yaw: yaw
        case .roll: roll
        case .pitch: pitch
        }
    }
}
