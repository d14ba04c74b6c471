import GimbalCore

/// How the raw memory of one recording is read: its own maps beside those of this program.
public struct RecordedMemory: Sendable {
    private static let stateName = "memory-state.tsv"
    private static let parametersName = "memory-parameters.tsv"

    private let states: MemoryTranslation<Stabilizer>
    private let tunings: MemoryTranslation<Stabilizer.Parameters>

    /// The maps of this program, for every file that it writes.
    ///
    /// - Parameter time: Of the file, ns.
    /// - Returns: Two tables.
    public static func attachments(time: Int64) -> [MCAPAttachment] {
        [(stateName, MemoryMap.stabilizer), (parametersName, .parameters)].map { name, map in
            MCAPAttachment(
                name: name, mediaType: "text/tab-separated-values", time: time,
                data: Array(map.text.utf8))
        }
    }

    /// Finds the maps among a file's attachments; nil when they are not there, or no maps.
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

    /// Variables of this program's stabilizer that the recording does not have.
    var missing: Int { states.missing }

    /// A recorded stabilizer.
    ///
    /// - Parameters:
    ///   - bytes: As recorded.
    ///   - fresh: Lends what the recording does not have.
    /// - Returns: Nil when the length is wrong, or a variable's bytes are no value of its type.
    func stabilizer(_ bytes: [UInt8], fresh: Stabilizer) -> Stabilizer? {
        states.value(bytes, fresh: fresh)
    }

    /// Recorded parameters.
    ///
    /// - Parameters:
    ///   - bytes: As recorded.
    ///   - fresh: Lend what the recording does not have.
    /// - Returns: Nil when the length is wrong, or a variable's bytes are no value of its type.
    func parameters(_ bytes: [UInt8], fresh: Stabilizer.Parameters) -> Stabilizer.Parameters? {
        tunings.value(bytes, fresh: fresh)
    }
}

/// Raw memory of a recording, as the same variables of this program.
private struct MemoryTranslation<Value: BitwiseCopyable>: Sendable {
    private struct Move: Sendable {
        var from: Int
        var to: Int
        var count: Int
    }

    /// Variables of this program that the recording does not have: they keep what they are made
    /// with.
    let missing: Int
    /// Bytes of a recorded value.
    private let size: Int
    private var moves: [Move] = []
    /// What has to be looked at before memory becomes a value.
    private let checks: [BytePattern.Check]

    /// - Parameters:
    ///   - recorded: The recording's map.
    ///   - own: This program's.
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

    /// A recorded value in this program's layout.
    ///
    /// - Parameters:
    ///   - memory: As it was recorded.
    ///   - fresh: Lends what the recording does not have.
    /// - Returns: Nil when the length is wrong, or bytes are no value of their variable's type.
    func value(_ memory: [UInt8], fresh: Value) -> Value? {
        guard memory.count == size else { return nil }
        // In memory that has no type yet: only what is checked becomes a value.
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
