import CMathShim
import Testing

@testable import GimbalCore

@Suite("Sample screen: conditions from faults of the sensor")
struct SampleScreenTests {
    /// Sample whose last bits change, as those of a real sensor do.
    func sample(at milliseconds: Int) -> IMUSample {
        IMUSample(
            time: Instant(nanoseconds: Int64(milliseconds) * 1_000_000),
            gyro: Vector3(1e-4 * Double(milliseconds % 7), 0, 0),
            accel: Vector3(0, 1e-3 * Double(milliseconds % 5), -9.81))
    }

    /// Screen after samples of a healthy sensor for `milliseconds`.
    func healthy(_ milliseconds: Int = 100) -> SampleScreen {
        var screen = SampleScreen(parameters: SampleScreen.Parameters())
        for t in 0..<milliseconds { _ = screen.judge(sample(at: t)) }
        return screen
    }

    func now(_ milliseconds: Int) -> Instant {
        Instant(nanoseconds: Int64(milliseconds) * 1_000_000)
    }

    @Test("a healthy sensor causes no condition, and its time steps are measured")
    func health() {
        var screen = healthy()
        #expect(screen.conditions(now: now(100)).isEmpty)
        #expect(screen.judge(sample(at: 102)) == .use(dt: 0.003))
    }

    @Test("the sensor is reported as missing before the first sample")
    func missing() {
        var screen = SampleScreen(parameters: SampleScreen.Parameters())
        #expect(screen.conditions(now: now(5)) == .imuMissing)
    }

    @Test(
        "a sample that is not finite or out of range is refused and counted",
        arguments: [Double.nan, .infinity, -.infinity, 1e6, 35])
    func implausible(value: Double) {
        var screen = healthy()
        var bad = sample(at: 100)
        bad.gyro.y = value
        #expect(screen.judge(bad) == .refuse)
        #expect(screen.counters.implausible == 1)
        #expect(screen.conditions(now: now(101)) == .imuImplausible)
        for t in 101..<160 { _ = screen.judge(sample(at: t)) }
        #expect(screen.conditions(now: now(160)).isEmpty)
    }

    @Test(
        "a gyroscope sample at full scale is used, counted, and reported for a short time",
        arguments: [2000.0, -2000, 1990])
    func saturated(degrees: Double) {
        var screen = healthy()
        var full = sample(at: 100)
        full.gyro.y = degrees * .pi / 180
        #expect(screen.judge(full) == .use(dt: 0.001))
        #expect(screen.counters.gyroSaturated == 1 && screen.counters.implausible == 0)
        #expect(screen.conditions(now: now(101)) == .imuSaturated)
        for t in 101..<160 { _ = screen.judge(sample(at: t)) }
        #expect(screen.conditions(now: now(160)).isEmpty)
    }

    @Test("only samples at full scale are counted, and a clipped accelerometer causes no condition")
    func clipped() {
        var screen = healthy()
        var fast = sample(at: 100)
        fast.gyro.z = 1900 * .pi / 180
        #expect(screen.judge(fast) == .use(dt: 0.001))
        var hard = sample(at: 101)
        hard.accel.x = -24 * 9.80665
        #expect(screen.judge(hard) == .use(dt: 0.001))
        #expect(screen.counters.gyroSaturated == 0 && screen.counters.accelClipped == 1)
        #expect(screen.conditions(now: now(102)).isEmpty)
    }

    @Test("a bad accelerometer value is refused like a bad gyroscope value")
    func implausibleAccel() {
        var screen = healthy()
        var bad = sample(at: 100)
        bad.accel.z = .nan
        #expect(screen.judge(bad) == .refuse)
    }

    @Test(
        "identical samples for 40 ms, at least eight, are reported as frozen until the next different sample",
        arguments: [(period: 1, after: 40), (2, 40), (5, 40), (10, 80)])
    func frozen(period: Int, after: Int) {
        var screen = healthy()
        _ = screen.judge(sample(at: 100))
        for t in stride(from: period, through: 200, by: period) {
            var stuck = sample(at: 100)
            stuck.time = now(100 + t)
            _ = screen.judge(stuck)
            #expect(screen.conditions(now: stuck.time).isEmpty == (t < after))
        }
        #expect(screen.counters.frozen == 1)
        _ = screen.judge(sample(at: 301))
        #expect(screen.conditions(now: now(301)).isEmpty)
    }

    @Test(
        "a sample that contradicts the camera's known motion is refused; five in a row are a fault")
    func notBelieved() {
        var screen = healthy()
        for t in 100..<104 { #expect(screen.judge(sample(at: t), isBelieved: false) == .refuse) }
        #expect(screen.conditions(now: now(104)).isEmpty && screen.counters.implausible == 4)
        _ = screen.judge(sample(at: 104), isBelieved: false)
        #expect(screen.conditions(now: now(105)) == .imuImplausible)
    }

    @Test(
        "one frozen chip of two is reported within 9 ms once its noise is known",
        arguments: [true, false])
    func oneChip(isGyro: Bool) {
        var screen = SampleScreen(parameters: SampleScreen.Parameters())
        for t in 0..<400 { _ = screen.judge(sample(at: t)) }
        for t in 400..<420 {
            var half = sample(at: t)
            if isGyro {
                half.gyro = sample(at: 399).gyro
            } else {
                half.accel = sample(at: 399).accel
            }
            _ = screen.judge(half)
            #expect(screen.conditions(now: now(t)).isEmpty == (t < 407))
        }
        #expect(screen.counters.frozen == 1)
    }

    @Test("a chip that often repeats its samples can repeat them longer before it counts as frozen")
    func quietChip() {
        var screen = SampleScreen(parameters: SampleScreen.Parameters())
        func held(_ t: Int, for length: Int) -> IMUSample {
            var sample = sample(at: t)
            sample.gyro = self.sample(at: t - t % length).gyro
            return sample
        }
        for t in 0..<2000 { _ = screen.judge(held(t, for: t < 1000 ? 6 : 20)) }
        #expect(screen.counters.frozen == 0)
        for t in 2000..<2100 { _ = screen.judge(held(t, for: 100)) }
        #expect(screen.counters.frozen == 1)
    }

    @Test("a sensor without samples for longer than the stale time is stale, and is counted once")
    func stale() {
        var screen = healthy()
        #expect(screen.conditions(now: now(110)).isEmpty)
        #expect(screen.conditions(now: now(130)) == .imuStale)
        #expect(screen.conditions(now: now(140)) == .imuStale)
        #expect(screen.counters.stale == 1)
    }

    @Test("a sample whose time does not increase is refused")
    func reversed() {
        var screen = healthy()
        #expect(screen.judge(sample(at: 99)) == .refuse)
        #expect(screen.judge(sample(at: 50)) == .refuse)
        #expect(screen.counters.timeReversed == 2)
        #expect(screen.conditions(now: now(100)) == .imuTimeFault)
    }

    @Test("a gap in time is reported, and the sample after it is used with the whole time step")
    func gap() {
        var screen = healthy()
        #expect(screen.judge(sample(at: 199)) == .use(dt: 0.1))
        #expect(screen.counters.gaps == 1)
        #expect(screen.conditions(now: now(199)) == .imuTimeFault)
    }

    @Test(
        "with frozenNeedsNoise, a sensor without noise can repeat samples or move smoothly")
    func frozenNeedsNoise() {
        var parameters = SampleScreen.Parameters()
        parameters.frozenNeedsNoise = true
        var screen = SampleScreen(parameters: parameters)
        func still(_ t: Int) -> IMUSample {
            IMUSample(time: now(t), gyro: .zero, accel: Vector3(0, 0, -9.81))
        }
        for t in 0..<300 { _ = screen.judge(still(t)) }
        #expect(screen.conditions(now: now(299)).isEmpty)
        // The sensor is shaken at 40 Hz on all axes, without noise, and is then still again.
        for t in 300..<1300 {
            let wave = cm_sin(2 * .pi * 0.04 * Double(t))
            _ = screen.judge(
                IMUSample(
                    time: now(t), gyro: Vector3(wave, -wave, 2 * wave),
                    accel: Vector3(wave, wave, wave - 9.81)))
        }
        for t in 1300..<1400 { _ = screen.judge(still(t)) }
        #expect(screen.conditions(now: now(1399)).isEmpty)
        #expect(screen.counters.frozen == 0)
    }

    @Test("implausible encoder angles are refused")
    func implausibleJoints() {
        var screen = healthy()
        var far = sample(at: 100)
        far.joints.roll = 1e308
        #expect(screen.judge(far) == .refuse)
    }

    @Test("a fault of the handle's sensor affects only the handle's rate")
    func implausibleHandle() {
        var screen = healthy()
        var fast = sample(at: 100)
        fast.baseGyro.z = .nan
        guard case .use = screen.judge(fast) else {
            Issue.record("the camera's sample was refused")
            return
        }
        #expect(HandleIMU.isPlausible(Vector3(30, 30, 30)))
        #expect(!HandleIMU.isPlausible(Vector3(0, 0, .nan)))
        #expect(!HandleIMU.isPlausible(Vector3(0, 100, 0)))
    }

    @Test("the end of a freeze does not make the detector slower")
    func secondFreeze() {
        var test = FreezeTest()
        func ticks(_ samples: Range<Int>) -> Int? {
            samples.first { _ in test.note(isSame: true, dt: 1e-3, longestSeconds: 0.04) }
        }
        for _ in 0..<300 { _ = test.note(isSame: false, dt: 1e-3, longestSeconds: 0.04) }
        #expect(ticks(0..<100) == 7)
        _ = test.note(isSame: false, dt: 1e-3, longestSeconds: 0.04)
        #expect(ticks(0..<100) == 7)
    }

    @Test("the time before the first sample does not make the sensor slow")
    func firstWindow() {
        var pace = SamplePace()
        for tick in 0..<1000 {
            if tick >= 200 { pace.note() }
            pace.step(dt: 1e-3)
            #expect(pace.wait == 0)
        }
        for tick in 0..<500 {
            if tick % 2 == 0 { pace.note() }
            pace.step(dt: 1e-3)
        }
        #expect(abs(pace.wait - 1e-3) < 1e-5)
    }

    @Test("the age of samples is measured, and a larger age of the last seconds counts")
    func age() {
        var pace = SamplePace()
        func run(_ seconds: Double, _ age: (Int) -> Double) {
            for tick in 0..<Int(seconds * 200) {
                pace.note()
                pace.step(dt: 5e-3, age: age(tick))
            }
        }
        #expect(pace.age.isNaN)
        run(0.3) { _ in 1e-4 }
        #expect(abs(pace.age - 1e-4) < 1e-9)
        // The sensor's clock is 1 % slower than the loop: the age rises from 0 to 5 ms in 0.5 s.
        run(5) { Double($0 % 100) / 100 * 5e-3 }
        #expect(pace.age > 2.5e-3)
        run(30) { _ in 1e-4 }
        #expect(pace.age < 2e-4)
        // An outage of 35 ms.
        run(1) { 5e-3 * Double((10..<17).contains($0) ? $0 - 9 : 0) }
        #expect(pace.age < 2e-4)
        // Time stamps in the future tell no age.
        run(0.3) { _ in -5e-3 }
        #expect(pace.age.isNaN)
    }
}
