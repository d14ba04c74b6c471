public import Client
import Synchronization
public import Threads
public import Wire

/// Connection to the daemon, for one request at a time.
public protocol DaemonConnection: AnyObject {
    /// Signal that ends the wait for an answer; the request then throws the error `cancelled`.
    var interruption: WakeupPipe? { get set }

    /// Sends a request, and returns the result.
    ///
    /// - Throws: The daemon's refusal, or a lost connection.
    func ask(_ method: String, _ params: [String: JSONValue]) throws(ClientError) -> JSONValue
}

extension DaemonClient: DaemonConnection {
    /// Sends a request, and returns the result as JSON.
    public func ask(
        _ method: String, _ params: [String: JSONValue]
    ) throws(ClientError) -> JSONValue {
        try json(method, params)
    }
}

/// Sender of the requests `stop` and `reset_stop`. Each request has its own connection, which is
/// not registered as an assistant's connection. Therefore a read-only assistant can also stop the
/// gimbal, and a stop does not wait for another request. Only a client of the socket can reset this
/// stop. The class is thread-safe.
final class PersonLink: Sendable {
    let connect: @Sendable () throws(ClientError) -> any DaemonConnection
    private let sharedName: Mutex<String>

    init(name: String, connect: @escaping @Sendable () throws(ClientError) -> any DaemonConnection)
    {
        self.connect = connect
        sharedName = Mutex(name)
    }

    /// Name of the assistant, for the daemon's history.
    var name: String {
        get { sharedName.withLock { $0 } }
        set { sharedName.withLock { $0 = newValue } }
    }

    /// Sends `stop` or `reset_stop`.
    func ask(_ method: String) throws(ClientError) -> JSONValue {
        let connection = try connect()
        _ = try? connection.ask("client", ["name": .string(name)])
        return try connection.ask(method, [:])
    }
}

/// The MCP server's connection to the daemon, for the assistant's requests.
final class DaemonLink {
    let person: PersonLink
    private let policy: ToolPolicy
    private let interruption: WakeupPipe
    private var connection: (any DaemonConnection)?
    private var known: ToolCatalogue?

    /// Creates the link; the connection opens with the first request.
    ///
    /// - Parameters:
    ///   - person: The assistant's name, and the function that opens a connection to the daemon.
    ///   - policy: Rights of the assistant.
    ///   - interruption: Signal that ends the wait for an answer.
    init(_ person: PersonLink, policy: ToolPolicy, interruption: WakeupPipe) {
        self.person = person
        self.policy = policy
        self.interruption = interruption
    }

    /// Sends a request as the assistant. After a restart of the daemon, the next request opens a
    /// new connection.
    func ask(
        _ method: String, _ params: [String: JSONValue] = [:]
    ) throws(ClientError) -> JSONValue {
        let connection = try opened()
        do throws(ClientError) {
            return try connection.ask(method, params)
        } catch {
            switch error {
            case .refused, .file: break
            case .unreachable, .timeout, .notUnderstood: close()
            }
            throw error
        }
    }

    /// The assistant's current limits.
    func limits() throws(ClientError) -> Limits {
        guard let limits = Limits(try ask("get", ["keys": .array(Limits.keys)])) else {
            throw .notUnderstood(
                "airframed has no settings in the table [mcp]. Install airframed and airframectl from the same build, and restart airframed."
            )
        }
        return limits
    }

    /// The tools for the connected daemon's methods.
    func catalogue() throws(ClientError) -> ToolCatalogue {
        if connection != nil, let known { return known }
        let methods = (try ask("methods").array ?? []).compactMap(MethodDescription.init(json:))
        let catalogue = ToolCatalogue(methods, policy, try limits())
        known = catalogue
        return catalogue
    }

    /// Closes the connection; the daemon then ends the assistant's motion and tasks.
    func close() {
        connection = nil
        known = nil
    }

    private func opened() throws(ClientError) -> any DaemonConnection {
        if let connection { return connection }
        let fresh = try person.connect()
        fresh.interruption = interruption
        var identity: [String: JSONValue] = ["name": .string(person.name), "assistant": true]
        if policy.isReadOnly { identity["read_only"] = true }
        _ = try fresh.ask("client", identity)
        connection = fresh
        known = nil
        return fresh
    }
}

extension MethodDescription {
    /// Parses one method's description in the reply to `methods`; nil if a member is missing. A
    /// parameter of an unknown type can have any value.
    init?(json: JSONValue) {
        guard let name = json["name"]?.string, let summary = json["summary"]?.string,
            let access = json["access"]?.string.flatMap(Access.init(rawValue:)),
            let parameters = json["parameters"]?.array
        else { return nil }
        self.init(
            name: name, summary: summary, access: access,
            parameters: parameters.compactMap(ParameterDescription.init(json:)),
            result: json["result"])
    }
}

extension ParameterDescription {
    fileprivate init?(json: JSONValue) {
        guard let name = json["name"]?.string else { return nil }
        self.init(
            name: name, kind: json["kind"]?.string.flatMap(Kind.init(rawValue:)) ?? .any,
            summary: json["summary"]?.string ?? "", unit: json["unit"]?.string ?? "",
            minimum: json["minimum"]?.number.map { Number($0) },
            maximum: json["maximum"]?.number.map { Number($0) },
            words: (json["words"]?.array ?? []).compactMap(\.string),
            required: json["required"]?.bool ?? false)
    }
}
