import PlainText
import Testing

@Suite("Untrusted text") struct VisibleTests {
    @Test("escapes characters that control a terminal, and leaves all other characters unchanged")
    func visible() {
        #expect("\u{1B}[2J\u{9B}1m\u{7F}\u{0}".visible == #"\u001b[2J\u009b1m\u007f\u0000"#)
        #expect("a\u{202E}b\u{2066}c\u{200F}\u{2028}".visible == #"a\u202eb\u2066c\u200f\u2028"#)
        #expect("two\nlines\t".visible == #"two\u000alines\u0009"#)
        #expect("two\nlines\t\r".visibleLines == "two\nlines\t\\u000d")
        let plain = "Größe 12 µs – 手機 👩‍👩‍👧 é"
        #expect(plain.visible == plain)
    }
}
