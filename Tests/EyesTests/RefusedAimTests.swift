import Client
import GimbalCore
import Glibc
import Synchronization
import SystemPackage
import TestSupport
import Testing
import Wire

@testable import Aerie
@testable import Eyes

/// Listener on a UNIX socket that answers the requests of one client. The first direction is refused,
/// and a user then chooses the person again.
private final class RefusingDaemon: Sendable {
    private let counts = Mutex<(choice: Int, aims: Int)>((1, 0))
    private let thread = CompanionThread()
    private let listener: Int32

    /// Number of received directions.
    var aims: Int { counts.withLock { $0.aims } }

    init(at path: String) throws {
        let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        self.listener = listener
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let isBound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
        guard isBound, listen(listener, 1) == 0 else { throw Errno(rawValue: errno) }
        thread.start("refusing-daemon") { [self] in serve() }
    }

    /// Answers requests until the client closes its connection.
    private func serve() {
        let client = accept(listener, nil, nil)
        defer {
            close(client)
            close(listener)
        }
        var received: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while case let count = recv(client, &chunk, chunk.count, 0), count > 0 {
            received += chunk[..<count]
            while let end = received.firstIndex(of: UInt8(ascii: "\n")) {
                let line = Array(received[..<end])
                received.removeFirst(end + 1)
                guard let request = try? JSONValue(parsing: line), let id = request["id"]?.int
                else { return }
                let text = #"{"id":\#(id),\#(answer(request["method"]?.string ?? ""))}"#
                let bytes = Array(text.utf8) + [UInt8(ascii: "\n")]
                _ = send(client, bytes, bytes.count, Int32(MSG_NOSIGNAL))
            }
        }
    }

    private func answer(_ method: String) -> String {
        switch method {
        case "ping": return #""result":{"t":\#(monotonicNow())}"#
        case "companion":
            let number = counts.withLock { $0.choice }
            return
                #""result":{"choice":{"number":\#(number),"action":"person","person":"1"}}"#
        case "aim":
            let isFirst = counts.withLock { counts in
                counts.aims += 1
                if counts.aims == 1 { counts.choice = 2 }
                return counts.aims == 1
            }
            return isFirst
                ? #""error":{"code":"refused","message":"another client is in control"}"#
                : #""result":{}"#
        default: return #""result":{}"#
        }
    }
}

@Suite("Refused directions", .timeLimit(.minutes(1)))
struct RefusedAimTests {
    @Test("a person who is chosen after a refusal is followed")
    func chosenAgain() throws {
        try withTemporaryDirectory { directory in
            let file = directory.appending("alignments.json")
            try write(
                #"[{"device":"a","gimbal":[0,0,0],"mounting":[1,0,0,0],"world":[1,0,0,0]}]"#,
                to: file)
            let phones = LocalPages(PhoneService.read(file) { _ in }) { _ in }
            phones.note(
                [
                    PhonePerson(
                        id: "1", device: "a", position: Vector3(3, 1, 0), time: .infinity)
                ], device: "a")
            let daemon = try RefusingDaemon(at: "\(directory)/s.sock")
            var settings = EyesSettings()
            settings.gimbal.socket = "\(directory)/s.sock"
            let service = PeopleService(settings, phones: phones) { _ in }
            defer { service.stop() }
            #expect(eventually(within: 10) { daemon.aims >= 3 })
        }
    }
}
