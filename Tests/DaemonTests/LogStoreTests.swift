import Glibc
import Logging
import Realtime
import Synchronization
import SystemPackage
import TestSupport
import Testing
import Wire

@testable import Daemon

@Suite("Log store") struct LogStoreTests {
    /// Simulated reader of standard error, which can block.
    private final class Reader: Sendable {
        private let text = Mutex("")
        private let isHanging = Mutex(false)
        private let began = Mutex(0)

        var lines: [Substring] { text.withLock { $0.split(separator: "\n") } }
        var begun: Int { began.withLock { $0 } }

        func hang(_ isOn: Bool) { isHanging.withLock { $0 = isOn } }

        func take(_ line: String) {
            began.withLock { $0 += 1 }
            while isHanging.withLock({ $0 }) { usleep(500) }
            text.withLock { $0 += line }
        }
    }

    private let reader = Reader()

    private func store() -> LogStore {
        let reader = reader
        return LogStore(isJournal: false) { reader.take($0) }
    }

    private func lines(of store: LogStore) -> [String] {
        store.page(since: 0, limit: 5000).lines.map(\.message)
    }

    @Test("10,000 refusals from one source location leave at most 40 lines in the log")
    func flood() {
        let store = store()
        let log = Logger(label: "test") { _ in StoreLogHandler(store: store) }
        log.notice("before")
        for index in 0..<10_000 { log.info("refused \(index)") }
        log.notice("after")
        let lines = lines(of: store)
        #expect((22...40).contains(lines.count), "\(lines.count)")
        #expect(lines.first == "before" && lines.last == "after")
        store.close()
        #expect(reader.lines.count == lines.count)
    }

    @Test("the log contains the number of suppressed similar lines")
    func counts() {
        let store = store()
        let place = LogStore.Statement(file: "here", line: 1)
        for index in 0..<100 {
            store.append(level: .info, message: "\(index)", statement: place)
        }
        usleep(1_100_000)
        store.append(level: .info, message: "again", statement: place)
        #expect(
            lines(of: store).last?.hasSuffix("similar lines before this one are not in the log.")
                == true)
    }

    @Test("a blocked reader does not block logging, and the missing lines are counted")
    func hangingReader() {
        let store = store()
        reader.hang(true)
        for index in 0..<2000 { store.append(level: .info, message: "line \(index)") }
        #expect(lines(of: store).count == LogStore.capacity)
        reader.hang(false)
        #expect(eventually(within: 10) { reader.lines.count >= 500 })
        store.append(level: .info, message: "the reader reads again")
        store.close()
        #expect(reader.lines.last?.hasSuffix("the reader reads again") == true)
        #expect(
            reader.lines.contains { $0.contains("lines are missing here") },
            "\(reader.lines.suffix(3))")
        #expect(reader.lines.count < 600)
    }

    @Test("control characters are escaped")
    func controls() {
        let store = store()
        store.append(level: .info, message: "phone \u{9B}2J\u{1B}[1m\nairframed: forged")
        store.close()
        #expect(reader.lines.count == 1)
        #expect(
            reader.lines.first?.hasSuffix(#"phone \u009b2J\u001b[1m\u000aairframed: forged"#)
                == true)
    }

    @Test("a blocked reader of standard error delays neither start, set and stop, nor SIGTERM")
    func hangingStandardError() throws {
        try withTemporaryDirectory { directory throws in
            let path = "\(directory)/full"
            try #require(mkfifo(path, 0o600) == 0)
            let pipe = open(path, O_RDWR | O_NONBLOCK)
            defer { close(pipe) }
            let block = [UInt8](repeating: UInt8(ascii: "x"), count: 4096)
            while Glibc.write(pipe, block, block.count) > 0 {}
            let daemon = try RunningDaemon(
                in: directory, ["--set", "log.level=trace"],
                through: ["sh", "-c", "exec \"$@\" 2> \(path)", "sh"])
            let client = try SocketClient(daemon.socket)
            for rate in 100..<200 {
                let reply = try client.ask(
                    #"{"id":1,"method":"set","params":{"key":"control.max_rate_dps","value":\#(rate)}}"#
                )
                #expect(reply["result"] != nil)
            }
            #expect(try client.ask(#"{"id":2,"method":"stop"}"#)["result"] != nil)
            let (status, seconds) = try daemon.stop()
            #expect(status == 0)
            #expect(seconds < 4, "\(seconds) s")
        }
    }
}
