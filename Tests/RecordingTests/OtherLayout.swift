import Realtime

@testable import Recording

/// Memory layout of a fictitious other version: the same variables in reverse order, with gaps
/// between them, one additional unknown variable, and some variables missing.
struct OtherLayout {
    private let state: Packing
    private let parameters: Packing

    /// - Parameter isKnown: Function that returns true if the other version has the variable with this
    ///   path.
    init(where isKnown: (String) -> Bool = { _ in true }) {
        state = Packing(.stabilizer, isKnown)
        parameters = Packing(.parameters, isKnown)
    }

    /// Bytes of a frame in the other version's layout.
    func packed(_ frame: ReplayLogFrame) -> [UInt8]? {
        switch frame.kind {
        case .state: state.packed(frame.bytes)
        case .parameters: parameters.packed(frame.bytes)
        default: nil
        }
    }

    /// Memory maps of this layout, as attachments of the other version's files.
    var attachments: [MCAPAttachment] {
        zip(RecordedMemory.attachments(time: 0), [state.map, parameters.map]).map { own, map in
            var attachment = own
            attachment.data = Array(map.text.utf8)
            return attachment
        }
    }

    private struct Packing {
        let own: MemoryMap
        var map: MemoryMap

        init(_ own: MemoryMap, _ isKnown: (String) -> Bool) {
            self.own = own
            map = own
            map.fields = [
                MemoryMap.Field(path: "something.of.its.own", type: "Double", size: 8, offset: 0)
            ]
            map.size = 8
            for field in own.fields.reversed() where isKnown(field.path) {
                var moved = field
                moved.offset = map.size + 3
                map.size = moved.offset + field.size
                map.fields.append(moved)
            }
        }

        func packed(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
            var places: [String: Int] = [:]
            for field in own.fields { places[field.path] = field.offset }
            var memory = [UInt8](repeating: 0xA5, count: map.size)
            for field in map.fields {
                guard let from = places[field.path] else { continue }
                for index in 0..<field.size { memory[field.offset + index] = bytes[from + index] }
            }
            return memory
        }
    }
}
