/// Names of the kernel's common input codes, as in `linux/input-event-codes.h`. The text of a
/// control contains one of these names. A code without a name is written as a number: `KEY_700`.
enum ControlCodes {
    /// Codes of keys and buttons, 1...767 (`KEY_MAX` is 0x2ff).
    static let keyRange: ClosedRange<UInt16> = 1...0x2FF
    /// Codes of absolute axes, 0...63 (`ABS_MAX` is 0x3f).
    static let axisRange: ClosedRange<UInt16> = 0...0x3F
    /// Codes of dials, which report relative steps, 0...15 (`REL_MAX` is 0x0f).
    static let dialRange: ClosedRange<UInt16> = 0...0x0F

    static let keys: [String: UInt16] = {
        var keys: [String: UInt16] = [
            "KEY_ESC": 1, "KEY_ENTER": 28, "KEY_SPACE": 57, "KEY_HOME": 102, "KEY_UP": 103,
            "KEY_PAGEUP": 104, "KEY_LEFT": 105, "KEY_RIGHT": 106, "KEY_DOWN": 108,
            "KEY_PAGEDOWN": 109, "KEY_MUTE": 113, "KEY_VOLUMEDOWN": 114, "KEY_VOLUMEUP": 115,
            "KEY_POWER": 116, "KEY_STOP": 128, "KEY_MENU": 139, "KEY_PROG1": 148,
            "KEY_PROG2": 149, "KEY_BACK": 158, "KEY_NEXTSONG": 163, "KEY_PLAYPAUSE": 164,
            "KEY_PREVIOUSSONG": 165, "KEY_RECORD": 167, "KEY_PROG3": 202, "KEY_PROG4": 203,
            "KEY_PLAY": 207, "KEY_CAMERA": 212, "KEY_OK": 0x160, "KEY_SELECT": 0x161,
            "KEY_MODE": 0x175, "KEY_NEXT": 0x197, "KEY_PREVIOUS": 0x19C, "KEY_ZOOMIN": 0x1A2,
            "KEY_ZOOMOUT": 0x1A3, "KEY_CAMERA_FOCUS": 0x210,
            "BTN_TRIGGER": 0x120, "BTN_THUMB": 0x121, "BTN_THUMB2": 0x122, "BTN_TOP": 0x123,
            "BTN_TOP2": 0x124, "BTN_PINKIE": 0x125, "BTN_BASE": 0x126, "BTN_BASE2": 0x127,
            "BTN_BASE3": 0x128, "BTN_BASE4": 0x129, "BTN_BASE5": 0x12A, "BTN_BASE6": 0x12B,
            "BTN_SOUTH": 0x130, "BTN_EAST": 0x131, "BTN_C": 0x132, "BTN_NORTH": 0x133,
            "BTN_WEST": 0x134, "BTN_Z": 0x135, "BTN_TL": 0x136, "BTN_TR": 0x137,
            "BTN_TL2": 0x138, "BTN_TR2": 0x139, "BTN_SELECT": 0x13A, "BTN_START": 0x13B,
            "BTN_MODE": 0x13C, "BTN_THUMBL": 0x13D, "BTN_THUMBR": 0x13E,
            "BTN_DPAD_UP": 0x220, "BTN_DPAD_DOWN": 0x221, "BTN_DPAD_LEFT": 0x222,
            "BTN_DPAD_RIGHT": 0x223,
        ]
        for number in 0...9 { keys["BTN_\(number)"] = 0x100 + UInt16(number) }
        for number in 1...40 { keys["BTN_TRIGGER_HAPPY\(number)"] = 0x2BF + UInt16(number) }
        return keys
    }()

    static let axes: [String: UInt16] = [
        "ABS_X": 0, "ABS_Y": 1, "ABS_Z": 2, "ABS_RX": 3, "ABS_RY": 4, "ABS_RZ": 5,
        "ABS_THROTTLE": 6, "ABS_RUDDER": 7, "ABS_WHEEL": 8, "ABS_GAS": 9, "ABS_BRAKE": 10,
        "ABS_HAT0X": 16, "ABS_HAT0Y": 17, "ABS_HAT1X": 18, "ABS_HAT1Y": 19, "ABS_MISC": 0x28,
    ]

    static let dials: [String: UInt16] = [
        "REL_X": 0, "REL_Y": 1, "REL_Z": 2, "REL_RX": 3, "REL_RY": 4, "REL_RZ": 5,
        "REL_HWHEEL": 6, "REL_DIAL": 7, "REL_WHEEL": 8, "REL_MISC": 9,
    ]

    /// Code for a string such as `ABS_RX` or `ABS_3`; nil if the string contains neither a known
    /// name nor a number.
    static func code(
        _ text: Substring, _ names: [String: UInt16], _ prefix: String,
        _ range: ClosedRange<UInt16>
    ) -> UInt16? {
        if let code = names[String(text)] { return code }
        guard text.hasPrefix(prefix), let code = UInt16(text.dropFirst(prefix.count)),
            range.contains(code)
        else { return nil }
        return code
    }

    /// Name of a code; for a code without a name, the prefix and the number.
    static func name(_ code: UInt16, _ names: [String: UInt16], _ prefix: String) -> String {
        names.first { $0.value == code }?.key ?? "\(prefix)\(code)"
    }
}
