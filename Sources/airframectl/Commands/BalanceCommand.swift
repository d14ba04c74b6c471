import ArgumentParser
import Client
import GimbalCore
import Glibc
import PlainText
import Wire

struct BalanceCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "balance",
        abstract: "Check the balance of the camera, and show in which direction to move it.",
        discussion: """
            The camera moves to several attitudes, up to 35° up and down and 15° to both sides. The command computes the \
            position of the camera's centre of mass from the motors' holding torques. The check takes about a minute; hold \
            the handle still and upright. Ctrl-C stops the check. In a terminal, the command offers to check again after you \
            have moved the camera.

            The computed distance depends on the mass, and on the torque in the motors' data sheet. Without --mass the mass is \
            estimated from the inertia, which can be wrong by half. The direction is right in any case; the height is \
            reported only if it exceeds the possible effect of a cable. The check needs motors of type torque.
            """)

    @OptionGroup var options: GlobalOptions
    @Option(help: "Mass of camera and lens, kg.")
    var mass: Double?

    func validate() throws {
        if let mass {
            guard (0.01...20).contains(mass) else {
                throw ValidationError("--mass must be 0.01 to 20 kg.")
            }
        }
    }

    func run() throws {
        let client = try options.connect()
        let signals = SignalQueue([SIGINT, SIGTERM])
        while try !check(client, signals), !options.json, isatty(STDIN_FILENO) == 1 {
            let question = "[Enter] check again, [q] leave: "
            guard let answer = try Prompt.answer(to: question, signals) else {
                return Output.line("")
            }
            if answer.lowercased() == "q" { return }
        }
    }

    /// Checks the balance once.
    ///
    /// - Returns: True if the camera is balanced.
    private func check(_ client: DaemonClient, _ signals: SignalQueue) throws -> Bool {
        let before: Status = try client.request(.status)
        guard before.mode == "locked", before.motors.type == "torque",
            before.motors.imbalanceGm.x.known != nil
        else {
            throw ClientError.refused(
                RequestError(
                    "refused",
                    before.mode == "locked"
                        ? "The balance check needs motors of type torque, and the motors must be on."
                        : "The balance check needs mode \"locked\": airframectl mode locked."))
        }
        if !options.json {
            Output.line("The camera moves for about a minute. Hold the handle still and upright.")
        }
        do {
            if let signal = try visit(client, signals) {
                try level(client)
                Output.error("The check was stopped.")
                throw ExitCodes.failure(after: signal)
            }
        } catch let error as ClientError {
            if case .refused = error { try? level(client) }
            throw error
        }
        return try show(try client.request(.status))
    }

    /// Points the camera at each attitude of the check.
    ///
    /// - Returns: The signal with which the user has stopped the check; nil after all attitudes.
    /// - Throws: `ClientError` if the motors do not hold the camera, or cannot turn it.
    private func visit(_ client: DaemonClient, _ signals: SignalQueue) throws -> Int32? {
        for (number, pose) in BalanceCheck.poses.enumerated() {
            let reply: Acknowledgement = try client.request(
                .point,
                [
                    "roll": .double(pose.roll), "pitch": .double(pose.pitch),
                    "rate": .double(BalanceCheck.rate),
                ])
            let travel = reply.durationS?.known ?? 3
            if let signal = try wait(travel + pose.seconds, client, signals) { return signal }
            try Self.requireHold(
                try client.request(.status), limit: BalanceCheck.errorAtRest)
            if !options.json {
                Output.line("  attitude \(number + 1) of \(BalanceCheck.poses.count)")
            }
        }
        return nil
    }

    /// Levels the camera. While the motors are off, the request has no effect until they are on.
    private func level(_ client: DaemonClient) throws {
        let status: Status = try client.request(.status)
        guard status.mode == "locked" else { return }
        let _: Acknowledgement = try client.request(
            .point, ["roll": .double(0), "pitch": .double(0), "duration": .double(2)])
    }

    /// Waits on the daemon's clock; in lockstep, the daemon uses the simulator's clock.
    ///
    /// - Returns: The signal with which the user has stopped the check; nil after the whole time.
    private func wait(
        _ seconds: Double, _ client: DaemonClient, _ signals: SignalQueue
    ) throws -> Int32? {
        let begin: Status = try client.request(.status)
        var passed = 0.0
        while passed < seconds {
            if let signal = signals.next(within: min(max(0.02, seconds - passed), 0.1)) {
                return signal
            }
            let now: Status = try client.request(.status)
            try Self.requireHold(now, limit: BalanceCheck.errorInMotion)
            passed = now.t.value - begin.t.value
        }
        return nil
    }

    /// Throws an error if the motors do not hold the camera with at most the given error, degrees.
    private static func requireHold(_ status: Status, limit: Double) throws(ClientError) {
        if let problem = Self.problem(status, limit: limit) {
            throw .refused(RequestError("refused", problem))
        }
    }

    /// Reason why the check cannot continue; nil if the motors hold the camera with at most the
    /// given error, degrees.
    static func problem(_ status: Status, limit: Double) -> String? {
        guard status.mode == "locked" else {
            return "The mode changed to \"\(status.mode)\" during the check."
        }
        guard status.state == "running" else {
            // A short fault has ended before the user can ask for the status.
            let reasons = status.inhibitions.map(\.sentence)
            return
                (["The motors were switched off during the check."]
                + (reasons.isEmpty ? ["`airframectl log` shows the reason."] : reasons))
                .joined(separator: " ")
        }
        return BalanceCheck.deviation(status.errorDeg, limit: limit)
    }

    /// Prints the result of a check; returns true if the camera is balanced.
    private func show(_ status: Status) throws -> Bool {
        try Self.requireHold(status, limit: BalanceCheck.errorAtRest)
        let learned = status.motors.imbalanceGm
        guard let x = learned.x.known, let y = learned.y.known, let z = learned.z.known else {
            throw ClientError.refused(
                RequestError("refused", "The torques of the motors are unknown."))
        }
        let inertia = status.motors.inertiaKgM2
        let estimate = BalanceCheck.estimatedMass(
            inertia: [inertia.yaw.value, inertia.roll.value, inertia.pitch.value])
        guard let mass = mass ?? estimate else {
            throw ClientError.refused(
                RequestError("refused", "The mass cannot be estimated: give --mass."))
        }
        let check = BalanceCheck(imbalance: Vector3(x, y, z), mass: mass)
        if options.json {
            try Output.json(Result(check, isEstimated: self.mass == nil))
            return check.isBalanced
        }
        if self.mass == nil {
            Output.line(
                "Mass: about \(Format.fixed(mass, 2)) kg, estimated from the inertia; --mass sets the mass."
            )
        }
        check.sentences.forEach(Output.line)
        Output.line(
            check.isBalanced
                ? "The camera is balanced within \(Format.fixed(BalanceCheck.balanced, 0)) mm."
                : "Move the camera, then check again: airframectl balance.")
        return check.isBalanced
    }

    /// Result of a check as JSON.
    private struct Result: Encodable {
        let offsetMm: [Double]
        let massKg: Double
        let massEstimated: Bool
        let balanced: Bool
        let sentences: [String]

        init(_ check: BalanceCheck, isEstimated: Bool) {
            offsetMm = [check.offset.x, check.offset.y, check.offset.z]
            massKg = check.mass
            massEstimated = isEstimated
            balanced = check.isBalanced
            sentences = check.sentences
        }
    }
}
