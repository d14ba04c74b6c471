import Client
import Wire

/// The tool `stop`. The tool has its own connection, and needs neither the list of tools nor the
/// server's state. Therefore another thread can answer a call of `stop` while the server waits for
/// the daemon.
struct EmergencyStop: Sendable {
    /// Name of the tool.
    static let tool = "stop"

    private let link: PersonLink

    init(_ link: PersonLink) { self.link = link }

    /// Sends `stop` to the daemon again, because a call of `reset_stop` can have reset the first one.
    ///
    /// - Returns: False if the daemon did not confirm the stop.
    func send() -> Bool { (try? link.ask(Self.tool)) != nil }

    /// Sends `stop` to the daemon, and returns the answer to the tool call.
    func answer(_ id: JSONValue, isModern: Bool) -> [UInt8] {
        do throws(ClientError) {
            return RPCMessage.toolReply(
                id: id, .success(try link.ask("stop")), isModern: isModern)
        } catch {
            return RPCMessage.toolReply(
                id: id, .failure(error.requestError), isModern: isModern)
        }
    }
}
