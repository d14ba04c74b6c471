import CLinuxShim
import Glibc
import SystemPackage
import TestSupport
import Testing
import Wire

@Suite("Obstacles for the daemon's socket") struct DaemonSocketTests {
    /// Starts a daemon that cannot open its socket, and returns the result.
    private func refused(
        _ socket: String, in directory: FilePath, through prefix: [String] = [],
        _ extra: [String] = []
    ) throws -> Program.Result {
        try Program.run(
            prefix + [try Program.built("airframed")] + RunningDaemon.arguments(in: directory)
                + ["--set", "diagnostics.socket=\(socket)"] + extra, in: directory)
    }

    /// The command that runs a program without the permissions of root, which can write to every
    /// directory and every socket; nil if that user cannot run the program.
    private func unprivileged(in directory: FilePath) throws -> [String]? {
        let asNobody =
            geteuid() == 0
            ? ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] : []
        let program = try Program.built("airframed")
        let reach = try Program.run(asNobody + ["test", "-x", program], in: directory)
        guard reach.status == 0 else {
            print("skipped: \(program) is out of reach for another user than root")
            return nil
        }
        return asNobody
    }

    @Test("the socket of a running daemon is refused, and the running daemon continues")
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

    @Test(
        "the state directory of a running daemon is refused, and the running daemon keeps its state"
    )
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

    @Test("a plain file at the socket's path is reported and not changed")
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

    @Test("a missing directory of the socket is reported")
    func noDirectory() throws {
        try withTemporaryDirectory { directory throws in
            let result = try refused("\(directory)/none/s.sock", in: directory)
            #expect(result.status == 73)
            #expect(result.errors.contains("\(directory)/none does not exist"))
            #expect(result.errors.contains("install -d"))
        }
    }

    @Test("a directory without write permission is reported")
    func noPermission() throws {
        try withTemporaryDirectory { directory throws in
            let closed = directory.appending("closed")
            try #require(mkdir(closed.string, 0o555) == 0)
            chmod(directory.string, 0o755)
            guard let asNobody = try unprivileged(in: directory) else { return }
            let result = try refused("\(closed)/s.sock", in: directory, through: asNobody)
            #expect(result.status == 73)
            #expect(result.errors.contains("permission denied while creating the socket"))
            #expect(result.errors.contains("write to \(closed)"))
        }
    }

    @Test("a socket to which the user cannot connect is reported with the command that removes it")
    func leftByAnotherUser() throws {
        try withTemporaryDirectory { directory throws in
            chmod(directory.string, 0o755)
            guard let asNobody = try unprivileged(in: directory) else { return }
            let path = "\(directory)/s.sock"
            var listener: Int32 = -1
            try #require(cl_socket_listen(path, 1, &listener) == 0)
            close(listener)
            chmod(path, 0)
            let result = try refused(path, in: directory, through: asNobody)
            #expect(result.status == 73)
            #expect(result.errors.contains("no permission to connect"), "\(result.errors)")
            #expect(result.errors.contains("sudo rm \(path)"))
            #expect(access(path, F_OK) == 0)
        }
    }

    @Test("the socket file of a killed daemon is replaced")
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

@Suite("Misbehaving clients of the socket") struct HostileClientTests {
    /// Checks that other clients still get replies.
    private func expectService(_ daemon: RunningDaemon) throws {
        for _ in 0..<5 { #expect(try daemon.ask("status")["backend"]?.string == "simulated") }
    }

    @Test(
        "a client that sends ten thousand requests at once gets every answer, and other clients are served"
    )
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

    @Test("a client that does not read its answers is disconnected, and other clients are served")
    func neverReads() throws {
        try withDaemon { daemon throws in
            let client = try SocketClient(daemon.socket)
            let line = Array("{\"id\":1,\"method\":\"get\"}\n".utf8)
            // Sends until both socket buffers are full, or the daemon has closed the connection.
            for _ in 0..<10_000 {
                guard let sent = try? client.sendSome(line[...]), sent > 0 else { break }
            }
            try expectService(daemon)
            // airframed closes the connection after 10 s without progress.
            try daemon.status(within: 30, "the client is disconnected") {
                $0["clients"]?["stalled"]?.int == 1
            }
            // The connection ends after the replies that were already in its buffers.
            while try client.receiveSome() {}
            try expectService(daemon)
        }
    }

    @Test("a line of one megabyte gets one error")
    func longLine() throws {
        try withDaemon { daemon throws in
            let client = try SocketClient(daemon.socket)
            try client.send([UInt8](repeating: UInt8(ascii: "x"), count: 1 << 20) + [0x0A])
            let error = try client.reply()["error"]
            #expect(error?["message"]?.string?.isEmpty == false)
            try expectService(daemon)
        }
    }

    @Test("an incomplete line delays neither other clients nor the end of the daemon")
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
            #expect(end.seconds < 4)
        }
    }

    @Test("every invalid line gets an error with a message")
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
