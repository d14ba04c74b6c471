/// Parser that finds frames in a stream of bytes. The stream can be split anywhere. The parser's
/// memory is bounded: between two calls it stores less than one frame.
///
/// A frame is valid if its checksum is correct. The parser cannot check a frame with an unknown
/// message number. The parser skips the whole frame if another frame or the end of the data
/// follows. Outside a frame, the parser searches for the next start byte. A signature is part of
/// the frame's bytes, but the parser does not check it.
public struct MAVLinkParser: Sendable {
    /// Result of `next`.
    public enum Item: Sendable, Equatable {
        /// A frame of a known kind with a valid checksum, and its bytes.
        case frame(MAVLinkFrame, bytes: [UInt8])
        /// A frame of an unknown kind, unchanged.
        case unknown(bytes: [UInt8])
        /// Bytes outside any frame, unchanged.
        case noise(bytes: [UInt8])
    }

    /// Counters of the parser since its creation.
    public struct Counters: Sendable, Equatable {
        /// Number of frames of known kinds with a valid checksum.
        public var frames: UInt64 = 0
        /// Number of frames of unknown kinds.
        public var unknown: UInt64 = 0
        /// Number of frames of a known kind with an invalid checksum.
        public var badChecksums: UInt64 = 0
        /// Number of bytes outside any frame.
        public var noiseBytes: UInt64 = 0
        /// Number of lost frames, according to the senders' sequence numbers.
        public var lost: UInt64 = 0

        /// Creates counters at zero.
        public init() {}
    }

    /// Counters of the parser since its creation.
    public private(set) var counters = Counters()

    private var buffer: [UInt8] = []
    private var start = 0
    private var noise: [UInt8] = []
    private var sequences: [MAVLinkAddress: UInt8] = [:]

    /// Creates a parser without input.
    public init() {}

    /// Number of bytes of an incomplete frame.
    public var pending: Int { buffer.count - start }

    /// Adds received bytes. Before you add more bytes, call `next` until it returns nil.
    public mutating func append(_ bytes: some Collection<UInt8>) {
        buffer.removeFirst(start)
        start = 0
        buffer += bytes
    }

    /// Discards an incomplete frame, after a pause or at the end of a datagram. The bytes of the
    /// incomplete frame are returned as `noise`. After this call, call `next` until it returns nil.
    public mutating func abandon() {
        guard start < buffer.count else { return }
        noise.append(buffer[start])
        counters.noiseBytes &+= 1
        start += 1
    }

    /// Returns the next item; nil if more bytes are needed.
    public mutating func next() -> Item? {
        while start < buffer.count {
            switch look() {
            case .incomplete: return takeNoise()
            case .found(let item, let length):
                // Bytes before a frame are returned first, as `noise`. The next call returns the
                // frame.
                if let noise = takeNoise() { return noise }
                count(item)
                start += length
                return item
            case .notAFrame:
                noise.append(buffer[start])
                counters.noiseBytes &+= 1
                start += 1
                if noise.count >= MAVLinkFrame.longest { return takeNoise() }
            }
        }
        return takeNoise()
    }

    private enum Finding {
        case incomplete
        case notAFrame
        case found(Item, length: Int)
    }

    private mutating func takeNoise() -> Item? {
        guard !noise.isEmpty else { return nil }
        defer { noise = [] }
        return .noise(bytes: noise)
    }

    private mutating func look() -> Finding {
        let bytes = buffer[start...]
        let header: Int
        switch bytes[start] {
        case 0xFE: header = 6
        case 0xFD: header = 10
        default: return .notAFrame
        }
        guard bytes.count >= header else { return .incomplete }
        let isSigned = header == 10 && bytes[start + 2] & MAVLinkSignature.flag != 0
        // If an incompatibility flag other than the signature flag is set, the format of the
        // following bytes is unknown.
        if header == 10, bytes[start + 2] & ~MAVLinkSignature.flag != 0 { return .notAFrame }
        let payload = header + Int(bytes[start + 1])
        let length = payload + 2 + (isSigned ? MAVLinkSignature.size : 0)
        guard bytes.count >= length else { return .incomplete }
        let frame = Self.frame(bytes.prefix(payload), header: header)
        guard let format = MAVLinkCatalogue.format(frame.id) else {
            let next = start + length
            let isLast = next == buffer.count
            guard isLast || buffer[next] == 0xFD || buffer[next] == 0xFE else { return .notAFrame }
            return .found(.unknown(bytes: Array(bytes.prefix(length))), length: length)
        }
        var crc = MAVLinkCRC()
        crc.add(bytes[(start + 1)..<(start + payload)])
        crc.add(format.crcExtra)
        let found = UInt16(bytes[start + payload]) | UInt16(bytes[start + payload + 1]) << 8
        guard crc.value == found else {
            counters.badChecksums &+= 1
            return .notAFrame
        }
        return .found(.frame(frame, bytes: Array(bytes.prefix(length))), length: length)
    }

    private static func frame(_ bytes: ArraySlice<UInt8>, header: Int) -> MAVLinkFrame {
        let from = bytes.startIndex
        let payload = Array(bytes.dropFirst(header))
        if header == 6 {
            return MAVLinkFrame(
                version: .v1, sequence: bytes[from + 2],
                sender: MAVLinkAddress(system: bytes[from + 3], component: bytes[from + 4]),
                id: UInt32(bytes[from + 5]), payload: payload)
        }
        let id =
            UInt32(bytes[from + 7]) | UInt32(bytes[from + 8]) << 8 | UInt32(bytes[from + 9]) << 16
        return MAVLinkFrame(
            version: .v2, sequence: bytes[from + 4],
            sender: MAVLinkAddress(system: bytes[from + 5], component: bytes[from + 6]),
            id: id, payload: payload)
    }

    private mutating func count(_ item: Item) {
        switch item {
        case .frame(let frame, _):
            counters.frames &+= 1
            note(frame)
        case .unknown(let bytes):
            counters.unknown &+= 1
            // A sender numbers its frames of all kinds in one sequence.
            note(Self.frame(bytes[...], header: bytes[0] == 0xFE ? 6 : 10))
        case .noise: break
        }
    }

    /// Counts the frames that the sender has sent since its last frame, and that have not arrived.
    private mutating func note(_ frame: MAVLinkFrame) {
        if let last = sequences[frame.sender] {
            counters.lost &+= UInt64(frame.sequence &- last &- 1)
        }
        // The table has a limited size, because a peer could send frames with many false sender
        // addresses.
        if sequences.count >= 64, sequences[frame.sender] == nil { sequences = [:] }
        sequences[frame.sender] = frame.sequence
    }
}
