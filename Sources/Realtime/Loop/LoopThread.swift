internal import GimbalCore

/// Outer loop of the loop thread. The outer loop decides when a tick runs.
///
/// A tick runs when the bus thread rings the doorbell. If the bus thread does not ring for 1.5
/// periods, a tick runs without samples. Therefore a hung bus cannot stop the supervision. While
/// the bus thread is silent, the following ticks run once per period.
struct LoopThread: @unchecked Sendable {
    let loop: UnsafeMutablePointer<ControlLoop>
    let bell: Doorbell
    let stop: StopFlag

    /// Runs until `stop` is set and the bell is rung.
    func run() {
        let period = loop.pointee.periodNanoseconds
        // The first deadline is later, because the bus thread starts after this thread.
        var deadline = MonotonicClock.now.nanoseconds + 20 * period
        while true {
            let wakeup = bell.wait(until: Instant(nanoseconds: deadline))
            let now = MonotonicClock.now
            if stop.isSet { return }
            switch wakeup {
            case .rung:
                deadline = now.nanoseconds + period + period / 2
            case .timeout:
                loop.pointee.noteLateSample()
                deadline = max(deadline + period, now.nanoseconds + period / 2)
            }
            runTick(&loop.pointee, now: now)
        }
    }
}
