@_spi(Reflection) import Swift

/// Check whether bytes are a valid value of a type. A file can contain any bytes. Swift uses the
/// tag of an enumeration as a jump index without a range check. Therefore raw memory of a recording
/// becomes a variable only after this check.
///
/// The check uses the metadata of the types, so new variables are checked automatically. The bits
/// of a number can have any value. A Bool is 0 or 1. The value of an enumeration or an optional
/// must be one of the type's cases. The payload of a case is checked by the same rules. An `Int` is
/// a count or an index, so its value must be within the range of valid counts.
///
/// Source: Swift ABI documentation, "Type Metadata" and "Value Witness Table" (64-bit layouts).
enum BytePattern {
    /// Check whether bytes are a valid value of a bitwise-copyable type.
    ///
    /// - Parameters:
    ///   - bytes: Bytes to check, at least as many as the type's size.
    ///   - type: Any struct, tuple, enumeration or number.
    /// - Returns: True if the bytes are a valid value; false for kinds of types that this check
    ///   does not support.
    static func isValue(_ bytes: UnsafeRawPointer, of type: Any.Type) -> Bool {
        if type == Bool.self { return bytes.load(as: UInt8.self) <= 1 }
        if type == Int.self { return counts.contains(bytes.loadUnaligned(as: Int.self)) }
        if let array = type as? any FixedArray.Type {
            return (0..<array.elements).allSatisfy {
                isValue(bytes + $0 * array.stride, of: array.element)
            }
        }
        switch Kind(of: type) {
        case .parts(let parts):
            return parts.allSatisfy { isValue(bytes + $0.offset, of: $0.type) }
        case .number: return true
        case .enumeration(let cases):
            guard let tag = cases.tag(bytes) else { return false }
            return tag >= cases.payloads || isPayload(bytes, of: type)
        case .other: return false
        }
    }

    /// A variable whose bytes can be invalid.
    struct Check: @unchecked Sendable {
        /// Offset of the variable from the beginning of the value, bytes.
        var offset: Int
        /// Type of the variable; its metadata never changes.
        var type: Any.Type

        /// True if the bytes are a valid value.
        func holds(_ start: UnsafeRawPointer) -> Bool {
            BytePattern.isValue(start + offset, of: type)
        }
    }

    /// Find the variables of a type that must be checked.
    ///
    /// - Parameters:
    ///   - type: A bitwise-copyable type.
    ///   - offset: Offset of the value, bytes.
    /// - Returns: The variables that do not accept all bit patterns.
    static func checks(of type: Any.Type, at offset: Int = 0) -> [Check] {
        if isAny(type) { return [] }
        if type != Int.self, case .parts(let parts) = Kind(of: type) {
            return parts.flatMap { checks(of: $0.type, at: offset + $0.offset) }
        }
        return [Check(offset: offset, type: type)]
    }

    /// True if every bit pattern is a valid value; no check is then needed.
    static func isAny(_ type: Any.Type) -> Bool {
        if type == Bool.self || type == Int.self { return false }
        if let array = type as? any FixedArray.Type { return isAny(array.element) }
        return switch Kind(of: type) {
        case .parts(let parts): parts.allSatisfy { isAny($0.type) }
        case .number: true
        case .enumeration, .other: false
        }
    }

    /// Range of valid counts and indices. The range includes every possible count, and excludes
    /// numbers that could overflow.
    private static let counts = -(1 << 40)...(1 << 40)

    /// Checks the payload of a case, after the tag has been checked.
    private static func isPayload(_ bytes: UnsafeRawPointer, of type: Any.Type) -> Bool {
        func load<Value>(_: Value.Type) -> Any {
            withUnsafeTemporaryAllocation(
                byteCount: max(1, MemoryLayout<Value>.size),
                alignment: MemoryLayout<Value>.alignment
            ) { room -> Any in
                room.copyMemory(
                    from: UnsafeRawBufferPointer(start: bytes, count: MemoryLayout<Value>.size))
                guard let start = room.baseAddress else { return () }
                return start.assumingMemoryBound(to: Value.self).pointee
            }
        }
        guard let held = Mirror(reflecting: _openExistential(type, do: load)).children.first?.value
        else { return false }
        func check<Value>(_ value: Value) -> Bool {
            withUnsafeBytes(of: value) { raw in
                raw.baseAddress.map { isValue($0, of: Value.self) } ?? true
            }
        }
        return _openExistential(held, do: check)
    }

    private enum Kind {
        /// The type has named members.
        case parts([(offset: Int, type: Any.Type)])
        /// The type is a number; any bit pattern is valid.
        case number
        case enumeration(Cases)
        case other

        init(of type: Any.Type) {
            var parts: [(offset: Int, type: Any.Type)] = []
            let isKnown = _forEachField(of: type) { _, offset, type, _ in
                parts.append((offset, type))
                return true
            }
            if let cases = Cases(of: type) {
                self = .enumeration(cases)
            } else if parts.contains(where: { _typeName($0.type).hasPrefix("Builtin.") }) {
                self = .number
            } else {
                self = isKnown ? .parts(parts) : .other
            }
        }
    }

    /// The cases of an enumeration, from its metadata.
    private struct Cases {
        /// Number of cases with a payload, which come first among all cases.
        let payloads: Int
        /// Number of all cases of the enumeration.
        let count: Int
        private let metadata: UnsafeRawPointer
        private let witnesses: UnsafeRawPointer

        /// Creates the cases; nil if the type is not an enumeration.
        init?(of type: Any.Type) {
            metadata = unsafeBitCast(type, to: UnsafeRawPointer.self)
            // MetadataKind: Enum 0x201, Optional 0x202.
            guard [0x201, 0x202].contains(metadata.load(as: UInt.self)) else { return nil }
            // The pointer to the value witness table precedes the metadata; the pointer to the
            // context descriptor follows the kind.
            witnesses = (metadata - 8).load(as: UnsafeRawPointer.self)
            let descriptor = (metadata + 8).load(as: UnsafeRawPointer.self)
            payloads = Int((descriptor + 20).load(as: UInt32.self) & 0xFF_FFFF)
            count = payloads + Int((descriptor + 24).load(as: UInt32.self))
        }

        /// Index of the enumeration case that the bytes encode; nil if the bytes are invalid.
        func tag(_ bytes: UnsafeRawPointer) -> Int? {
            // The function that returns the tag is the first of the witnesses that exist only for
            // enumerations. In the value witness table, the function that returns the tag comes
            // after eight function pointers, the size, the stride and the flags.
            typealias GetTag = @convention(c) (UnsafeRawPointer, UnsafeRawPointer) -> UInt32
            let function = (witnesses + 88).load(as: UnsafeRawPointer.self)
            let tag = unsafeBitCast(function, to: GetTag.self)(bytes, metadata)
            return Int(tag) < count && isCanonical(bytes, tag) ? Int(tag) : nil
        }

        /// True if the tag bits are exactly the bits of the given case. The witness function also
        /// accepts some bit patterns that do not belong to a case. Compiled code that switches over
        /// the cases does not accept these patterns.
        private func isCanonical(_ bytes: UnsafeRawPointer, _ tag: UInt32) -> Bool {
            let size = (witnesses + 64).load(as: Int.self)
            func injected(_ tag: UInt32, into value: [UInt8]) -> [UInt8] {
                typealias Inject =
                    @convention(c) (UnsafeMutableRawPointer, UInt32, UnsafeRawPointer) -> Void
                let function = (witnesses + 104).load(as: UnsafeRawPointer.self)
                return withUnsafeTemporaryAllocation(byteCount: size, alignment: 16) { room in
                    room.copyBytes(from: value)
                    if let start = room.baseAddress {
                        unsafeBitCast(function, to: Inject.self)(start, tag, metadata)
                    }
                    return Array(room)
                }
            }
            // If no case has a payload, all bits belong to the tag.
            guard payloads > 0 else { return true }
            let value = Array(UnsafeRawBufferPointer(start: bytes, count: size))
            let telling = injected(0, into: [UInt8](repeating: 0xFF, count: size))
            return zip(zip(value, injected(tag, into: value)), telling)
                .allSatisfy { ($0.0 ^ $0.1) & ~$1 == 0 }
        }
    }
}

/// An array whose elements are stored inline.
private protocol FixedArray {
    static var element: Any.Type { get }
    static var elements: Int { get }
    static var stride: Int { get }
}

extension InlineArray: FixedArray {
    fileprivate static var element: Any.Type { Element.self }
    fileprivate static var elements: Int { count }
    fileprivate static var stride: Int { MemoryLayout<Element>.stride }
}
