import GimbalCore

/// Converter from a recording's raw memory to the types of this program. The converter compares the
/// memory maps in the recording with the memory maps of this program.
public struct RecordedMemory: Sendable {
    private static let stateName = "memory-state.tsv"
    private static let parametersName = "memory-parameters.tsv"

    private let states: MemoryTranslation<Stabilizer>
    private let tunings: MemoryTranslation<Stabilizer.Parameters>

    /// Create the attachments that every file contains: the memory maps of this program.
    ///
    /// - Parameter time: Time from which the attachments are valid, ns.
    /// - Returns: Two attachments of the file, one for each memory map.
    public static func attachments(time: Int64) -> [MCAPAttachment] {
        [(stateName, MemoryMap.stabilizer), (parametersName, .parameters)].map { name, map in
            MCAPAttachment(
                name: name, mediaType: "text/tab-separated-values", time: time,
                data: Array(map.text.utf8))
        }
    }

    /// Creates a converter from the memory maps in a file's attachments; nil if the maps are
    /// missing or invalid.
    init?(_ attachments: [MCAPAttachment]) {
        func map(_ name: String) -> MemoryMap? {
            attachments.first { $0.name == name }
                .flatMap { MemoryMap(text: String(decoding: $0.data, as: UTF8.self)) }
        }
        guard let state = map(Self.stateName), let parameters = map(Self.parametersName) else {
            return nil
        }
        states = MemoryTranslation(from: state, to: .stabilizer)
        tunings = MemoryTranslation(from: parameters, to: .parameters)
    }

    /// Number of the stabilizer's variables that are missing in the recording.
    var missing: Int { states.missing }

    /// Converts a recorded stabilizer.
    ///
    /// - Parameters:
    ///   - bytes: Recorded raw memory.
    ///   - fresh: Stabilizer whose values are used for variables that are missing in the recording.
    /// - Returns: The stabilizer; nil if the length is wrong, or if the bytes of a variable are
    ///   invalid.
    func stabilizer(_ bytes: [UInt8], fresh: Stabilizer) -> Stabilizer? {
        states.value(bytes, fresh: fresh)
    }

    /// Converts recorded parameters.
    ///
    /// - Parameters:
    ///   - bytes: Recorded raw memory.
    ///   - fresh: Parameters whose values are used for variables that are missing in the recording.
    /// - Returns: The parameters; nil if the length is wrong, or if the bytes of a variable are
    ///   invalid.
    func parameters(_ bytes: [UInt8], fresh: Stabilizer.Parameters) -> Stabilizer.Parameters? {
        tunings.value(bytes, fresh: fresh)
    }
}

/// Converter of one type, from a recording's memory layout to this program's memory layout.
private struct MemoryTranslation<Value: BitwiseCopyable>: Sendable {
    private struct Move: Sendable {
        var from: Int
        var to: Int
        var count: Int
    }

    /// Number of this program's variables that are missing in the recording; these variables keep
    /// their initial values.
    let missing: Int
    /// Size of a recorded value, bytes.
    private let size: Int
    private var moves: [Move] = []
    /// Validity checks of the variables whose bytes can be invalid.
    private let checks: [BytePattern.Check]

    /// Creates a converter.
    ///
    /// - Parameters:
    ///   - recorded: Memory map of the recording.
    ///   - own: Memory map of this program.
    init(from recorded: MemoryMap, to own: MemoryMap) {
        size = recorded.size
        var places: [String: MemoryMap.Field] = [:]
        for field in recorded.fields { places[field.path] = field }
        var missing = 0
        for field in own.fields {
            guard let place = places[field.path], place.type == field.type,
                place.size == field.size
            else {
                missing += 1
                continue
            }
            moves.append(Move(from: place.offset, to: field.offset, count: field.size))
        }
        self.missing = missing
        checks = BytePattern.checks(of: Value.self)
    }

    /// Converts a recorded value to this program's layout.
    ///
    /// - Parameters:
    ///   - memory: Recorded raw memory.
    ///   - fresh: Value that supplies the variables missing in the recording.
    /// - Returns: The converted value; nil if the length is wrong, or if the bytes of a variable
    ///   are invalid.
    func value(_ memory: [UInt8], fresh: Value) -> Value? {
        guard memory.count == size else { return nil }
        // The bytes are collected in untyped memory, and become a value only after the check.
        return withUnsafeTemporaryAllocation(
            byteCount: MemoryLayout<Value>.size, alignment: MemoryLayout<Value>.alignment
        ) { own in
            withUnsafeBytes(of: fresh) { own.copyMemory(from: $0) }
            memory.withUnsafeBytes { recorded in
                for move in moves {
                    UnsafeMutableRawBufferPointer(rebasing: own[move.to..<move.to + move.count])
                        .copyMemory(
                            from: UnsafeRawBufferPointer(
                                rebasing: recorded[move.from..<move.from + move.count]))
                }
            }
            guard let start = own.baseAddress, checks.allSatisfy({ $0.holds(start) }) else {
                return nil
            }
            return start.assumingMemoryBound(to: Value.self).pointee
        }
    }
}
