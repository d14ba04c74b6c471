internal import GimbalCore

/// Schedule of the requests with which a codec reads and sets the watchdogs of its drives while the
/// outputs are off. One drive gets requests at a time. A drive whose timeout is wrong gets at most
/// three writes until it confirms the timeout, because some drives save each write in flash memory.
/// `MITCodec` does not use this schedule: a Damiao drive keeps the timeout in RAM, so its writes need
/// no limit.
struct WatchdogSchedule: Sendable, BitwiseCopyable {
    private var last = Instant(nanoseconds: .min / 2)
    private var turn = UInt8(0)
    private var writes = PerAxis(0)

    /// Interval between the requests to two drives, s.
    static let interval = 0.02
    /// Largest number of writes to a drive that does not confirm its timeout.
    static let mostWrites = 3

    /// Joint whose drive gets its requests now; nil if none does.
    mutating func next(now: Instant) -> GimbalAxis? {
        guard now.seconds(since: last) >= Self.interval else { return nil }
        last = now
        turn = (turn + 1) % 3
        return GimbalAxis(rawValue: turn)
    }

    /// Decides whether the timeout of this drive must be written now.
    ///
    /// - Parameters:
    ///   - axis: Joint of the drive.
    ///   - isKnown: True if the drive has reported its timeout.
    ///   - isGuarded: True if the drive has confirmed the wanted timeout.
    /// - Returns: True if the timeout must be written.
    mutating func isWriteDue(_ axis: GimbalAxis, isKnown: Bool, isGuarded: Bool) -> Bool {
        if isGuarded { writes[axis] = 0 }
        guard isKnown, !isGuarded, writes[axis] < Self.mostWrites else { return false }
        writes[axis] += 1
        return true
    }
}
