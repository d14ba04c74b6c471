import Glibc
import SystemPackage
import TestSupport
import Testing
import Wire

@Suite("What can be in the way of the daemon's socket") struct DaemonSocketTests {
    /// Starts a daemon that cannot have its socket, and returns how it ended.
    private func refused(
        _ socket: String, in directory: FilePath, through prefix: [String] = [],
        _ extra: [String] = []
    ) throws -> Program.Result {
        try Program.run(
            prefix + [try Program.built("airframed")] + RunningDaemon.arguments(in: directory)
                + ["--set", "diagnostics.socket=\(socket)"] + extra, in: directory)
    }

    @Test("a running daemon, which does not notice")
    func taken() throws {
        try withDaemon { daemon throws in
            try daemon.status("running") { $0["state"]?.string == "running" }
            let second = try refused(
                daemon.socket, in: daemon.directory,
                ["--set", "persistence.directory=\(daemon.directory)/other"])
            #expect(second.status == 73)
            #expect(second.errors.contains("another daemon uses this socket"))
            #expect(second.errors.contains("systemctl stop airframed"))
            let status = try daemon.status("still running")
            #expect(status["enabled"]?.bool == true)
        }
    }

    @Test("a running daemon that keeps its state in the same directory, and loses none of it")
    func sameState() throws {
        try withDaemon { daemon throws in
            let second = try refused("\(daemon.directory)/other.sock", in: daemon.directory)
            #expect(second.status == 73)
            #expect(
                second.errors.contains(
                    "\(daemon.directory)/state is the state directory of another running airframed"
                ))
            #expect(second.errors.contains("set persistence.directory to another path"))
            #expect(try daemon.ask("save")["sentence"] != nil)
        }
    }

    @Test("a plain file, which is left as it is")
    func plainFile() throws {
        try withTemporaryDirectory { directory throws in
            let path = directory.appending("precious")
            try write("data", to: path)
            let result = try refused(path.string, in: directory)
            #expect(result.status == 73)
            #expect(
                result.errors.contains("\(path) exists and is not a socket. Move the file away"))
            #expect(contents(of: path.string) == "data")
        }
    }

    @Test("a directory that does not exist")
    func noDirectory() throws {
        try withTemporaryDirectory { directory throws in
            let result = try refused("\(directory)/none/s.sock", in: directory)
            #expect(result.status == 73)
            #expect(result.errors.contains("\(directory)/none does not exist"))
            #expect(result.errors.contains("install -d"))
        }
    }

    @Test("a directory without permission")
    func noPermission() throws {
        try withTemporaryDirectory { directory throws in
            let closed = directory.appending("closed")
            try #require(mkdir(closed.string, 0o555) == 0)
            // Root may write everywhere: somebody else tries instead, who may reach the directory.
            let asNobody =
                geteuid() == 0
                ? ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] : []
            chmod(directory.string, 0o755)
            let program = try Program.built("airframed")
            let reach = try Program.run(asNobody + ["test", "-x", program], in: directory)
            guard reach.status == 0 else {
                print("skipped: \(program) is out of reach for another user than root")
                return
            }
            let result = try refused("\(closed)/s.sock", in: directory, through: asNobody)
            #expect(result.status == 73)
            #expect(result.errors.contains("permission denied while creating the socket"))
            #expect(result.errors.contains("write to \(closed)"))
        }
    }

    @Test("the file of a daemon that was killed, which is replaced")
    func leftBehind() throws {
        try withTemporaryDirectory { directory throws in
            let first = try RunningDaemon(in: directory)
            #expect(try first.stop(SIGKILL).status == -SIGKILL)
            #expect(access(first.socket, F_OK) == 0)
            let second = try RunningDaemon(in: directory)
            #expect(try second.control("version").status == 0)
        }
    }
}

@Suite("Clients that behave badly") struct HostileClientTests {
    /// Another client is served, whatever the first one does.
    private func expectService(_ daemon: RunningDaemon) throws {
        for _ in 0..<5 { #expect(try daemon.ask("status")["backend"]?.string == "simulated") }
    }

    @Test("one that sends ten thousand requests at once gets every answer, beside others")
    func flood() throws {
        try withDaemon { daemon throws in
            let flooder = try SocketClient(daemon.socket)
            let line = Array("{\"id\":1,\"method\":\"ping\"}\n".utf8)
            var answers = 0
            for burst in 0..<10 {
                for _ in 0..<1000 { try flooder.send(line) }
                if burst % 3 == 0 { try expectService(daemon) }
                for _ in 0..<1000 where try flooder.reply()["error"] == nil { answers += 1 }
            }
            #expect(answers == 10_000)
            try expectService(daemon)
        }
    }

    @Test("one that never reads its answers is dropped, beside others")
    func neverReads() throws {
        try withDaemon { daemon throws in
            let client = try SocketClient(daemon.socket)
            let line = Array("{\"id\":1,\"method\":\"get\"}\n".utf8)
            // Until both directions are full, or the daemon has closed the connection.
            for _ in 0..<10_000 {
                guard let sent = try? client.sendSome(line[...]), sent > 0 else { break }
            }
            try expectService(daemon)
        }
    }

    @Test("one with a line of a megabyte gets one error")
    func longLine() throws {
        try withDaemon { daemon throws in
            let client = try SocketClient(daemon.socket)
            try client.send([UInt8](repeating: UInt8(ascii: "x"), count: 1 << 20) + [0x0A])
            let error = try client.reply()["error"]
            #expect(error?["message"]?.string?.isEmpty == false)
            try expectService(daemon)
        }
    }

    @Test("one that sends half a line and stays hinders nobody, nor the end")
    func halfLine() throws {
        try withDaemon { daemon throws in
            let client = try SocketClient(daemon.socket)
            try client.send(Array("{\"id\":1,\"meth".utf8))
            try expectService(daemon)
            try client.send(Array("od\":\"ping\"}\n".utf8))
            #expect(try client.reply()["result"] != nil)
            try client.send(Array("{\"id\":2,".utf8))
            let end = try daemon.stop()
            #expect(end.status == 0)
            #expect(end.seconds < 1)
        }
    }

    @Test("one that talks nonsense gets a sentence for every line")
    func nonsense() throws {
        try withDaemon { daemon throws in
            let client = try SocketClient(daemon.socket)
            let lines = [
                "", "}", "[]", "null", "{}", #"{"id":1}"#, #"{"id":1,"method":"explode"}"#,
                #"{"id":1,"method":"point","params":{"pitch":"up"}}"#,
                #"{"id":1,"method":"point","params":{"pitch":1e999}}"#,
                #"{"id":1,"method":"set","params":{"key":"control.max_rate_dps","value":null}}"#,
                #"{"id":1,"method":"set","params":{"key":"control.max_rate_dps","value":{}}}"#,
                #"{"id":1,"method":"subscribe","params":{"names":["nothing"],"rate":50}}"#,
            ]
            for line in lines where !line.isEmpty {
                let reply = try client.ask(line)
                #expect(
                    reply["error"]?["message"]?.string?.isEmpty == false, "\(line): \(reply.text)")
            }
            try client.send([0xFF, 0xFE, 0x00, 0x0A])
            #expect(try client.reply()["error"] != nil)
            try expectService(daemon)
        }
    }
}
