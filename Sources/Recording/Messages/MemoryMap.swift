import GimbalCore
@_spi(Reflection) import Swift

/// Memory map of a type's variables, by name; another version of the program can find the variables
/// with this map.
///
/// A recording contains the maps of the types that it stores as raw memory. The field names and
/// offsets come from Swift's own metadata.
public struct MemoryMap: Sendable, Equatable {
    /// A variable whose type has no named members, such as a number.
    struct Field: Sendable, Hashable {
        /// Names of the enclosing variables and of the variable itself, such as
        /// `estimator.gyroBias.x`.
        var path: String
        /// Name of the variable's type. Two variables with the same path match only if their types
        /// have the same name.
        var type: String
        /// Size of the variable, bytes.
        var size: Int
        /// Offset of the variable from the beginning of the value, bytes.
        var offset: Int
    }

    var fields: [Field] = []
    /// Size of the whole value, bytes.
    var size = 0

    /// Map of the whole stabilizer, including its parameters.
    public static let stabilizer = MemoryMap(of: Stabilizer.self)
    /// Map of the parameters.
    public static let parameters = MemoryMap(of: Stabilizer.Parameters.self)

    /// Creates the map of a bitwise-copyable type.
    init<Value: BitwiseCopyable>(of type: Value.Type) {
        size = MemoryLayout<Value>.size
        add(type, path: "", offset: 0)
    }

    private mutating func add(_ type: Any.Type, path: String, offset: Int) {
        var parts: [(name: String, offset: Int, type: Any.Type)] = []
        _ = _forEachField(of: type) { name, offset, type, _ in
            parts.append((String(cString: name), offset, type))
            return true
        }
        let isWhole = parts.contains { _typeName($0.type).hasPrefix("Builtin.") }
        guard !parts.isEmpty, !isWhole else {
            let field = Field(
                path: path, type: _typeName(type, qualified: false), size: Self.size(of: type),
                offset: offset)
            if field.size > 0 { fields.append(field) }
            return
        }
        for part in parts {
            add(
                part.type, path: path.isEmpty ? part.name : "\(path).\(part.name)",
                offset: offset + part.offset)
        }
    }

    private static func size(of type: Any.Type) -> Int {
        func size<Value>(_: Value.Type) -> Int { MemoryLayout<Value>.size }
        return _openExistential(type, do: size)
    }
}

// MARK: As text

extension MemoryMap {
    /// The map as text: a line with the total size, followed by tab-separated lines `offset size
    /// type path`.
    public var text: String {
        var lines = ["\(size)"]
        lines += fields.map { "\($0.offset)\t\($0.size)\t\($0.type)\t\($0.path)" }
        return lines.joined(separator: "\n") + "\n"
    }

    /// Parses a map; nil if a line is invalid, or a field is outside the total size.
    ///
    /// - Parameter text: Text in the format of the property `text`.
    public init?(text: String) {
        var lines = text.split(separator: "\n")[...]
        guard let first = lines.popFirst(), let size = Int(first), size >= 0 else { return nil }
        self.size = size
        for line in lines {
            let words = line.split(separator: "\t", omittingEmptySubsequences: false)
            guard words.count == 4, let offset = Int(words[0]), let length = Int(words[1]),
                offset >= 0, length > 0, offset <= size, length <= size - offset
            else { return nil }
            fields.append(
                Field(
                    path: String(words[3]), type: String(words[2]), size: length, offset: offset))
        }
    }
}
