import Testing
import Wire

@Suite("MAVLink frames in a byte stream") struct MAVLinkParserTests {
    private static let sender = MAVLinkAddress(system: 255, component: 190)

    private static func heartbeat(_ sequence: UInt8, _ version: MAVLinkFrame.Version = .v2)
        -> [UInt8]
    {
        var message = Heartbeat()
        message.type = 6
        message.version = 3
        return message.frame(from: sender, sequence: sequence, version: version)
    }

    /// All items that the parser finds in the bytes received so far.
    private static func items(_ parser: inout MAVLinkParser) -> [MAVLinkParser.Item] {
        var result: [MAVLinkParser.Item] = []
        while let item = parser.next() { result.append(item) }
        return result
    }

    private static func sequences(_ items: [MAVLinkParser.Item]) -> [UInt8] {
        items.compactMap { if case .frame(let frame, _) = $0 { frame.sequence } else { nil } }
    }

    @Test("frames of MAVLink 1 and 2 are found if they arrive in pieces", arguments: 1...25)
    func cuts(length: Int) {
        let stream = Self.heartbeat(0) + Self.heartbeat(1, .v1) + Self.heartbeat(2)
        var parser = MAVLinkParser()
        var found: [UInt8] = []
        for from in stride(from: 0, to: stream.count, by: length) {
            parser.append(stream[from..<min(from + length, stream.count)])
            found += Self.sequences(Self.items(&parser))
        }
        #expect(found == [0, 1, 2])
        #expect(parser.pending == 0)
        #expect(parser.counters.noiseBytes == 0)
    }

    @Test("a truncated frame is abandoned without losing the next frame")
    func truncations() {
        let frame = Self.heartbeat(7)
        for length in 1..<frame.count {
            var parser = MAVLinkParser()
            parser.append(frame.prefix(length) + Self.heartbeat(8))
            var found = Self.sequences(Self.items(&parser))
            while parser.pending > 0 {
                parser.abandon()
                found += Self.sequences(Self.items(&parser))
            }
            #expect(found == [8], "cut after \(length)")
        }
    }

    @Test("a frame with one flipped bit is never accepted")
    func flips() {
        let frame = Self.heartbeat(7)
        for bit in 0..<frame.count * 8 {
            var damaged = frame
            damaged[bit / 8] ^= 1 << (bit % 8)
            var parser = MAVLinkParser()
            parser.append(damaged + Self.heartbeat(8))
            var found = Self.sequences(Self.items(&parser))
            while parser.pending > 0 {
                parser.abandon()
                found += Self.sequences(Self.items(&parser))
            }
            #expect(!found.contains(7), "bit \(bit)")
            // A flipped bit in the message ID makes an unknown message without a known checksum.
            #expect(found == [8], "bit \(bit)")
        }
    }

    @Test("a wrong checksum is counted, and the next frame is found")
    func checksum() {
        var damaged = Self.heartbeat(3)
        damaged[12] ^= 1
        var parser = MAVLinkParser()
        parser.append(damaged + Self.heartbeat(4))
        #expect(Self.sequences(Self.items(&parser)) == [4])
        #expect(parser.counters.badChecksums == 1)
    }

    @Test("noise and unknown messages are passed on unchanged and in order")
    func passesOn() {
        // The message ID 0x7FFFFF is not defined.
        let unknown: [UInt8] = [0xFD, 1, 0, 0, 0, 1, 1, 0xFF, 0xFF, 0x7F, 42, 1, 2]
        let stream = [0x41, 0x42] + Self.heartbeat(0) + unknown + Self.heartbeat(1) + [0x43]
        var parser = MAVLinkParser()
        parser.append(stream)
        let items = Self.items(&parser)
        let bytes = items.flatMap { item in
            switch item {
            case .frame(_, let bytes), .unknown(let bytes), .noise(let bytes): bytes
            }
        }
        #expect(bytes == stream)
        #expect(parser.counters.unknown == 1)
        #expect(parser.counters.noiseBytes == 3)
    }

    @Test("a signed frame is accepted; a frame with other incompatibility flags is not")
    func incompatible() {
        var signed = Self.heartbeat(5)
        signed[2] = 1
        signed.removeLast(2)
        var crc = MAVLinkCRC()
        crc.add(signed.dropFirst())
        crc.add(Heartbeat.format.crcExtra)
        signed += [UInt8(crc.value & 0xFF), UInt8(crc.value >> 8)]
        signed += [UInt8](repeating: 9, count: 13)
        var strange = Self.heartbeat(6)
        strange[2] = 2
        var parser = MAVLinkParser()
        parser.append(signed + strange + Self.heartbeat(7))
        #expect(Self.sequences(Self.items(&parser)) == [5, 7])
    }

    @Test("frames of unknown messages are not counted as lost, but their gaps are")
    func unknownSequences() {
        func unknown(_ sequence: UInt8, _ version: MAVLinkFrame.Version) -> [UInt8] {
            // The message IDs 0x7FFFFF and 0xFF are not defined.
            version == .v1
                ? [0xFE, 1, sequence, 255, 190, 0xFF, 42, 1, 2]
                : [0xFD, 1, 0, 0, sequence, 255, 190, 0xFF, 0xFF, 0x7F, 42, 1, 2]
        }
        for version in [MAVLinkFrame.Version.v1, .v2] {
            var parser = MAVLinkParser()
            let complete =
                Self.heartbeat(254, version) + unknown(255, version) + unknown(0, version)
                + Self.heartbeat(1, version)
            parser.append(complete)
            _ = Self.items(&parser)
            #expect(parser.counters.unknown == 2 && parser.counters.lost == 0)
            parser.append(unknown(4, version) + Self.heartbeat(5, version))
            _ = Self.items(&parser)
            #expect(parser.counters.lost == 2)
        }
    }

    @Test("lost frames are counted from gaps in the sequence numbers")
    func losses() {
        var parser = MAVLinkParser()
        for sequence in [254, 255, 0, 3] as [UInt8] {
            parser.append(Self.heartbeat(sequence))
            _ = Self.items(&parser)
        }
        #expect(parser.counters.lost == 2)
    }
}
