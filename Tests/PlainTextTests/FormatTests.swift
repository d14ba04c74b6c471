import PlainText
import Testing

@Suite("Number formatting")
struct FormatTests {
    @Test(
        "have fixed decimals, and no sign if they round to zero",
        arguments: [
            (1.005, 2, true, "+1.00"), (-0.004, 2, true, " 0.00"), (-0.004, 2, false, "0.00"),
            (-30, 1, true, "-30.0"), (0.05, 1, false, "0.1"), (1234.5, 0, false, "1235"),
            (.nan, 2, true, "–"), (.infinity, 2, false, "–"), (1e300, 2, false, "1e+300"),
        ])
    func fixed(value: Double, decimals: Int, signed: Bool, text: String) {
        #expect(Format.fixed(value, decimals, signed: signed) == text)
    }

    @Test(
        "durations have their two most significant units",
        arguments: [
            (5.9, "5 s"), (65, "1 min 5 s"), (7_500, "2 h 5 min"), (180_000, "2 d 2 h"),
            (.nan, "–"),
        ])
    func duration(seconds: Double, text: String) {
        #expect(Format.duration(seconds) == text)
    }

    @Test(
        "counts have digit groups",
        arguments: [(0, "0"), (999, "999"), (-1000, "-1 000"), (8_042_113, "8 042 113")])
    func count(value: Int, text: String) {
        #expect(Format.count(value) == text)
    }

    @Test(
        "a count has its noun in the singular or the plural",
        arguments: [(0, "0 files"), (1, "1 file"), (2, "2 files")])
    func counted(value: Int, text: String) {
        #expect(Format.counted(value, "file") == text)
    }

    @Test("long text is wrapped at spaces")
    func wrapped() {
        #expect(Format.wrapped("one two three four", 9) == ["one two", "three", "four"])
        #expect(Format.wrapped("", 9) == [])
    }
}
