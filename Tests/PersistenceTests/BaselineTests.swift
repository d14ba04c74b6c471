import Persistence
import Testing

@Suite("Baselines")
struct BaselineTests {
    @Test("return the values that were saved under their name")
    func saveAndRestore() throws {
        var state = SavedState()
        try state.saveBaseline("before-wind", ["a": "1"])
        try state.saveBaseline("b.2_x", ["a": "2"])
        try state.saveBaseline("before-wind", ["a": "3"])
        #expect(state.baselineNames == ["b.2_x", "before-wind"])
        #expect(try state.baseline("before-wind") == ["a": "3"])
        try state.deleteBaseline("before-wind")
        #expect(state.baselineNames == ["b.2_x"])
    }

    @Test("a missing baseline's error contains the existing names")
    func unknown() throws {
        var state = SavedState()
        let none = #expect(throws: BaselineError.self) { try state.baseline("x") }
        #expect(none?.description == "There is no baseline \"x\". No baseline is saved.")
        try state.saveBaseline("y", [:])
        let other = #expect(throws: BaselineError.self) { try state.deleteBaseline("x") }
        #expect(other?.description == "There is no baseline \"x\". Saved: y.")
    }

    @Test(
        "refuse names that a shell or a table could misread",
        arguments: ["", "a b", "../x", "ä", "a\n", String(repeating: "x", count: 33)])
    func badNames(name: String) {
        var state = SavedState()
        #expect(throws: BaselineError.badName(name)) { try state.saveBaseline(name, [:]) }
    }

    @Test("are limited in number, but an existing one can be replaced")
    func limit() throws {
        var state = SavedState()
        for number in 0..<SavedState.baselineLimit { try state.saveBaseline("b\(number)", [:]) }
        #expect(throws: BaselineError.tooMany) { try state.saveBaseline("one-more", [:]) }
        try state.saveBaseline("b0", ["a": "1"])
        #expect(try state.baseline("b0") == ["a": "1"])
    }
}
