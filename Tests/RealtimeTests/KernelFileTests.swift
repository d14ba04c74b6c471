import Glibc
import Realtime
import Testing

@Suite("Single-line files of the kernel") struct KernelFileTests {
    @Test(
        "the first line ends at a line feed or at the zero byte of a device tree",
        arguments: [
            ("performance\n", "performance"),
            ("Raspberry Pi 4 Model B\0", "Raspberry Pi 4 Model B"),
            ("one\ntwo", "one"), ("no end", "no end"), ("", nil), ("\nsecond", nil),
        ] as [(String, String?)])
    func firstLines(text: String, line: String?) throws {
        var ends: [Int32] = [-1, -1]
        try #require(pipe(&ends) == 0)
        defer { close(ends[0]) }
        let bytes = Array(text.utf8)
        let written = write(ends[1], bytes, bytes.count)
        close(ends[1])
        try #require(written == bytes.count)
        #expect(firstLine(of: "/proc/self/fd/\(ends[0])") == line)
    }

    @Test("a missing file has no first line")
    func absent() { #expect(firstLine(of: "/sys/there/is/no/such/file") == nil) }
}
