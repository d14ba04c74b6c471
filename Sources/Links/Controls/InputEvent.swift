import GimbalCore
import Glibc

/// Event of an input device, as the kernel writes it (`struct input_event` in `linux/input.h`).
struct InputEvent: Equatable {
    /// Meaning of an event.
    enum Kind: Equatable {
        /// End of a group of events that belong together.
        case report
        /// The kernel has dropped events. All events until the next `report` are invalid, and the
        /// state of the device must be read again (Documentation/input/event-codes.rst).
        case dropped
        /// The key or button with this code is pressed or released.
        case key(UInt16, isDown: Bool)
        /// An absolute axis has a new value, in the units of the device.
        case axis(UInt16, Int32)
        /// A dial has turned by a number of steps.
        case dial(UInt16, Int32)
        /// An event that airframed ignores, such as a key repeat.
        case other
    }

    /// Size of an event, bytes: a `timeval` and 8 bytes.
    static let size = MemoryLayout<timeval>.size + 8

    /// Time of the event on the loop's clock.
    var time: Instant
    /// Meaning.
    var kind: Kind

    /// Decodes an event.
    ///
    /// - Parameter bytes: Exactly `size` bytes.
    init(_ bytes: UnsafeRawBufferPointer) {
        let time = bytes.loadUnaligned(as: timeval.self)
        let offset = MemoryLayout<timeval>.size
        let type = bytes.loadUnaligned(fromByteOffset: offset, as: UInt16.self)
        let code = bytes.loadUnaligned(fromByteOffset: offset + 2, as: UInt16.self)
        let value = bytes.loadUnaligned(fromByteOffset: offset + 4, as: Int32.self)
        let (seconds, tooLong) = Int64(time.tv_sec).multipliedReportingOverflow(by: 1_000_000_000)
        let (fraction, tooFine) = Int64(time.tv_usec).multipliedReportingOverflow(by: 1000)
        self.time = Instant(nanoseconds: tooLong || tooFine ? 0 : seconds &+ fraction)
        kind = Self.kind(type, code, value)
    }

    /// Creates an event.
    init(time: Instant, kind: Kind) {
        self.time = time
        self.kind = kind
    }

    private static func kind(_ type: UInt16, _ code: UInt16, _ value: Int32) -> Kind {
        switch (type, code) {
        case (0, 0): .report
        case (0, 3): .dropped
        // Value 2 is a key repeat.
        case (1, 1...0x2FF) where value == 0 || value == 1: .key(code, isDown: value == 1)
        case (2, 0...0x0F): .dial(code, value)
        case (3, 0...0x3F): .axis(code, value)
        default: .other
        }
    }
}

/// Properties of an input device, which are read from /sys without opening the device.
struct InputDescription: Equatable, Sendable {
    /// Name of the device, as the driver or the device reports it.
    var name: String
    /// Bus of the device, as in `linux/input.h`.
    var bus: UInt16 = 0
    /// Codes of the device's keys and buttons.
    var keys: Set<UInt16> = []
    /// Codes of the device's absolute axes.
    var axes: Set<UInt16> = []
    /// Codes of the device's dials.
    var dials: Set<UInt16> = []
    /// The device's properties (INPUT_PROP_... in `linux/input-event-codes.h`).
    var properties: Set<UInt16> = []

    /// BUS_HOST: a device that is wired to the board, such as GPIO buttons.
    private static let hostBus: UInt16 = 0x19
    /// Codes of the buttons that only joysticks and gamepads have (BTN_JOYSTICK, BTN_GAMEPAD).
    private static let gamepadKeys: ClosedRange<UInt16> = 0x120...0x13F
    /// BTN_TOUCH: a touch screen or a touch pad.
    private static let touch: UInt16 = 0x14A
    /// INPUT_PROP_ACCELEROMETER: the motion sensors of a gamepad.
    private static let accelerometer: UInt16 = 6
    /// Smallest number of ordinary keys for which a device counts as a keyboard.
    private static let keyboardKeys = 32

    /// Checks whether the device is used.
    ///
    /// - Parameter wanted: The setting `controls.device`. With `auto`, keyboards and touch screens
    ///   are not used, because users need them for other purposes. A part of the name does not
    ///   select touch pads and motion sensors, because those of a gamepad contain the gamepad's
    ///   name.
    /// - Returns: True if airframed opens the device.
    func isUsed(_ wanted: String) -> Bool {
        guard !(keys.isEmpty && axes.isEmpty && dials.isEmpty) else { return false }
        if name == wanted { return true }
        if properties.contains(Self.accelerometer) { return false }
        if wanted != "auto" { return name.contains(wanted) && !keys.contains(Self.touch) }
        if keys.contains(Self.touch) { return false }
        if keys.count(where: { $0 < 0x100 }) >= Self.keyboardKeys { return false }
        return bus == Self.hostBus || !keys.isDisjoint(with: Set(Self.gamepadKeys))
    }

    /// Codes in a bitmap of /sys: 64-bit hexadecimal words, separated by blanks, with the most
    /// significant word first. Codes of 1024 and more are ignored.
    static func codes(inBitmap text: some StringProtocol) -> Set<UInt16> {
        var codes: Set<UInt16> = []
        let words = text.split(whereSeparator: \.isWhitespace).reversed().prefix(16)
        for (place, word) in words.enumerated() {
            guard let bits = UInt64(word, radix: 16) else { return [] }
            for bit in 0..<64 where bits & (1 << UInt64(bit)) != 0 {
                codes.insert(UInt16(place * 64 + bit))
            }
        }
        return codes
    }
}
