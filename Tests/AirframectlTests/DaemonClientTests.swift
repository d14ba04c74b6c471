import ArgumentParser
import Client
import CLinuxShim
import Foundation
import Glibc
import Testing
import Wire

@testable import airframectl

@Suite("Requests to the daemon")
struct DaemonClientTests {
    @Test(
        "metrics --output replaces the old metrics if the answer is a refusal, or is not understood",
        arguments: [
            #"{"id":null,"error":{"code":"too_many","message":"Close a connection."}}"#,
            #"{"id":1,"result":{}}"#,
        ])
    func refusedMetrics(answer: String) throws {
        try withDaemon(answering: answer + "\n") { path in
            let file = path + ".prom"
            defer { unlink(file) }
            try "airframe_up 1.0\n".write(toFile: file, atomically: true, encoding: .utf8)
            let words = ["metrics", "--socket", path, "--output", file]
            let metrics = try #require(try Airframectl.parseAsRoot(words) as? MetricsCommand)
            let error = #expect(throws: ClientError.self) { try metrics.run() }
            #expect(error?.exitCode == ExitCodes.refused)
            let text = try String(contentsOfFile: file, encoding: .utf8)
            #expect(text.contains("airframe_up 0.0\n") && !text.contains("airframe_up 1.0"))
        }
    }

    @Test("the client finds its answer between stream messages and replies to other requests")
    func answer() throws {
        let lines = """
            {"subscription":1,"t":1,"values":{}}
            {"id":99,"t":1,"result":{"sentence":"No."}}
            {"id":1,"t":1.5,"result":{"sentence":"Yes."}}

            """
        try withDaemon(answering: lines) { path in
            let client = try DaemonClient(path: path, timeout: 10)
            let answer: Acknowledgement = try client.request(.ping)
            #expect(answer.sentence == "Yes.")
        }
    }

    @Test("an error reply keeps its code, message and field, and the exit code is 1")
    func refusal() throws {
        let line =
            #"{"id":1,"t":1,"error":{"code":"brand_new","message":"No.","field":"x"}}"# + "\n"
        try withDaemon(answering: line) { path in
            let client = try DaemonClient(path: path, timeout: 10)
            let error = #expect(throws: ClientError.self) { try client.json(.save) }
            #expect(error?.exitCode == 1)
            #expect(error?.requestError.code == "brand_new")
            #expect(error?.requestError.message == "No.")
            #expect(error?.requestError.field == "x")
        }
    }

    @Test("a daemon that disconnects is unreachable, exit code 69")
    func lost() throws {
        try withDaemon(answering: #"{"id":1,"resu"#) { path in
            let client = try DaemonClient(path: path, timeout: 10)
            let error = #expect(throws: ClientError.self) { try client.json(.ping) }
            #expect(error?.exitCode == 69)
            #expect(error?.requestError.message.contains("closed the connection") == true)
        }
    }

    @Test("a daemon that does not answer is a timeout, exit code 75")
    func timeout() throws {
        try withDaemon(answering: "", thenStays: true) { path in
            let client = try DaemonClient(path: path, timeout: 0.01)
            let error = #expect(throws: ClientError.self) { try client.json(.ping) }
            #expect(error?.exitCode == 75)
        }
    }

    @Test(
        "an error of `pair web` names airframe-web, which has not answered",
        arguments: [true, false])
    func otherProgram(isConnected: Bool) throws {
        try withDaemon(answering: "", thenStays: isConnected) { path in
            let pairing = WebPairing(path: path, timeout: isConnected ? 0.01 : 10, json: false)
            let error = #expect(throws: ClientError.self) {
                try pairing.run(lists: true, revoke: nil, seconds: 120)
            }
            let message = error?.requestError.message ?? ""
            #expect(message.hasPrefix("airframe-web "))
            #expect(!message.contains("airframed"))
        }
    }

    @Test("an answer of another build causes an error that advises to install the same build")
    func version() throws {
        try withDaemon(answering: #"{"id":1,"t":1,"result":{"mode":"locked"}}"# + "\n") { path in
            let client = try DaemonClient(path: path, timeout: 10)
            let error = #expect(throws: ClientError.self) {
                let _: Status = try client.request(.status)
            }
            let message = error?.requestError.message ?? ""
            #expect(message.contains("install both from the same build, and restart airframed"))
        }
    }

    @Test("a missing socket, and a socket without a listener, cause an error with a remedy")
    func unreachable() throws {
        let path = "/tmp/airframectl-\(UUID().uuidString.prefix(8))"
        let missing = #expect(throws: ClientError.self) { try DaemonClient(path: path, timeout: 1) }
        #expect(missing?.exitCode == 69)
        #expect(missing?.requestError.message.contains("Is airframed running?") == true)
        var listener: Int32 = -1
        #expect(cl_socket_listen(path, 1, &listener) == 0)
        close(listener)
        defer { unlink(path) }
        let stale = #expect(throws: ClientError.self) { try DaemonClient(path: path, timeout: 1) }
        #expect(stale?.exitCode == 69)
        #expect(stale?.requestError.message.contains("has ended") == true)
    }
}
