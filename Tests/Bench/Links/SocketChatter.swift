/// Two clients of the diagnostics socket: one sends requests of all kinds and disconnects from time
/// to time, the other subscribes.
struct SocketChatter {
    /// Number of lines sent.
    private(set) var requests = 0
    private let path: String
    private var client: BenchClient?
    private var subscriber: BenchClient?

    /// Creates the clients.
    ///
    /// - Parameter path: The diagnostics socket.
    init(path: String) { self.path = path }

    /// Sends the next line, and waits for its reply.
    ///
    /// - Parameters:
    ///   - turn: Number of the line.
    ///   - isPointing: True if the client also turns the camera, by small angles.
    mutating func ask(_ turn: Int, isPointing: Bool) {
        if client == nil || turn % 25 == 0 { client = BenchClient(path) }
        if subscriber == nil || turn % 300 == 0 {
            subscriber = BenchClient(path)
            _ = subscriber?.send(
                #"{"id":1,"method":"subscribe","params":{"names":["attitude.yaw","state"],"rate":50}}"#
            )
        }
        var questions = [
            #"{"id":1,"method":"status"}"#, #"{"id":2,"method":"get"}"#,
            #"{"id":3,"method":"set","params":{"key":"follow.preset","value":"slow","rollback":1}}"#,
            #"{"id":4,"#, #"{"id":5,"method":"history"}"#, #"{"id":6,"method":"doctor"}"#,
        ]
        if isPointing {
            questions += [
                #"{"id":7,"method":"point","params":{"pitch":\#(turn % 7 - 3)}}"#,
                #"{"id":8,"method":"release"}"#,
            ]
        }
        _ = client?.send(questions[turn % questions.count])
        _ = client?.line(waitMilliseconds: 1000)
        requests += 1
    }

    /// Reads the messages of the subscription.
    mutating func listen() { while subscriber?.line(waitMilliseconds: 0) != nil {} }
}
