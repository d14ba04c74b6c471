public import Port
public import Wire

/// Identity of a connection to the socket, for control and for the log.
public struct DiagnosticsClient: Hashable, Sendable, CustomStringConvertible {
    /// ID of the connection, unique while the process runs.
    public var id: Int
    /// Process ID of the client; 0 if the client's PID namespace is hidden from the daemon.
    public var pid: Int32
    /// User id of the client.
    public var user: UInt32
    /// Name that the client has set with the method `client`; empty if the client has no name.
    public var name = ""
    /// True if the client is an assistant, which is a program that acts automatically for a person.
    /// An assistant has a low rank, and the settings `mcp` limit its requests.
    public var isAssistant = false

    /// Creates the identity of a client.
    public init(id: Int, pid: Int32, user: UInt32) {
        self.id = id
        self.pid = pid
        self.user = user
    }

    /// Name of the client in messages: "diagnostics client 3 (pid 812, uid 1000)", or
    /// "diagnostics client 3 (web, phone in the hall, pid 812, uid 1000)".
    public var description: String {
        "diagnostics client \(id) (\(name.isEmpty ? "" : name + ", ")pid \(pid), uid \(user))"
    }
}

extension CommandSource {
    /// Creates the source of requests for a connection to the socket.
    public init(_ client: DiagnosticsClient) {
        self.init(
            link: client.isAssistant ? .assistant : .diagnostics, connection: UInt64(client.id),
            name: client.name)
    }
}

/// Declaration of a method of the diagnostics socket: its name, its parameters, the access that it
/// needs, and its effect.
public struct SocketMethod: Sendable {
    /// Result of a method, as JSON text.
    public typealias Answer = any Encodable & Sendable

    /// Caller of a method: the connection that sent the request, and its rights.
    public struct Caller: Sendable {
        /// Identity of the connection.
        public let client: DiagnosticsClient
        /// Reason why the connection has no write access; nil if it has write access.
        let refusal: Refusal?

        /// The connection as a source of requests to the gimbal.
        public var source: CommandSource { CommandSource(client) }

        /// Checks write access. Methods that need write access only for some actions call this
        /// function.
        ///
        /// - Throws: `Refusal` if the connection is read-only.
        public func requireWrite() throws(Refusal) { if let refusal { throw refusal } }

        /// If the client is an assistant, refuses a change that only a person may make.
        ///
        /// - Parameter change: Description of the change, as a noun phrase.
        /// - Throws: `Refusal` if the client is an assistant.
        public func requirePerson(for change: String) throws(Refusal) {
            guard client.isAssistant else { return }
            throw Refusal(
                .permissionDenied,
                "\(change) is not possible for an assistant; a person can do this with airframectl")
        }

        /// True if the client can pair phones: it has write access, and is not an assistant.
        public var mayPair: Bool { refusal == nil && !client.isAssistant }
    }

    /// Function that executes a method of the socket, and the kind of thread that runs the
    /// function.
    enum Work: Sendable {
        /// A read-only request, which changes nothing. The function receives the state of the
        /// server's connections, and runs on the thread of the `SlowRequestQueue`.
        case question(@Sendable (Parameters, ClientStatus) throws(Refusal) -> Answer)
        /// A request that runs on the server's thread and takes about 1 ms. During this time, no
        /// other client is served.
        case now(@Sendable (Parameters, Caller) throws(Refusal) -> Answer)
        /// A request that runs on the server's thread, and whose answer can wait for a disk. During
        /// this wait, other clients are served.
        case later(@Sendable (Parameters, Caller, @escaping Later<Answer>) throws(Refusal) -> Void)
        /// A request that begins a stream of the connection.
        case subscribe
        /// A request that ends a stream of the connection.
        case unsubscribe
        /// A request that sets the connection's name, or that gives up the connection's write
        /// access.
        case identify
    }

    /// The name of the method in requests.
    public let name: String
    /// Effect of the method, in one sentence.
    public let summary: String
    /// The parameters that the method accepts; nil means that the method ignores all parameters.
    let parameters: [Parameter]?
    /// True if the server checks write access before the method reads its parameters.
    public let isWrite: Bool
    let work: Work
    /// JSON Schema of the answer; nil if no program needs the schema.
    private(set) var result: JSONValue?

    /// True if the method is read-only.
    var isQuestion: Bool {
        switch work {
        case .question, .subscribe, .unsubscribe: true
        case .now: name == "ping"
        case .later, .identify: false
        }
    }

    /// Description of the method, for the method `methods`.
    var description: MethodDescription {
        let isTask = !isWrite && parameters?.first?.name == "action"
        return MethodDescription(
            name: name, summary: summary, access: isWrite ? .write : isTask ? .action : .read,
            parameters: (parameters ?? []).map(\.description), result: result)
    }

    /// Declares the type of the answer; assistants receive a schema of this type.
    public func answering<Value: Codable>(_ type: Value.Type) -> SocketMethod {
        var method = self
        method.result = JSONSchema.of(type)
        return method
    }

    init(
        _ name: String, _ summary: String, _ parameters: [Parameter]?, isWrite: Bool = false,
        _ work: Work
    ) {
        self.name = name
        self.summary = summary
        self.parameters = parameters
        self.isWrite = isWrite
        self.work = work
    }

    /// Declares a read-only method. If `needsWrite` is true, the method changes nothing, but uses
    /// hardware; therefore the server checks write access.
    public static func question(
        _ name: String, _ summary: String, _ parameters: [Parameter] = [],
        needsWrite: Bool = false,
        _ body: @escaping @Sendable (Parameters, ClientStatus) throws(Refusal) -> Answer
    ) -> SocketMethod {
        SocketMethod(name, summary, parameters, isWrite: needsWrite, .question(body))
    }

    /// Declares a method that changes a setting or the state of the gimbal.
    public static func change(
        _ name: String, _ summary: String, _ parameters: [Parameter]? = [],
        _ body: @escaping @Sendable (Parameters, Caller) throws(Refusal) -> Answer
    ) -> SocketMethod {
        SocketMethod(name, summary, parameters, isWrite: true, .now(body))
    }

    /// Declares a method whose first parameter is `action`. The first action in the list is
    /// read-only. The method's body checks write access.
    public static func task(
        _ name: String, _ summary: String, _ parameters: [Parameter],
        _ body: @escaping @Sendable (Parameters, Caller) throws(Refusal) -> Answer
    ) -> SocketMethod {
        SocketMethod(name, summary, parameters, .now(body))
    }

    /// Declares a method whose answer waits for a disk. If `isWrite` is true, the server checks
    /// write access; otherwise the method's body checks it.
    public static func saving<Value: Encodable & Sendable>(
        _ name: String, _ summary: String, _ parameters: [Parameter] = [], isWrite: Bool,
        _ body:
            @escaping @Sendable (Parameters, Caller, @escaping Later<Value>) throws(Refusal) ->
            Void
    ) -> SocketMethod {
        SocketMethod(
            name, summary, parameters, isWrite: isWrite,
            .later { (parameters, caller, done) throws(Refusal) in
                try body(parameters, caller) { result in done(result.map { $0 }) }
            })
    }

    /// Methods that every server offers: the methods for streams, `client`, `methods` and `ping`.
    ///
    /// - Parameters:
    ///   - variables: The variables of the streams.
    ///   - others: The server's other methods, which `methods` lists first.
    /// - Returns: The methods, in the order in which `methods` lists them.
    static func own(_ variables: [Variable], after others: [SocketMethod] = []) -> [SocketMethod] {
        let own = [
            SocketMethod(
                "subscribe", "Starts a stream of variables.",
                [
                    .texts(
                        "names", required: true,
                        "Names of variables; attitude.* selects all variables whose names begin with attitude."
                    ),
                    .number(
                        "rate", in: StreamSchedule.allowedHz, unit: "Hz",
                        "Messages per second; default: 10."),
                ], .subscribe),
            SocketMethod(
                "unsubscribe", "Ends a stream of variables.",
                [
                    .integer(
                        "subscription", in: 1...Int.max, required: true, "Number of the stream.")
                ], .unsubscribe),
            SocketMethod(
                "client",
                "Sets the connection's name, and permanently removes rights from the connection; returns the name and the remaining rights.",
                [
                    .text("name", "Name of the client, as shown in messages, 1 to 96 bytes."),
                    .bool("read_only", "If true, the connection becomes read-only."),
                    .bool(
                        "assistant",
                        "If true, the connection belongs to an assistant: it has a low rank, and the limits in [mcp] apply."
                    ),
                ], .identify),
            .question("variables", "Lists the variables for streams.") { (_, _) throws(Refusal) in
                variables
            },
            SocketMethod(
                "ping", "Returns the present time of the loop's clock.", [],
                .now { (_, _) throws(Refusal) in Acknowledgement("pong") }),
        ]
        let descriptions = (others + own).map(\.description)
        return own + [
            .question("methods", "Lists the methods with their parameters.") {
                (_, _) throws(Refusal) in descriptions
            }
        ]
    }
}

/// Methods and variables that the daemon offers over the diagnostics socket, and functions that the
/// socket's server calls.
public struct SocketServices: Sendable {
    /// The methods in the order in which `methods` lists them; the server adds the methods for
    /// streams.
    public var methods: [SocketMethod]
    /// Variables for `subscribe`; the list does not change while the process runs.
    public var variables: [Variable]
    /// Function that returns the newest values of variables, given their indices in `variables`.
    public var sample: @Sendable ([Int]) -> VariableSample
    /// Function that returns the loop's time, s, for the field `t` of every reply.
    public var time: @Sendable () -> Double
    /// Function that waits until all earlier messages of a simulator have been processed. The
    /// server calls this function before each request.
    public var settle: @Sendable () -> Void
    /// Function that receives the ID of each closed connection.
    public var left: @Sendable (Int) -> Void

    /// Creates the set of methods and variables that the daemon offers.
    public init(
        methods: [SocketMethod], variables: [Variable],
        sample: @escaping @Sendable ([Int]) -> VariableSample,
        time: @escaping @Sendable () -> Double, settle: @escaping @Sendable () -> Void = {},
        left: @escaping @Sendable (Int) -> Void = { _ in }
    ) {
        self.methods = methods
        self.variables = variables
        self.sample = sample
        self.time = time
        self.settle = settle
        self.left = left
    }
}

/// Values of the subscribed variables at the same instant.
public struct VariableSample: Sendable {
    /// Time of the variables' values on the loop's clock, s.
    public var t: Double
    /// The values of the variables, in the requested order.
    public var values: [JSONValue]

    /// Creates a set of values that were current at the time `t`.
    public init(t: Double, values: [JSONValue]) {
        self.t = t
        self.values = values
    }
}
