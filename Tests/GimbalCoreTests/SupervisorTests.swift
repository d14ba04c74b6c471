import GimbalCore
import Testing

@Suite("Supervisor: next state from state and conditions")
struct SupervisorTests {
    let parameters = Supervisor.Parameters()
    let tick = 0.001

    /// Runs `seconds` of evaluations with the same conditions.
    func run(
        _ state: Supervisor.State, _ conditions: Conditions, seconds: Double
    ) -> Supervisor.State {
        var state = state
        for _ in 0..<Int(seconds / tick) {
            state = Supervisor.next(
                after: state, conditions: conditions, dt: tick, parameters: parameters)
        }
        return state
    }

    var active: Supervisor.State { run(Supervisor.State(), .none, seconds: 1) }

    @Test("the authority grows over the soft-start time and never jumps")
    func softStart() {
        var state = Supervisor.State()
        var previous = 0.0
        for _ in 0..<1000 {
            state = Supervisor.next(
                after: state, conditions: .none, dt: tick, parameters: parameters)
            #expect(state.authority - previous <= tick / parameters.softStartSeconds + 1e-12)
            previous = state.authority
        }
        #expect(state.phase == .active)
        #expect(state.authority == 1)
    }

    /// Bits of all conditions, and some unused bits.
    static let bits = 0..<UInt64(64)

    @Test("each condition has the response of the table", arguments: bits)
    func table(bit: UInt64) {
        let condition = Conditions(rawValue: 1 << bit)
        let expected: Response =
            switch condition {
            case .imuMissing, .emergencyStop, .shutdown, .simulatorMissing, .simulatorSilent,
                .controlFault, .canBusOff, .motorPortLost:
                .off
            case .imuStale, .imuFrozen, .gyroContradicted, .gravityMismatch, .responseReversed,
                .driveSilent, .driveFault, .driveOverload, .driveOverheated, .driveVoltage:
                .brake
            case .inactiveMode, .retracted, .calibrating, .imuImplausible, .imuTimeFault,
                .busError, .encoderMissing, .loopUnreliable, .rotorLost:
                .softOff
            case .estimateNotConverged, .jointsOutOfReach, .supplyEmpty, .drivesStarting,
                .driveUnguarded:
                .blockStart
            default: .report
            }
        #expect(Supervisor.response(to: condition) == expected)
    }

    @Test("the most severe of two conditions wins, for every pair")
    func pairs() {
        for (first, second) in Self.pairs {
            let worst = max(Supervisor.response(to: first), Supervisor.response(to: second))
            #expect(Supervisor.response(to: first | second) == worst)
        }
    }

    static var pairs: [(Conditions, Conditions)] {
        bits.flatMap { a in
            bits.map { (Conditions(rawValue: 1 << a), Conditions(rawValue: 1 << $0)) }
        }
    }

    @Test("every pair that requires off turns the outputs off from every phase, and keeps them off")
    func everyOffPath() {
        let within = max(parameters.softStopSeconds, tick) + 2 * tick
        for phase in Supervisor.Phase.allCases {
            for (first, second) in Self.pairs {
                let both = first | second
                let response = Supervisor.response(to: both)
                guard response >= .softOff else { continue }
                var state = Supervisor.State()
                state.phase = phase
                state.authority = phase == .off ? 0 : 1
                let off = run(state, both, seconds: response == .off ? tick : within)
                #expect(!off.isEnabled && off.authority == 0)
                #expect(!run(off, both, seconds: 2 * tick).isEnabled)
            }
        }
    }

    @Test("with an unsettled estimate no pair of conditions starts the outputs")
    func neverWithoutEstimate() {
        for (first, second) in Self.pairs {
            let state = run(
                Supervisor.State(), first | second | .estimateNotConverged, seconds: 3 * tick)
            #expect(state.phase == .off)
        }
    }

    @Test("an emergency stop turns the outputs off within one tick, even while they brake")
    func off() {
        for before in [active, run(active, .imuStale, seconds: tick)] {
            let state = run(before, .emergencyStop, seconds: tick)
            #expect(state.phase == .off)
            #expect(state.authority == 0)
        }
    }

    @Test(
        "a lost sensor brakes for 25 ms and then turns the outputs off, even if the conditions change",
        arguments: [Conditions.imuStale, .none, .inactiveMode, .estimateNotConverged])
    func brake(meanwhile: Conditions) {
        var state = run(active, .imuStale, seconds: tick)
        #expect(state.phase == .braking && state.authority == 1)
        state = run(state, meanwhile, seconds: parameters.brakeSeconds - 2 * tick)
        #expect(state.phase == .braking)
        state = run(state, meanwhile, seconds: 3 * tick)
        #expect(state.phase == .off && state.authority == 0)
        #expect(run(Supervisor.State(), .imuStale, seconds: tick).phase == .off)
    }

    @Test("mode inactive ramps the outputs off, and the next start needs no recovery time")
    func inactive() {
        let half = run(active, .inactiveMode, seconds: parameters.softStopSeconds / 2)
        #expect(half.phase == .stopping)
        #expect(abs(half.authority - 0.5) < 0.02)
        let off = run(half, .inactiveMode, seconds: parameters.softStopSeconds)
        #expect(off.phase == .off)
        #expect(run(off, .none, seconds: tick).phase == .starting)
    }

    @Test("after a fault the outputs wait for the recovery time, counted from the end of the fault")
    func recovery() {
        let faulted = run(active, .imuStale, seconds: 2)
        let early = run(faulted, .none, seconds: parameters.recoverySeconds - 0.01)
        #expect(early.phase == .off)
        #expect(run(early, .none, seconds: 0.02).phase == .starting)
    }

    @Test(
        "an unsettled estimate prevents a start of the outputs, but does not turn them off"
    )
    func blockStart() {
        #expect(run(Supervisor.State(), .estimateNotConverged, seconds: 5).phase == .off)
        #expect(run(active, .estimateNotConverged, seconds: 5).phase == .active)
    }

    @Test("an implausible sample reduces the authority only for a short time")
    func glitch() {
        let dipped = run(active, .imuImplausible, seconds: 0.05)
        #expect(dipped.authority > 0.7)
        #expect(dipped.phase == .stopping)
        #expect(run(dipped, .none, seconds: 0.5).phase == .active)
    }

    @Test(
        "every condition that requires the outputs to be off switches them off, in every phase")
    func invariant() {
        for phase in Supervisor.Phase.allCases {
            for bits in 0..<UInt64(1 << 17) {
                var state = Supervisor.State()
                state.phase = phase
                state.authority = 0.5
                let conditions = Conditions(rawValue: bits)
                let next = Supervisor.next(
                    after: state, conditions: conditions, dt: tick, parameters: parameters)
                if conditions.intersects(Supervisor.offAtOnce),
                    next.isEnabled || next.authority != 0
                {
                    Issue.record("outputs on in \(phase) with conditions \(bits)")
                }
            }
        }
    }
}
