import Glibc
import SystemPackage
import TestSupport
import Testing
import Wire

@Suite("airframectl subscribe") struct SubscribeTests {
    @Test("variables arrive as JSON datagrams, with the loop's time, at the requested rate")
    func datagrams() throws {
        try withDaemon { daemon in
            // Before the first tick of the loop, every variable is null.
            try daemon.status("running") { $0["state"]?.string == "running" }
            let listener = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
            defer { close(listener) }
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    _ = bind(listener, $0, length)
                    _ = getsockname(listener, $0, &length)
                }
            }
            let port = UInt16(bigEndian: address.sin_port)
            let program = try Program(
                [
                    try Program.built("airframectl"), "--socket", daemon.socket, "subscribe",
                    "attitude.*", "mode", "--rate", "50", "--udp", "127.0.0.1:\(port)",
                ], in: daemon.directory)
            var times: [Double] = []
            var repeats = 0
            var buffer = [UInt8](repeating: 0, count: 4096)
            let deadline = Deadline(seconds: 30)
            while times.count < 26 {
                try #require(!deadline.hasPassed, "\(times.count) times within 30 s")
                var entry = pollfd(fd: listener, events: Int16(POLLIN), revents: 0)
                try #require(poll(&entry, 1, 10_000) > 0, "\(program.errors)")
                let count = recv(listener, &buffer, buffer.count, 0)
                let message = try JSONValue(parsing: Array(buffer[..<count]))
                let time = try #require(message["timestamp"]?.number)
                // A delayed loop repeats its last values.
                if time == times.last { repeats += 1 } else { times.append(time) }
                #expect(message["attitude.pitch"]?.number != nil)
                #expect(message["mode"]?.string == "locked")
            }
            // The times use the loop's clock, so a stalled host does not change them.
            #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 })
            #expect(times[25] - times[0] >= 0.4)
            // The loop's time advances by 0.02 s between two messages. A busy computer can delay
            // some messages, but does not change the median.
            let spacings = zip(times.dropFirst(), times).map { $0 - $1 }.sorted()
            #expect(spacings[12] < 0.03, "\(spacings)")
            #expect(repeats < times.count - 1, "few values are sent twice")
        }
    }

    @Test("an invalid address is reported")
    func wrongAddress() throws {
        try withTemporaryDirectory { directory in
            let result = try Program.run(
                [
                    try Program.built("airframectl"), "subscribe", "mode", "--udp", "localhost",
                ], in: directory)
            #expect(result.status == 66)
            #expect(result.errors.contains("HOST:PORT"))
        }
    }
}
