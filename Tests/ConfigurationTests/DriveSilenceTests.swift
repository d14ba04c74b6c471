import Configuration
import Testing

@Suite("Reaction to a silent drive")
struct DriveSilenceTests {
    /// Longest time from the last answer of a drive until the others are switched off, s: silence
    /// that a read detects, and braking, which ends with a tick.
    private static func reaction(_ silence: DriveSilence, period: Double, answer: Double) -> Double
    {
        let ticks = (silence.brakeSeconds / period - 1e-9).rounded(.up)
        return Double(silence.periods + 1) * answer + ticks * period
    }

    @Test(
        "drives on a CAN bus: at most 50 ms at each loop rate",
        arguments: [50, 60, 75, 100, 125, 150, 166, 200, 250, 333, 500, 1000, 4000])
    func can(rate: Int) {
        let period = 1 / Double(rate)
        let silence = DriveSilence(period: period)
        #expect(Self.reaction(silence, period: period, answer: period) <= 0.050 + 1e-9)
        #expect((1...3).contains(silence.periods))
    }

    @Test("from 200 Hz a drive may miss two answers, and the motors brake for 25 ms")
    func fast() {
        for rate in [200.0, 500, 1000] {
            let silence = DriveSilence(period: 1 / rate)
            #expect(silence.periods == 3 && silence.brakeSeconds == 0.025)
        }
    }

    @Test(
        "motors on a serial line: at most 50 ms, except for the slowest servos on the slowest loop",
        arguments: [(500, 250.0), (500, 100), (500, 50), (250, 40), (100, 100), (100, 50)])
    func serial(rate: Int, exchanges: Double) {
        let period = 1 / Double(rate)
        let silence = DriveSilence(period: period, interval: 1 / exchanges, isSerial: true)
        let ticks = (silence.brakeSeconds / period - 1e-9).rounded(.up)
        #expect(silence.seconds + period + ticks * period <= 0.050 + 1e-9)
        #expect(silence.seconds >= 0.015)
        #expect(silence.seconds >= 1.4 / exchanges, "one late answer is not silence")
    }
}
