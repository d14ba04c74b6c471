/// A client of the socket that asks, tries things out and now and then hangs up, and one that
/// subscribes.
struct SocketChatter {
    /// Lines that were sent.
    private(set) var requests = 0
    private let path: String
    private var client: BenchClient?
    private var subscriber: BenchClient?

    /// - Parameter path: The diagnostics socket.
    init(path: String) { self.path = path }

    /// Sends the next line, and waits for its answer.
    ///
    /// - Parameters:
    ///   - turn: Counts up.
    ///   - isPointing: Whether it turns the camera, too; never far.
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

    /// Reads what the subscription has sent.
    mutating func listen() { while subscriber?.line(waitMilliseconds: 0) != nil {} }
}
