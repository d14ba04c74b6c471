import Client
import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import airframectl

@Suite("Output of airframectl") struct OutputTests {
    @Test("the program's own colours are kept, and every other control character is escaped")
    func shown() {
        let style = Style(isColoured: true)
        for role in Style.Role.allCases {
            #expect(Output.shown(style(role, "x")) == "\u{1B}[\(role.rawValue)mx\u{1B}[0m")
        }
        #expect(
            Output.shown(style(.good, "phone \u{9B}2J\u{1B}]0;title\u{7}"))
                == "\u{1B}[32mphone \\u009b2J\\u001b]0;title\\u0007\u{1B}[0m")
        #expect(Output.shown("\u{1B}") == #"\u001b"#)
        #expect(Output.shown("\u{1B}[32mgreen") == #"\u001b[32mgreen"#)
        #expect(Output.shown("\u{1B}17[32mgreen") == #"\u001b17[32mgreen"#)
        #expect(Output.shown("a\nb\tc") == "a\nb\tc")
    }

    @Test("a line end in the status for systemd does not begin another notification")
    func systemStatus() throws {
        try withTemporaryDirectory { directory in
            let path = directory.appending("notify").string
            let socket = try NotificationSocket(path)
            SystemManager(socket: path).status("Webcam\nMAINPID=1")
            #expect(socket.next() == #"STATUS=Webcam\u000aMAINPID=1"#)
        }
    }

    @Test(
        "a wide line is broken between words, and continues below its last column",
        arguments: [
            ("short", ["short"]),
            ("one two three four five", ["one two three", "four five"]),
            ("name  one two three four", ["name  one two", "      three", "      four"]),
            ("- one two three four", ["- one two", "  three four"]),
            ("  one two three four", ["  one two", "  three four"]),
            ("12.5  notice  one two", ["12.5  notice", "      one two"]),
            ("anUnusuallyLongWord two", ["anUnusuallyLongWord", "two"]),
        ])
    func folded(text: String, lines: [String]) {
        #expect(Output.folded(text, to: 13) == lines)
        #expect(Output.folded(text, to: .max) == [text])
    }

    @Test("colours do not count as width")
    func foldedColours() {
        let style = Style(isColoured: true)
        let line = style(.caution, "name") + "  one two"
        #expect(Output.folded(line, to: 13) == [line])
        #expect(Output.folded(line, to: 12) == [style(.caution, "name") + "  one", "      two"])
    }

    @Test("control characters of a table are escaped on standard output, but not in a file")
    func table() throws {
        let line = "1,\"phone \u{9B}2J\"\n"
        let (reader, writer) = try FileDescriptor.pipe()
        try reader.closeAfter {
            try writer.closeAfter {
                try TableFile("-", output: writer.rawValue).write(line.utf8)
            }
            var shown = [UInt8](repeating: 0, count: 64)
            let count = try shown.withUnsafeMutableBytes { try reader.read(into: $0) }
            let text = String(decoding: shown.prefix(count), as: UTF8.self)
            #expect(text == "1,\"phone \\u009b2J\"\n")
        }
        try withTemporaryDirectory { directory throws in
            let table = try TableFile(directory.appending("table.csv").string)
            try table.write(line.utf8)
            try table.close()
            #expect(try bytes(of: directory.appending("table.csv")) == Array(line.utf8))
        }
    }

    @Test("an output file is replaced only when it is complete, and never if it is the input")
    func replaced() throws {
        try withTemporaryDirectory { directory throws in
            let path = directory.appending("table.csv")
            func write(_ text: String, isComplete: Bool) throws {
                let table = try TableFile(path.string)
                try table.write(text.utf8)
                if isComplete { try table.close() }
            }
            try write("old", isComplete: true)
            try write("incomplete", isComplete: false)
            #expect(try bytes(of: path) == Array("old".utf8))
            #expect(access("\(path).new", F_OK) == -1)
            #expect(throws: ClientError.self) { try TableFile(path.string, input: path.string) }
            try write("new", isComplete: true)
            #expect(try bytes(of: path) == Array("new".utf8))
        }
    }

    @Test("an escaped control character in a JSON string does not change the JSON value")
    func json() {
        #expect(Output.shown("{\"name\":\"a\u{9B}b\"}") == #"{"name":"a\u009bb"}"#)
    }
}
