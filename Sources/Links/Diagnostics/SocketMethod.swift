public import Port
public import Wire

/// Identity of a connection to the socket, for control and for the log.
public struct DiagnosticsClient: Hashable, Sendable, CustomStringConvertible {
    /// Unique in the life of the process.
    public var id: Int
    /// Process id of the client; 0 if its namespace is hidden from the daemon.
    public var pid: Int32
    /// User id of the client.
    public var user: UInt32

    /// A client with this identity.
    public init(id: Int, pid: Int32, user: UInt32) {
        self.id = id
        self.pid = pid
        self.user = user
    }

    /// "diagnostics client 3 (pid 812, uid 1000)".
    public var description: String { "diagnostics client \(id) (pid \(pid), uid \(user))" }
}

extension CommandSource {
    /// A connection to the socket.
    public init(_ client: DiagnosticsClient) {
        self.init(link: .diagnostics, connection: UInt64(client.id))
    }
}

/// A method of the diagnostics socket, declared once: its name, its parameters, the right that it
/// needs, and its effect.
public struct SocketMethod: Sendable {
    /// Encoded result of a method.
    public typealias Answer = any Encodable & Sendable

    /// The requesting connection, for a method.
    public struct Caller: Sendable {
        /// The connection.
        public let client: DiagnosticsClient
        /// Reason why the connection cannot write; nil if it can.
        let refusal: Refusal?

        /// The connection as a source of requests.
        public var source: CommandSource { CommandSource(client) }

        /// Checks write access, for methods with actions that only read.
        ///
        /// - Throws: A refusal, if the connection can only read.
        public func requireWrite() throws(Refusal) { if let refusal { throw refusal } }
    }

    /// Body of a method, and the thread that runs it.
    enum Work: Sendable {
        /// A question that only returns an answer; it receives the server's part of `status`. Runs
        /// on the thread of the `QuestionDesk`.
        case question(@Sendable (Parameters, ClientStatus) throws(Refusal) -> Answer)
        /// Runs on the server's thread and takes about 1 ms; no other client is served during this
        /// time.
        case now(@Sendable (Parameters, Caller) throws(Refusal) -> Answer)
        /// Runs on the server's thread; the answer can wait for a disk, and only its client waits.
        case later(@Sendable (Parameters, Caller, @escaping Later<Answer>) throws(Refusal) -> Void)
        /// Begins a stream of the connection.
        case subscribe
        /// Ends a stream of the connection.
        case unsubscribe
    }

    /// The name in requests.
    public let name: String
    /// Names of the method's parameters; nil: all parameters are ignored.
    let parameters: [String]?
    /// Whether the method requires write access before it reads its parameters.
    public let isWrite: Bool
    let work: Work

    /// Whether the method only returns an answer.
    var isQuestion: Bool {
        switch work {
        case .question, .subscribe, .unsubscribe: true
        case .now: name == "ping"
        case .later: false
        }
    }

    init(_ name: String, _ parameters: [String]?, isWrite: Bool = false, _ work: Work) {
        self.name = name
        self.parameters = parameters
        self.isWrite = isWrite
        self.work = work
    }

    /// A method that only reads.
    public static func question(
        _ name: String, _ parameters: [String] = [],
        _ body: @escaping @Sendable (Parameters, ClientStatus) throws(Refusal) -> Answer
    ) -> SocketMethod {
        SocketMethod(name, parameters, .question(body))
    }

    /// A method that changes a setting or the state of the gimbal.
    public static func change(
        _ name: String, _ parameters: [String]? = [],
        _ body: @escaping @Sendable (Parameters, Caller) throws(Refusal) -> Answer
    ) -> SocketMethod {
        SocketMethod(name, parameters, isWrite: true, .now(body))
    }

    /// A method with actions that only read: its body checks write access. The
    /// parameter `action` comes first.
    public static func task(
        _ name: String, _ parameters: [String],
        _ body: @escaping @Sendable (Parameters, Caller) throws(Refusal) -> Answer
    ) -> SocketMethod {
        SocketMethod(name, ["action"] + parameters, .now(body))
    }

    /// A method whose answer waits for a disk. With `isWrite` the method always changes something;
    /// otherwise the method's body checks write access.
    public static func saving<Value: Encodable & Sendable>(
        _ name: String, _ parameters: [String] = [], isWrite: Bool,
        _ body:
            @escaping @Sendable (Parameters, Caller, @escaping Later<Value>) throws(Refusal) ->
            Void
    ) -> SocketMethod {
        SocketMethod(
            name, parameters, isWrite: isWrite,
            .later { (parameters, caller, done) throws(Refusal) in
                try body(parameters, caller) { result in done(result.map { $0 }) }
            })
    }

    /// Methods that every server offers.
    static func own(_ variables: [Variable]) -> [SocketMethod] {
        [
            SocketMethod("subscribe", ["names", "rate"], .subscribe),
            SocketMethod("unsubscribe", ["subscription"], .unsubscribe),
            .question("variables") { (_, _) throws(Refusal) in variables },
            SocketMethod("ping", [], .now { (_, _) throws(Refusal) in Acknowledgement("pong") }),
        ]
    }
}

/// Services of the daemon for the diagnostics socket, in addition to the gimbal's port; the socket
/// implements the protocol.
public struct SocketServices: Sendable {
    /// The methods in the order of their listing; the server adds those for streams.
    public var methods: [SocketMethod]
    /// Variables for `subscribe`; fixed for the life of the process.
    public var variables: [Variable]
    /// The newest values of these elements of `variables`.
    public var sample: @Sendable ([Int]) -> VariableSample
    /// Seconds on the loop's clock, for the `t` of every reply.
    public var time: @Sendable () -> Double
    /// Waits until earlier events that matter have been handled. The server calls this method
    /// before each request.
    public var settle: @Sendable () -> Void

    /// These services.
    public init(
        methods: [SocketMethod], variables: [Variable],
        sample: @escaping @Sendable ([Int]) -> VariableSample,
        time: @escaping @Sendable () -> Double, settle: @escaping @Sendable () -> Void = {}
    ) {
        self.methods = methods
        self.variables = variables
        self.sample = sample
        self.time = time
        self.settle = settle
    }
}

/// One reading of subscribed variables.
public struct VariableSample: Sendable {
    /// Time of the values, seconds on the loop's clock.
    public var t: Double
    /// The values in the requested order.
    public var values: [JSONValue]

    /// Creates a reading.
    public init(t: Double, values: [JSONValue]) {
        self.t = t
        self.values = values
    }
}
