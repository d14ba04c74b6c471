import PlainText
import Testing

@Suite("Suggestions for misspelled names")
struct SuggestionTests {
    private let names = ["status", "subscribe", "unsubscribe", "reset_stop", "loop.rate_hz"]

    @Test(
        "suggests the most similar name",
        arguments: [
            ("statsu", "status"), ("STATUS", "status"), ("reset-stop", "reset_stop"),
            ("loop.rate", "loop.rate_hz"), ("loop.rate_h", "loop.rate_hz"),
            ("subscrib", "subscribe"),
            ("xyz", nil), ("", nil),
        ] as [(String, String?)])
    func nearest(name: String, expected: String?) {
        #expect(Suggestion.nearest(to: name, in: names) == expected)
    }
}
