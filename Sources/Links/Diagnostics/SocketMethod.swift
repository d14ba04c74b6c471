public import Port
public import Wire

/// One connection to the socket: who holds control, and whom a log line is about.
public struct DiagnosticsClient: Hashable, Sendable, CustomStringConvertible {
    /// Unique in the life of the process.
    public var id: Int
    /// Process that connected; 0 when it is in a namespace that the daemon cannot see.
    public var pid: Int32
    /// User that connected.
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
/// needs, and what it does.
public struct SocketMethod: Sendable {
    /// The result of a method, as it is sent.
    public typealias Answer = any Encodable & Sendable

    /// The connection that asks, as a method sees it.
    public struct Caller: Sendable {
        /// The connection.
        public let client: DiagnosticsClient
        /// Why the connection may not change anything; nil: it may.
        let refusal: Refusal?

        /// The connection as a source of requests.
        public var source: CommandSource { CommandSource(client) }

        /// For methods some of whose actions only look.
        ///
        /// - Throws: That the connection may read but not write.
        public func requireWrite() throws(Refusal) { if let refusal { throw refusal } }
    }

    /// Body of a method, and the thread that runs it.
    enum Work: Sendable {
        /// Nothing but its answer comes of it, given the server's own part of `status`. The thread
        /// of the `QuestionDesk`.
        case question(@Sendable (Parameters, ClientStatus) throws(Refusal) -> Answer)
        /// The server's thread, within a millisecond or so: meanwhile no client is served.
        case now(@Sendable (Parameters, Caller) throws(Refusal) -> Answer)
        /// The same, with an answer that may wait for a disk; only its client waits.
        case later(@Sendable (Parameters, Caller, @escaping Later<Answer>) throws(Refusal) -> Void)
        /// Begins a stream of the connection.
        case subscribe
        /// Ends one.
        case unsubscribe
    }

    /// The name in requests.
    public let name: String
    /// Names of its parameters; nil: whatever is given is ignored.
    let parameters: [String]?
    /// Whether the right to write is demanded before anything is read.
    public let isWrite: Bool
    let work: Work

    /// Whether nothing but its answer comes of the method.
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

    /// A method that only looks.
    public static func question(
        _ name: String, _ parameters: [String] = [],
        _ body: @escaping @Sendable (Parameters, ClientStatus) throws(Refusal) -> Answer
    ) -> SocketMethod {
        SocketMethod(name, parameters, .question(body))
    }

    /// A method that changes something.
    public static func change(
        _ name: String, _ parameters: [String]? = [],
        _ body: @escaping @Sendable (Parameters, Caller) throws(Refusal) -> Answer
    ) -> SocketMethod {
        SocketMethod(name, parameters, isWrite: true, .now(body))
    }

    /// A method some of whose actions only look: its body asks for the right to write. The
    /// parameter `action` comes first.
    public static func task(
        _ name: String, _ parameters: [String],
        _ body: @escaping @Sendable (Parameters, Caller) throws(Refusal) -> Answer
    ) -> SocketMethod {
        SocketMethod(name, ["action"] + parameters, .now(body))
    }

    /// A method whose answer waits for a disk. With `isWrite` it always changes something;
    /// otherwise its body asks for the right.
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

/// What the daemon offers to the diagnostics socket beside the gimbal's port; the socket owns the
/// protocol.
public struct SocketServices: Sendable {
    /// The methods in the order in which they are listed; those of streams are the server's own.
    public var methods: [SocketMethod]
    /// Variables for `subscribe`; fixed for the life of the process.
    public var variables: [Variable]
    /// The newest values of these elements of `variables`.
    public var sample: @Sendable ([Int]) -> VariableSample
    /// Seconds on the loop's clock, for the `t` of every reply.
    public var time: @Sendable () -> Double
    /// Called before each request: whatever happened before it elsewhere, and counts, has been seen
    /// when this returns.
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
    /// When the values were true: seconds on the loop's clock.
    public var t: Double
    /// The values in the order in which they were asked for.
    public var values: [JSONValue]

    /// A reading with these values.
    public init(t: Double, values: [JSONValue]) {
        self.t = t
        self.values = values
    }
}
