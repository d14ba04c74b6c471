import Client
import Wire

/// Control that a command keeps with repeated requests. Without requests, the camera stops after
/// `commander.dead_man_s`, and the command loses control after `commander.release_after_s`.
enum KeptControl {
    /// Time limit in the daemon's present settings, s; nil if the daemon does not report it.
    static func limit(_ key: String, _ client: DaemonClient) throws -> Double? {
        let settings: [Wire.Setting] = try client.request(.get, ["keys": [.string(key)]])
        return settings.first?.value.number
    }

    /// Interval between repeated requests that keep control with the daemon's present settings, s.
    static func period(_ client: DaemonClient, atMost longest: Double) throws -> Double {
        let limit = try limit("commander.release_after_s", client) ?? longest
        return period(within: limit, atMost: longest)
    }

    /// Interval between repeated requests, s: a third of the time limit, so that a late request is
    /// still within the limit.
    static func period(within limit: Double, atMost longest: Double) -> Double {
        min(longest, limit / 3)
    }

    /// Checks that the command is still in control. Otherwise its next request would take control
    /// back from another client of the socket.
    ///
    /// - Throws: `ClientError.refused` with the client in control.
    static func check(_ client: DaemonClient, of own: ClientIdentity) throws {
        let status: Status = try client.request(.status)
        guard status.holder != own.name else { return }
        let state =
            status.holder.map { "\($0) is in control." }
            ?? "No client is in control: another client has released it, or this command was silent for longer than commander.release_after_s."
        throw ClientError.refused(
            RequestError(
                "not_in_control",
                "You have lost control. \(state) To take control again, repeat the command."))
    }
}
