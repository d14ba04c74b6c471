import GimbalCore
import Testing

@testable import Links

@Suite("Events of input devices") struct InputEventTests {
    /// An event of a 64-bit little-endian kernel.
    private func event(_ type: UInt16, _ code: UInt16, _ value: Int32) -> InputEvent {
        var bytes: [UInt8] = []
        func add(_ value: some FixedWidthInteger) {
            withUnsafeBytes(of: value.littleEndian) { bytes += Array($0) }
        }
        add(Int64(3))
        add(Int64(250_000))
        add(type)
        add(code)
        add(value)
        return bytes.withUnsafeBytes { InputEvent($0) }
    }

    @Test("an event has 24 bytes: seconds, microseconds, type, code and value")
    func layout() {
        #expect(InputEvent.size == 24)
        let press = event(1, 0x130, 1)
        #expect(press.time == Instant(nanoseconds: 3_250_000_000))
        #expect(press.kind == .key(0x130, isDown: true))
        #expect(event(1, 0x130, 0).kind == .key(0x130, isDown: false))
        #expect(event(3, 1, -512).kind == .axis(1, -512))
        #expect(event(2, 7, -1).kind == .dial(7, -1))
        #expect(event(0, 0, 0).kind == .report)
        #expect(event(0, 3, 0).kind == .dropped)
    }

    @Test("key repetitions, unknown types and codes outside the ranges are ignored")
    func others() {
        #expect(event(1, 0x130, 2).kind == .other)
        #expect(event(1, 0x300, 1).kind == .other)
        #expect(event(4, 4, 458_756).kind == .other)
        #expect(event(3, 0x40, 1).kind == .other)
    }

    @Test("bitmaps in /sys contain the codes of keys and axes")
    func bitmap() {
        #expect(InputDescription.codes(inBitmap: "7cdb000000000000 0 0 0 0").contains(0x130))
        #expect(InputDescription.codes(inBitmap: "30003") == [0, 1, 16, 17])
        #expect(InputDescription.codes(inBitmap: "0").isEmpty)
        #expect(InputDescription.codes(inBitmap: "not hexadecimal").isEmpty)
    }

    @Test(
        "gamepads and controls on the board are used by default; keyboards and touch screens only by name"
    )
    func choice() {
        let pad = InputDescription(name: "Pad", bus: 5, keys: [0x130], axes: [0, 1])
        let button = InputDescription(name: "button@11", bus: 0x19, keys: [148])
        let keyboard = InputDescription(name: "Keyboard", bus: 3, keys: Set(1...100))
        let touch = InputDescription(name: "Touch", bus: 0x19, keys: [0x14A], axes: [0, 1])
        let motion = InputDescription(
            name: "Pad Motion Sensors", bus: 5, axes: [0, 1, 2], properties: [6])
        #expect(pad.isUsed("auto") && button.isUsed("auto"))
        #expect(!keyboard.isUsed("auto") && !touch.isUsed("auto") && !motion.isUsed("auto"))
        #expect(keyboard.isUsed("Keyboard") && !pad.isUsed("Keyboard"))
        let touchPad = InputDescription(
            name: "Pad Touchpad", bus: 5, keys: [0x14A], axes: [0, 1], properties: [0, 2])
        #expect(pad.isUsed("Pad") && !motion.isUsed("Pad") && !touchPad.isUsed("Pad"))
        #expect(motion.isUsed("Pad Motion Sensors") && touch.isUsed("Touch"))
    }
}
