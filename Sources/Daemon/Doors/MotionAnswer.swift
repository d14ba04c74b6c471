import Configuration
import GimbalCore
import Links
import Policy
import Port
import Realtime
import Wire

/// Answer to a client of the socket whose motion was granted.
extension DiagnosticsAdapter {
    func move(_ request: MotionRequest, client: DiagnosticsClient) throws(Refusal)
        -> Acknowledgement
    {
        // Whoever wants a motor to stand is not kept from it.
        if case .step(_, let wish) = request, wish != .hold,
            let problem = machine.steppers?.status.problem
        {
            throw Refusal(
                .refused,
                "the lines of the stepper motors do not work: \(problem); robot.gpio_chip, first_line and home_line name them",
                field: "axis")
        }
        // The loop may begin at once: what it will do is computed from where it stands before it is asked.
        let before = machine.hub.view?.record.snapshot
        try machine.commander.request(
            request, from: CommandSource(client), now: machine.clock.now)
        return answer(request, before)
    }

    func stop(client: DiagnosticsClient) -> Acknowledgement {
        do {
            return try move(.emergencyStop, client: client)
        } catch {
            // Room is kept for a stop: only a loop that hangs does not take it, and the bus thread has noticed that.
            return Acknowledgement(
                "The loop takes no stop: \(error.message). If the camera moves, cut its power.")
        }
    }

    private func answer(_ request: MotionRequest, _ before: StabilizerSnapshot?) -> Acknowledgement
    {
        switch request {
        case .point(let angles, let duration, let rate):
            guard let before else { return Acknowledgement("Turning.") }
            return PointForecast(snapshot: before, parameters: limits).acknowledgement(
                angles, duration: duration, rate: rate, mode: before.mode)
        case .rate(let rate):
            guard rate != .zero else { return Acknowledgement("Standing still.") }
            let isLimited = rate.clamped(to: limits.maxRate) != rate
            return Acknowledgement(
                "Turning until the next request or the dead-man."
                    + (isLimited ? " motion.max_rate_dps makes it slower than asked for." : ""),
                limitedBy: isLimited ? ["rate"] : [])
        default: return Acknowledgement(Self.sentence(request))
        }
    }

    private var limits: SetpointGenerator.Parameters {
        tuning.settings.stabilizerParameters.setpoint
    }

    private static func sentence(_ request: MotionRequest) -> String {
        switch request {
        case .mode(.inactive): "Going soft, then off."
        case .mode(let mode): "The mode is \(mode.name) now: \(ModeWords.of(mode))."
        case .track: "Turning until the next request or the dead-man of tracking."
        case .testMotor(let axis):
            "The motor of \(axis.name) moves for half a second, unless it is asked for again."
        case .drive: "Driving until the next request or the dead-man of driving."
        case .step(let axis, .home): "Looking for the switch of \(MotionRequest.steppers[axis])."
        case .step(let axis, .position(let position)):
            "\(MotionRequest.steppers[axis]) goes to \(position) steps from home, or to its limit."
        case .step(let axis, _): "\(MotionRequest.steppers[axis]) stands."
        case .emergencyStop: "Emergency stop. Outputs stay off until it is reset."
        case .resetEmergencyStop:
            "Emergency stop reset. The mode is inactive until you ask for one."
        case .take: "You are in control."
        case .release: "Control is free."
        case .point, .rate, .lookAside, .excite, .resetIntegrals: "Done."
        }
    }
}

extension CommandSource {
    /// A connection to the socket.
    init(_ client: DiagnosticsClient) {
        self.init(link: .diagnostics, connection: UInt64(client.id))
    }
}
