public import GimbalCore
import Synchronization

/// Report of a joint's encoder, written by the bus thread, read by others. Never waits: single
/// words.
public final class EncoderReport: Sendable {
    private let silentCount = Atomic(UInt64(0))
    private let noMagnetCount = Atomic(UInt64(0))
    private let answer = Atomic(Answer.angle.rawValue)

    /// An encoder that nobody has tried yet.
    public init() {}

    /// Why its last reading was none: "does not answer"; nil: it was one.
    public var failure: String? {
        switch Answer(rawValue: answer.load(ordering: .relaxed)) {
        case .silence: "does not answer"
        case .noMagnet: "has no magnet"
        case .angle, nil: nil
        }
    }

    /// Readings that failed, by what failed.
    public var counters: [String: Int] {
        [
            "no_answer": Int(silentCount.load(ordering: .relaxed)),
            "no_magnet": Int(noMagnetCount.load(ordering: .relaxed)),
        ]
    }

    enum Answer: UInt8 { case angle, silence, noMagnet }

    /// Bus thread.
    func note(_ answer: Answer) {
        switch answer {
        case .angle: break
        case .silence: silentCount.wrappingAdd(1, ordering: .relaxed)
        case .noMagnet: noMagnetCount.wrappingAdd(1, ordering: .relaxed)
        }
        self.answer.store(answer.rawValue, ordering: .relaxed)
    }
}

/// One for each joint.
public struct EncoderReports: Sendable {
    private let yaw = EncoderReport()
    private let roll = EncoderReport()
    private let pitch = EncoderReport()

    /// Encoders that nobody has tried yet.
    public init() {}

    /// The joints whose last reading was none.
    public var failing: AxisSet {
        AxisSet(
            yaw: yaw.failure != nil, roll: roll.failure != nil, pitch: pitch.failure != nil)
    }

    /// That of one joint.
    public subscript(axis: GimbalAxis) -> EncoderReport {
        switch axis {
        case .yaw: yaw
        case .roll: roll
        case .pitch: pitch
        }
    }
}
