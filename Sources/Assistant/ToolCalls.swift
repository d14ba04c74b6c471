import Client
import Wire

/// Executor of tool calls and of the active rotation.
final class ToolCalls {
    private let link: DaemonLink
    /// The active rotation; nil if there is none.
    private(set) var turn: Turn?
    /// The newest shot, active or ended; nil before the first shot.
    private(set) var shot: ActiveShot?

    /// Methods that end neither a rotation nor a shot, because they cannot move the camera.
    private static let leavesMotion: Set<String> = [
        "baseline", "camera", "record", "set", "spectrum",
    ]

    init(_ link: DaemonLink) { self.link = link }

    /// Executes `tools/call`.
    ///
    /// - Returns: The answer to the call. If the call has ended a rotation, the answer to the
    ///   rotation's call follows. A call that starts a rotation is answered when the rotation ends.
    /// - Throws: The error for a call of an unknown tool, or with arguments that are not an object.
    func call(
        id: JSONValue, _ params: [String: JSONValue], isModern: Bool, now: Double
    ) throws(RPCFailure) -> [[UInt8]] {
        guard let name = params["name"]?.string else {
            throw RPCFailure(.invalidParams, "tools/call needs the name of a tool.")
        }
        // An emergency stop is sent immediately, even before the list of tools is known. As in the
        // daemon, invalid arguments do not prevent a stop.
        if name == EmergencyStop.tool {
            return [EmergencyStop(link.person).answer(id, isModern: isModern)] + stopped(now: now)
        }
        let arguments: [String: JSONValue]
        switch params["arguments"] {
        case nil, .null: arguments = [:]
        case .object(let members): arguments = members
        default: throw RPCFailure(.invalidParams, "arguments must be an object.")
        }
        if let turn, turn.id == id {
            throw RPCFailure(.invalidRequest, "An earlier call with this id has not ended yet.")
        }
        let catalogue: ToolCatalogue
        do throws(ClientError) {
            catalogue = try link.catalogue()
        } catch {
            return [reply(id, .failure(error.requestError), isModern)]
        }
        let tool = try catalogue.tool(name)
        if let refusal = refusal(tool, arguments) {
            return [reply(id, .failure(refusal), isModern)]
        }
        if tool.name == ShootTool.name {
            return shoot(id: id, arguments, isModern: isModern, now: now)
        }
        if tool.method.name == "rate" {
            return begin(id: id, arguments, isModern: isModern, now: now)
        }
        if tool.method.name == "camera", shot?.isExposing == true {
            // Another photo would be counted as the photo of the shot.
            let refusal = RequestError(
                "refused", "The shot waits for its own photo. Repeat the call in a second.")
            return [reply(id, .failure(refusal), isModern)]
        }
        // A request for motion replaces the active rotation and the active shot. The daemon continues
        // a rotation of the axes that the request does not move, so the rotation is stopped first.
        let isMotion =
            !tool.onlyReads(arguments) && !Self.leavesMotion.contains(tool.method.name)
        if isMotion, tool.method.name != "stop", let turn {
            do throws(ClientError) {
                _ = try link.ask("rate", turn.stop)
            } catch {
                // A refused stop of the rotation does not prevent the motion; a cancelled call or a
                // lost connection does.
                switch error {
                case .refused(let refusal) where refusal.code != "cancelled": break
                default:
                    return [reply(id, .failure(error.requestError), isModern)]
                        + endTurn(now: now)
                }
            }
        }
        let answer = outcome { () throws(ClientError) in
            tool.method.name == "reset_stop"
                ? try link.person.ask("reset_stop")
                : try link.ask(tool.method.name, arguments)
        }
        var lines = [reply(id, answer, isModern)]
        if isMotion {
            lines += endTurn(now: now)
            if case .success = answer { endShot() }
        }
        return lines
    }

    /// Ends the rotation and the shot after an emergency stop.
    func stopped(now: Double) -> [[UInt8]] {
        shot?.end("an emergency stop was requested.")
        return endTurn(now: now)
    }

    /// Time of the next call of `tick`, s; nil if neither a rotation nor a shot is active.
    var due: Double? { [turn?.due, shot?.due].compactMap(\.self).min() }

    /// Continues the active rotation and the active shot, or ends them.
    ///
    /// - Returns: The answer to the call that started the rotation, if the rotation has ended.
    func tick(now: Double) -> [[UInt8]] {
        shot?.tick(now: now, link)
        return tickTurn(now: now)
    }

    /// Ends the rotation and the shot, because the client has closed its output.
    func end() {
        if let turn { cancel(turn.id) }
        haltShot("the client has ended.")
    }

    private func tickTurn(now: Double) -> [[UInt8]] {
        guard var active = turn, now >= active.due else { return [] }
        if active.isInterrupted(now: now) {
            cancel(active.id)
            return [reply(active.id, .failure(active.interruption), active.isModern)]
        }
        if now >= active.end {
            turn = nil
            let answer = outcome { () throws(ClientError) in
                _ = try link.ask("rate", active.stop)
                return active.result(now: now)
            }
            return [reply(active.id, answer, active.isModern)]
        }
        do throws(ClientError) {
            _ = try link.ask("rate", active.rates)
            active.continueTurn(now: now)
            turn = active
            return []
        } catch {
            turn = nil
            return [reply(active.id, .failure(error.requestError), active.isModern)]
        }
    }

    /// Ends the rotation of a cancelled call. The cancelled call is not answered.
    func cancel(_ id: JSONValue) {
        guard let active = turn, active.id == id else { return }
        turn = nil
        _ = try? link.ask("rate", active.stop)
    }

    // MARK: Shots

    private func shoot(
        id: JSONValue, _ arguments: [String: JSONValue], isModern: Bool, now: Double
    ) -> [[UInt8]] {
        // As in the daemon's methods, an argument with the value null counts as missing.
        let arguments = arguments.filter { $0.value != .null }
        var lines: [[UInt8]] = []
        let answer = outcome { () throws(ClientError) in
            switch try ShootTool.action(arguments) {
            case .status: break
            case .cancel: haltShot("the assistant cancelled it.")
            case .start:
                let isDryRun = try ShootTool.isDryRun(arguments)
                let limits = try link.limits()
                let plan = try ShootTool.plan(arguments, limits)
                if isDryRun { return ShootTool.Report(plan: plan).json }
                guard shot?.due == nil else {
                    throw .refused(
                        RequestError("refused", "A shot is active. Use the action `cancel` first."))
                }
                let (sight, warning) = try ShootTool.check(plan, limits, link)
                shot = ActiveShot(plan, from: sight, warning: warning, now: now)
                lines = endTurn(now: now)
            }
            return (shot?.report ?? ShootTool.Report()).json
        }
        return [reply(id, answer, isModern)] + lines
    }

    /// Ends the shot, and stops the camera.
    private func haltShot(_ reason: String) {
        guard shot?.due != nil else { return }
        shot?.end(reason)
        _ = try? link.ask("rate", ["yaw": 0, "roll": 0, "pitch": 0])
    }

    /// Ends the shot after another request that can move the camera.
    private func endShot() {
        shot?.end("the assistant sent another request that can move the camera.")
    }

    // MARK: Turns

    private func begin(
        id: JSONValue, _ arguments: [String: JSONValue], isModern: Bool, now: Double
    ) -> [[UInt8]] {
        let next: Turn
        do throws(RequestError) {
            next = try Turn(
                id: id, arguments, try link.limitsOrRefusal(), isModern: isModern, now: now)
        } catch {
            return [reply(id, .failure(error), isModern)]
        }
        do throws(ClientError) {
            _ = try link.ask("rate", next.rates)
        } catch {
            // The daemon has received the request of a cancelled call, and can have started the
            // rotation.
            if error.requestError.code == "cancelled" { _ = try? link.ask("rate", next.stop) }
            return [reply(id, .failure(error.requestError), isModern)]
        }
        let lines = endTurn(now: now)
        endShot()
        turn = next
        return lines
    }

    /// Ends the replaced rotation, and returns the answer to its call.
    private func endTurn(now: Double) -> [[UInt8]] {
        guard let active = turn else { return [] }
        turn = nil
        return [reply(active.id, .success(active.result(now: now)), active.isModern)]
    }

    // MARK: Answers

    /// Refusal of arguments that the daemon accepts from people but not from assistants.
    private func refusal(_ tool: Tool, _ arguments: [String: JSONValue]) -> RequestError? {
        guard let actions = tool.actions, let action = arguments["action"], action != .null,
            let word = action.string, !actions.contains(word)
        else { return nil }
        return RequestError(
            "invalid_params",
            "The action of \(tool.name) must be \(actions.joined(separator: ", ")).",
            field: "action")
    }

    private func outcome(
        _ body: () throws(ClientError) -> JSONValue
    ) -> Result<JSONValue, RequestError> {
        do throws(ClientError) {
            return .success(try body())
        } catch {
            return .failure(error.requestError)
        }
    }

    private func reply(
        _ id: JSONValue, _ outcome: Result<JSONValue, RequestError>, _ isModern: Bool
    ) -> [UInt8] {
        RPCMessage.toolReply(id: id, outcome, isModern: isModern)
    }
}

extension DaemonLink {
    /// The limits. If the limits are unknown, the result is a refusal with the reason.
    func limitsOrRefusal() throws(RequestError) -> Limits {
        do throws(ClientError) {
            return try limits()
        } catch {
            throw error.requestError
        }
    }
}
