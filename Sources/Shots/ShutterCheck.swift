extension ShutterSettings {
    /// Checks the rules that concern several keys.
    ///
    /// - Throws: `RecipeProblem`.
    public func check() throws(RecipeProblem) {
        func missing(_ key: String) -> RecipeProblem {
            RecipeProblem(key: "shutter.\(key)", text: "is missing; the shutter \(kind) needs it")
        }
        switch kind {
        case .command where command.isEmpty: throw missing("command")
        case .command where file.isEmpty && commandHasFile:
            // With an empty path, gphoto2 uses the camera's name, which can be the same for each photo.
            throw RecipeProblem(
                key: "shutter.file",
                text: "is missing; it is the path for {file}, such as photo-{number}.jpg")
        case .gpio where line < 0: throw missing("gpio_line")
        case .mavlink where address.isEmpty: throw missing("address")
        case .mavlink where !hasHostAndPort:
            throw RecipeProblem(
                key: "shutter.address",
                text: "= \"\(address)\" is not HOST:PORT, such as 192.168.1.20:14550")
        default: break
        }
        if kind == .command, !file.isEmpty {
            guard file.contains("{number}") else {
                throw RecipeProblem(
                    key: "shutter.file", text: "needs {number}; photos would replace each other")
            }
            // After an interruption, the path of a photo must follow from its number alone.
            let others = ["{file}", "{yaw}", "{roll}", "{pitch}"]
            if let word = others.first(where: { file.contains($0) }) {
                throw RecipeProblem(
                    key: "shutter.file",
                    text: "contains \(word), but only {number} is replaced; remove \(word)")
            }
            guard commandHasFile else {
                throw RecipeProblem(
                    key: "shutter.command", text: "needs {file}, the path for the photo")
            }
        }
    }

    /// True if a word of the command contains the placeholder of the photo's file.
    private var commandHasFile: Bool { command.contains { $0.contains("{file}") } }

    /// True if `address` has the form `HOST:PORT`; an IPv6 address is in brackets.
    private var hasHostAndPort: Bool {
        guard let colon = address.lastIndex(of: ":") else { return false }
        let port = UInt16(address[address.index(after: colon)...]) ?? 0
        return port > 0 && address[..<colon].contains { $0 != "[" && $0 != "]" }
    }
}
