import CLinuxShim
import Glibc
import Links
import ServiceLifecycle
import Testing
import Wire

@Suite("The diagnostics socket and its file")
struct DiagnosticsSocketTests {
    private func server(_ path: String, group: String? = nil) throws -> DiagnosticsServer {
        try DiagnosticsServer(
            configuration: DiagnosticsConfiguration(path: path, group: group),
            port: FakePort(), services: FakeBackend().services, logger: silentLogger)
    }

    private func problem(opening path: String) throws -> String {
        let server = try server(path)
        let error = #expect(throws: SocketError.self) { try server.open() }
        return error?.description ?? ""
    }

    @Test("the file has mode 0660, and is removed at the end")
    func mode() async throws {
        let directory = TemporaryDirectory()
        let path = directory.file("d.sock")
        do {
            let server = try server(path)
            try server.open()
            var info = stat()
            #expect(stat(path, &info) == 0)
            #expect(info.st_mode & 0o7777 == 0o660)
            let running = Task { try await server.run() }
            running.cancel()
            try await running.value
        }
        #expect(access(path, F_OK) != 0)
    }

    @Test("a missing directory is reported with the remedy")
    func missingDirectory() throws {
        let directory = TemporaryDirectory()
        let text = try problem(opening: directory.file("no/d.sock"))
        #expect(text.contains("\(directory.path)/no does not exist"))
        #expect(text.contains("Create the directory"))
    }

    @Test("a path longer than a socket address is refused with both lengths")
    func longPath() throws {
        let text = try problem(opening: "/tmp/" + String(repeating: "x", count: 120))
        #expect(text.contains("has 125 bytes"))
        #expect(text.contains("107"))
    }

    @Test("a file that is not a socket is not removed")
    func notASocket() throws {
        let directory = TemporaryDirectory()
        let path = directory.file("file")
        close(creat(path, 0o600))
        #expect(try problem(opening: path).contains("is not a socket"))
        #expect(access(path, F_OK) == 0)
    }

    @Test("a path whose parent is a file is refused")
    func parentIsFile() throws {
        let directory = TemporaryDirectory()
        close(creat(directory.file("file"), 0o600))
        let text = try problem(opening: directory.file("file/d.sock"))
        #expect(text.contains("is not a directory"))
    }

    @Test("a running daemon's socket is not replaced")
    func takenByLive() throws {
        let directory = TemporaryDirectory()
        let path = directory.file("d.sock")
        let first = try server(path)
        try first.open()
        #expect(try problem(opening: path).contains("another daemon uses this socket"))
        #expect(access(path, F_OK) == 0)
        withExtendedLifetime(first) {}
    }

    @Test("a socket left by a killed daemon is replaced")
    func stale() throws {
        let directory = TemporaryDirectory()
        let path = directory.file("d.sock")
        var listener: Int32 = -1
        #expect(cl_socket_listen(path, 1, &listener) == 0)
        close(listener)
        #expect(access(path, F_OK) == 0)
        try server(path).open()
    }

    @Test(
        "root gives the socket to the owner of its directory, who can then replace a stale socket",
        .enabled(if: geteuid() == 0, "only root can create the files of another user"))
    func ownerOfDirectory() throws {
        let directory = TemporaryDirectory()
        let path = directory.file("d.sock")
        #expect(chown(directory.path, 65534, gid_t.max) == 0)
        let server = try server(path)
        try server.open()
        var info = stat()
        #expect(stat(path, &info) == 0)
        #expect(info.st_uid == 65534)
        #expect(info.st_gid == getegid() && info.st_mode & 0o7777 == 0o660)
        withExtendedLifetime((server, directory)) {}
    }

    @Test(
        "a file that is not a socket, a link and a socket with a second name keep owner and mode")
    func foreignFiles() throws {
        let directory = TemporaryDirectory()
        let (file, path) = (directory.file("file"), directory.file("d.sock"))
        close(creat(file, 0o600))
        #expect(symlink(file, directory.file("link")) == 0)
        let server = try server(path)
        try server.open()
        #expect(cl_socket_give(path, uid_t.max, getegid()) == 0)
        #expect(cl_socket_permit(path, 0o660) == 0)
        #expect(link(path, directory.file("second")) == 0)
        for name in ["file", "link", "d.sock", "second"] {
            #expect(cl_socket_give(directory.file(name), uid_t.max, getegid()) == EINVAL, "\(name)")
            #expect(cl_socket_permit(directory.file(name), 0o666) == EINVAL, "\(name)")
        }
        #expect(cl_socket_give(directory.file("none"), uid_t.max, getegid()) == ENOENT)
        #expect(cl_socket_permit(directory.file("none"), 0o666) == ENOENT)
        for (name, mode) in [("file", 0o600), ("d.sock", 0o660)] as [(String, mode_t)] {
            var info = stat()
            #expect(stat(directory.file(name), &info) == 0)
            #expect(info.st_mode & 0o7777 == mode, "\(name)")
        }
        withExtendedLifetime((server, directory)) {}
    }

    @Test("a missing group does not prevent the daemon from starting")
    func missingGroup() throws {
        let directory = TemporaryDirectory()
        let server = try server(directory.file("d.sock"), group: "no-such-group-here")
        try server.open()
        var info = stat()
        #expect(stat(directory.file("d.sock"), &info) == 0)
        #expect(info.st_gid == getegid())
    }

    @Test("graceful shutdown ends the service and its connections")
    func gracefulShutdown() async throws {
        let directory = TemporaryDirectory()
        let path = directory.file("d.sock")
        let server = try server(path)
        try server.open()
        let group = ServiceGroup(services: [server], logger: silentLogger)
        let running = Task { try await group.run() }
        let answered = await onThread {
            Result {
                let client = try PlainClient(path)
                _ = try client.ask(#"{"id":1,"method":"ping"}"#)
                return client.descriptor >= 0
            }
        }
        #expect(try answered.get())
        await group.triggerGracefulShutdown()
        try await running.value
        #expect(access(path, F_OK) != 0)
    }
}
