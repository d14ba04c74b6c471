import Configuration
import GimbalCore
import Plot
import Simulation
import TestSupport
import Testing

/// Draws the pictures of etc/manual/controls.md from simulations, and checks the simulated values.
@Suite("Pictures of the manual: balance, push to aim, profiles")
struct ManualPictureTests {
    private static let degrees = 180 / Double.pi
    private static let colors = ["#0072b2", "#d55e00", "#009e73"]
    /// Ticks per second.
    private static let rateHz = 500

    /// Values rounded to a number of decimals, so that rounding errors of different processors do
    /// not change the picture.
    private static func rounded(_ values: [Double], _ decimals: Double) -> [Double] {
        values.map { ($0 * decimals).rounded() / decimals }
    }

    private static func settings(_ overrides: [String]) throws -> Settings {
        let source = ConfigurationSource(
            config: "/dev/null", overrides: ["loop.rate_hz=\(rateHz)"] + overrides)
        return try ConfigurationLoader.load(source).settings
    }

    private static func loop(
        _ motion: BaseMotion, _ settings: Settings
    ) -> SimulatedLoop {
        var parameters = SimulatedGimbal.Parameters()
        parameters.imu.sampleRate = Double(rateHz)
        return SimulatedLoop(
            SimulatedGimbal(parameters: parameters, motion: motion, seed: 1),
            settings.stabilizerParameters, rateHz: rateHz)
    }

    // MARK: Balance

    /// Torque of the pitch motor that holds a camera of 0.5 kg, mN·m.
    private static func torques(_ offset: Vector3, _ pitches: [Double]) -> [Double] {
        pitches.map { pitch in
            var parameters = SimulatedGimbal.Parameters()
            parameters.plant.imbalance = offset * 0.5
            parameters.plant.cableStiffness = .zero
            parameters.initialJoints.pitch = pitch / degrees
            let gimbal = SimulatedGimbal(
                parameters: parameters, motion: BaseMotion(.still, seed: 1), seed: 1)
            return gimbal.requiredTorque(acceleration: .zero).pitch * 1000
        }
    }

    @Test("etc/manual/pictures/balance.svg shows the torques from which the balance is computed")
    func balance() throws {
        let pitches = stride(from: -40.0, through: 40, by: 2).map { $0 }
        let forward = Self.torques(Vector3(4e-3, 0, 0), pitches)
        let low = Self.torques(Vector3(0, 0, 4e-3), pitches)
        let balanced = Self.torques(.zero, pitches)
        // 0.5 kg · 9.81 m/s² · 4 mm, at level.
        #expect(abs(abs(forward[20]) - 19.6) < 0.1, "\(forward[20])")
        #expect(abs(low[20]) < 0.1 && abs(abs(low[0]) - 12.6) < 0.2, "\(low)")
        #expect(balanced.allSatisfy { abs($0) < 0.1 })
        let lines = [
            ("balanced", balanced), ("4 mm too far forward", forward), ("4 mm too low", low),
        ]
        var figure = Figure(
            title: "Torque of the pitch motor that holds a camera of 0.5 kg",
            subtitle: "The torque at level shows an offset forward, its slope an offset in height",
            label: "pitch of the camera, degrees", abscissa: pitches,
            charts: [
                Chart(
                    title: "Holding torque", label: "mN·m",
                    lines: zip(lines, Self.colors).map { line, color in
                        Chart.Line(line.0, color: color, values: Self.rounded(line.1, 10))
                    })
            ])
        figure.marks = [(-35, "down"), (0, "level"), (35, "up")]
        let file = CommittedFile("etc/manual/pictures/balance.svg")
        #expect(try file.drift(from: figure.svg()) == nil)
    }

    // MARK: Push to aim

    @Test("etc/manual/pictures/push.svg shows an ignored gust and a hand that turns the camera")
    func push() throws {
        let settings = try Self.settings(["push.enabled=true"])
        let limit = settings.motors.torqueLimitNm.yaw
        var loop = Self.loop(BaseMotion(.still, seed: 1), settings)
        loop.run(seconds: 10)
        let start = EulerZXY.angles(loop.gimbal.attitude).yaw
        var (angles, hands, times): ([Double], [Double], [Double]) = ([], [], [])
        var pushed: [Bool] = []
        var tick = 0
        loop.run(seconds: 10) { loop in
            let time = Double(tick) / Double(Self.rateHz)
            let angle = EulerZXY.angles(loop.gimbal.attitude).yaw - start
            // A gust of 2 s with 40 % of the torque limit, then a hand that turns the camera by
            // 30°.
            let goal = min((time - 5) * 0.4, 30 / Self.degrees)
            let spring = 2 * (goal - angle) - 0.05 * loop.gimbal.rate.z
            let size =
                (1..<3).contains(time)
                ? 0.4 * limit
                : (5..<7.5).contains(time) ? min(max(spring, -1.2 * limit), 1.2 * limit) : 0
            loop.gimbal.push = Vector3(0, 0, size)
            if tick % 10 == 0 {
                times.append(time)
                angles.append(angle * Self.degrees)
                hands.append(size / limit * 100)
                pushed.append(loop.snapshot.conditions.intersects(.cameraPushed))
            }
            tick += 1
        }
        let gust = angles[..<240].map(abs).max() ?? 90
        #expect(gust < 3, "the gust turns the aim by \(gust)°")
        #expect(abs((angles.last ?? 0) - 28) < 4, "\(angles.last ?? 0)")
        #expect(pushed.contains(true) && !pushed[..<240].contains(true))
        let threshold = [Double](repeating: settings.push.thresholdPercent, count: times.count)
        let figure = Figure(
            title: "A gust, and a hand that pushes the camera to the right",
            subtitle:
                "Simulated default gimbal in mode locked; push.enabled = true, push.threshold_percent = 50",
            label: "time, s", abscissa: times,
            charts: [
                Chart(
                    title: "Moment on the camera", label: "% of the torque limit",
                    lines: [
                        Chart.Line("moment", color: Self.colors[0], values: Self.rounded(hands, 1)),
                        Chart.Line("threshold", color: "#666666", values: threshold),
                    ]),
                Chart(
                    title: "Yaw of the camera", label: "deg",
                    lines: [
                        Chart.Line("yaw", color: Self.colors[1], values: Self.rounded(angles, 10))
                    ], shades: [Chart.Shade("camera_pushed", color: "#faf5c8", holds: pushed)]),
            ])
        let file = CommittedFile("etc/manual/pictures/push.svg")
        #expect(try file.drift(from: figure.svg()) == nil)
    }

    // MARK: Profiles

    @Test("etc/manual/pictures/profile.svg shows that a change of the profile causes no jump")
    func profile() throws {
        let follow = ["mode.boot=pan_follow"]
        let calm = try Self.settings(follow + ["follow.preset=cinema"])
        let fast = try Self.settings(follow + ["follow.preset=sport"])
        var motion = BaseMotion(.still, seed: 1, stillDuration: 6, rampDuration: 0.05)
        motion.turnRate.yaw = 25 / Self.degrees
        motion.turnDuration = 5
        var loop = Self.loop(motion, calm)
        loop.run(seconds: 6)
        let start = EulerZXY.angles(loop.gimbal.attitude).yaw
        let handleStart = EulerZXY.angles(loop.gimbal.base.attitude).yaw
        var (times, angles, handle, rates): ([Double], [Double], [Double], [Double]) =
            ([], [], [], [])
        var tick = 0
        var (largestStep, last) = (0.0, loop.gimbal.attitude)
        loop.run(seconds: 7) { loop in
            // The new parameters apply from one tick to the next.
            if tick == 2500 / 2 { loop.stabilizer.apply(fast.stabilizerParameters) }
            largestStep = max(
                largestStep, loop.gimbal.attitude.error(to: last).norm * Self.degrees)
            last = loop.gimbal.attitude
            if tick % 10 == 0 {
                times.append(Double(tick) / Double(Self.rateHz))
                angles.append(
                    (EulerZXY.angles(loop.gimbal.attitude).yaw - start) * Self.degrees)
                handle.append(
                    (EulerZXY.angles(loop.gimbal.base.attitude).yaw - handleStart) * Self.degrees)
                rates.append(loop.snapshot.pointing.rates.yaw * Self.degrees)
            }
            tick += 1
        }
        // 200°/s, the rate limit of the preset sport, is 0.4° in one tick.
        #expect(largestStep < 0.4, "a jump of \(largestStep)° in one tick")
        let changes = zip(rates, rates.dropFirst()).map { abs($1 - $0) }.max() ?? 0
        // The settings limit the acceleration to 3000°/s², which is 60°/s in 20 ms.
        #expect(changes < 60, "the rate changes by \(changes)°/s within 20 ms")
        var figure = Figure(
            title: "Change of the profile from cinema to sport while the handle turns",
            subtitle:
                "Simulated default gimbal in pan_follow; the handle turns at 25°/s for 5 s",
            label: "time, s", abscissa: times,
            charts: [
                Chart(
                    title: "Yaw", label: "deg",
                    lines: [
                        Chart.Line("handle", color: "#666666", values: Self.rounded(handle, 10)),
                        Chart.Line(
                            "camera", color: Self.colors[0], values: Self.rounded(angles, 10)),
                    ]),
                Chart(
                    title: "Rate of the set-point", label: "deg/s",
                    lines: [
                        Chart.Line("rate", color: Self.colors[1], values: Self.rounded(rates, 10))
                    ]),
            ])
        figure.marks = [(2.5, "sport")]
        let file = CommittedFile("etc/manual/pictures/profile.svg")
        #expect(try file.drift(from: figure.svg()) == nil)
    }
}
