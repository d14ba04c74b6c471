/// Limits that keep the reaction to a silent drive below 50 ms: the time after which a drive counts
/// as silent, and the duration of the braking that follows.
public struct DriveSilence: Sendable, Equatable {
    /// Number of loop periods without an angle after which a drive on a CAN bus is silent, 1...3.
    public let periods: Int
    /// Time without a reply after which a motor on a serial line is silent, s.
    public let seconds: Double
    /// Duration of the braking, s; 0 at loop rates at which no time remains for braking.
    public let brakeSeconds: Double

    /// Longest time from the last answer of a drive until the other drives are off, s.
    static let reactionSeconds = 0.045
    /// Longest share of this time in which the silence is detected, s.
    private static let detectionSeconds = 0.025
    /// Longest duration of the braking, s.
    private static let longestBrakeSeconds = 0.025
    /// Number of missing answers that count as silence, if the time permits.
    private static let answers = 3
    /// Shortest silence of a motor on a serial line, s.
    private static let serialSeconds = 0.015

    /// Computes the limits.
    ///
    /// - Parameters:
    ///   - period: Period of the loop, s.
    ///   - interval: Interval of the drive's answers, s, if it is longer than the loop's period.
    ///   - isSerial: True for motors on a serial line.
    public init(period: Double, interval: Double = 0, isSerial: Bool = false) {
        let answer = max(period, interval)
        // The newest answer can be as old as one period when it is read.
        let fitting = Int((Self.detectionSeconds / answer + 1e-9).rounded(.down)) - 1
        periods = max(1, min(Self.answers, fitting))
        seconds = max(
            Self.serialSeconds, 1.5 * answer,
            min(Double(Self.answers) * answer, Self.detectionSeconds - period))
        let detection = isSerial ? seconds + period : Double(periods + 1) * answer
        let ticks = ((Self.reactionSeconds - detection) / period + 1e-9).rounded(.down)
        brakeSeconds = min(Self.longestBrakeSeconds, max(0, ticks * period))
    }

    /// Computes the limits for the given settings; nil if the motors do not report their state.
    init?(_ settings: Settings) {
        let linux = settings.hardware.linux
        guard settings.hardware.backend == .linux, linux.motors.haveEncoders else { return nil }
        let serial = SerialLoad(settings)
        self.init(
            period: 1 / Double(settings.loop.rateHz), interval: serial.map { 1 / $0.rate } ?? 0,
            isSerial: serial != nil)
    }
}
