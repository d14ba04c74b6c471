import Client
import Wire

/// The tool `stop`. It uses a connection of its own, and neither the list of tools nor the state of the
/// server. Therefore another thread can answer it while the server waits for the daemon.
struct EmergencyStop: Sendable {
    /// Name of the tool.
    static let tool = "stop"

    private let link: PersonLink

    init(_ link: PersonLink) { self.link = link }

    /// Sends the stop, and returns the answer to the call.
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
