import GimbalCore
import Testing

/// Properties that must always hold, checked for all pairs of conditions in sequence and for all
/// commands.
@Suite("Invariants of the supervisor")
struct SafetyInvariantTests {
    static let parameters = Supervisor.Parameters()
    static let tick = 0.001

    static func step(_ state: Supervisor.State, _ conditions: Conditions, dt: Double = tick)
        -> Supervisor.State
    {
        Supervisor.next(after: state, conditions: conditions, dt: dt, parameters: parameters)
    }

    /// Initial states for the pairs: off, starting and stopping at half authority, braking, and
    /// full authority, each with and without a recovery time.
    static var starts: [Supervisor.State] {
        var states: [Supervisor.State] = []
        for phase in Supervisor.Phase.allCases {
            for recovery in [0, 0.5] {
                var state = Supervisor.State()
                state.phase = phase
                state.recoverySeconds = recovery
                switch phase {
                case .off: state.authority = 0
                case .active: state.authority = 1
                case .starting, .stopping: state.authority = 0.5
                case .braking:
                    state.authority = 1
                    state.brakeSeconds = parameters.brakeSeconds
                }
                states.append(state)
            }
        }
        return states
    }

    /// Every pair of conditions, and every condition alone, once.
    static let pairs = SupervisorTests.bits.flatMap { a in
        (a..<SupervisorTests.bits.upperBound).map {
            (Conditions(rawValue: 1 << a), Conditions(rawValue: 1 << $0))
        }
    }

    /// Conditions without a valid estimate of the attitude.
    static var withoutEstimate: Conditions {
        .imuMissing | .imuStale | .imuFrozen | .gravityMismatch
    }

    @Test(
        "without a valid estimate, the outputs are off after any two pairs in sequence, except to brake"
    )
    func neverOnBlindly() {
        var evaluations = 0
        for start in Self.starts {
            for (a, b) in Self.pairs {
                let before = Self.step(start, a | b)
                for (c, d) in Self.pairs where (c | d).intersects(Self.withoutEstimate) {
                    evaluations += 1
                    let after = Self.step(before, c | d)
                    guard after.isEnabled || after.authority != 0 else { continue }
                    let isBraking =
                        after.phase == .braking && before.isEnabled
                        && after.brakeSeconds <= Self.parameters.brakeSeconds
                    if isBraking { continue }
                    Issue.record("on after \(a | b), then \(c | d)")
                    return
                }
                // Outputs that are off stay off while the estimate has not settled.
                if !before.isEnabled, Self.step(before, .estimateNotConverged).isEnabled {
                    Issue.record(
                        "the outputs were switched on before the estimate converged, after \(a | b)"
                    )
                }
            }
        }
        #expect(evaluations > 1_000_000)
    }

    @Test(
        "the change of the authority in one evaluation is bounded, for every pair from every state")
    func steps() {
        for start in Self.starts {
            for (a, b) in Self.pairs {
                let after = Self.step(start, a | b)
                let response = Supervisor.response(to: a | b)
                #expect((0...1).contains(after.authority))
                #expect(after.isEnabled || after.authority == 0)
                // The authority rises at most as fast as the soft start. It drops immediately only
                // if the table requires this.
                #expect(after.authority - start.authority <= Self.tick / 0.5 + 1e-12)
                if response != .off, start.phase != .braking {
                    #expect(start.authority - after.authority <= Self.tick / 0.2 + 1e-12)
                }
                if !start.isEnabled, response >= .blockStart { #expect(!after.isEnabled) }
                if !start.isEnabled, start.recoverySeconds > Self.tick { #expect(!after.isEnabled) }
            }
        }
    }

    @Test("every pair that requires off turns the outputs off from every state, and keeps them off")
    func everyOffPath() {
        for start in Self.starts {
            for (a, b) in Self.pairs where Supervisor.response(to: a | b) >= .softOff {
                var state = start
                var seconds = 0.0
                while state.isEnabled, seconds < 1 {
                    state = Self.step(state, a | b, dt: 0.01)
                    seconds += 0.01
                }
                #expect(seconds <= Self.parameters.softStopSeconds + 0.02)
                #expect(!Self.step(state, a | b, dt: 10).isEnabled)
            }
        }
    }
}

/// Complete stabilizer with a camera at rest.
private struct Bench {
    var stabilizer = Stabilizer(parameters: Stabilizer.Parameters())
    var output = MotorOutput.off
    private var tick: Int64 = 0

    var now: Instant { Instant(nanoseconds: tick * 1_000_000) }
    var conditions: Conditions { stabilizer.snapshot.conditions }

    mutating func run(_ seconds: Double, _ external: Conditions = .none) {
        for _ in 0..<Int((seconds * 1000).rounded()) {
            tick += 1
            // Successive samples differ, because a sensor that repeats its samples counts as
            // frozen.
            let noise = Double(tick % 7 - 3) * 1e-4
            var sample = IMUSample(
                time: now, gyro: Vector3(noise, -noise, noise * 0.5),
                accel: Vector3(noise, noise, -9.80665))
            sample.contents.insert(.joints)
            stabilizer.integrate(sample)
            stabilizer.report(external)
            output = stabilizer.step(now: now)
        }
    }

    mutating func ask(_ command: Command) {
        stabilizer.apply(command, validUntil: now.advanced(bySeconds: 1), now: now)
    }

    /// A bench whose outputs are on in a mode.
    static func running(_ mode: Mode) -> Bench {
        var bench = Bench()
        bench.run(2)
        bench.ask(.mode(mode))
        bench.run(1)
        return bench
    }
}

@Suite("Invariants of the stabilizer")
struct StabilizerInvariantTests {
    static let modes = Mode.allCases.filter { $0 != .inactive }

    /// All commands except the reset of an emergency stop.
    static let commands: [Command] =
        Mode.allCases.map { .mode($0) } + [
            .point(target: .zero, duration: 0), .rate(AxisVector(repeating: 0.5)),
            .track(pan: 0.2, tilt: 0.1), .resetIntegrals, .emergencyStop, .testMotor(.pitch),
            .findEnd(.roll, isPositive: true),
        ]

    @Test(
        "every command and condition leaves an emergency stop active until its reset",
        arguments: modes)
    func emergencyStop(mode: Mode) {
        var bench = Bench.running(mode)
        #expect(bench.output.enabled)
        bench.ask(.emergencyStop)
        func stays(_ what: String, _ bench: Bench) {
            #expect(!bench.output.enabled && bench.conditions.intersects(.emergencyStop), "\(what)")
        }
        bench.run(0.001)
        stays("at once", bench)
        for (index, first) in Self.commands.enumerated() {
            for second in Self.commands {
                bench.ask(first)
                bench.ask(second)
                bench.run(0.001)
                stays("after pair \(index)", bench)
            }
        }
        for bit in SupervisorTests.bits {
            bench.run(0.001, Conditions(rawValue: 1 << bit))
            stays("with condition \(bit)", bench)
        }
        bench.run(20)
        stays("after 20 s", bench)
        bench.ask(.resetEmergencyStop)
        bench.ask(.mode(.inactive))
        bench.run(1)
        #expect(!bench.output.enabled, "the end of the condition does not switch the outputs on")
        bench.ask(.mode(mode))
        bench.run(1)
        #expect(bench.output.enabled)
    }

    @Test(
        "every condition in every mode has the response of the table, and the outputs return unless latched"
    )
    func everyConditionInEveryMode() {
        var runs = 0
        for mode in Self.modes {
            let running = Bench.running(mode)
            for bit in SupervisorTests.bits {
                let condition = Conditions(rawValue: 1 << bit)
                let response = Supervisor.response(to: condition)
                var bench = running
                bench.run(0.001, condition)
                if response == .off {
                    #expect(!bench.output.enabled, "bit \(bit) in \(mode.name): at once")
                }
                bench.run(0.25, condition)
                #expect(bench.output.enabled == (response < .softOff), "bit \(bit) in \(mode.name)")
                bench.run(0.45)
                // Conditions that come from a request have no recovery time.
                let isFault = !condition.intersects(.inactiveMode | .retracted | .calibrating)
                if response >= .softOff, isFault {
                    #expect(!bench.output.enabled, "bit \(bit) in \(mode.name): too soon")
                }
                bench.run(0.1)
                let isLatched = condition.intersects(.loopUnreliable)
                #expect(bench.output.enabled != isLatched, "bit \(bit) in \(mode.name)")
                runs += 1
            }
        }
        #expect(runs == 6 * SupervisorTests.bits.count)
    }
}
