/// One transmitted frame, without its checksum. All numbers are little-endian.
public struct MAVLinkFrame: Sendable, Equatable {
    /// Version of the frame format. Version 1 has message numbers up to 255 and no extension
    /// fields.
    public enum Version: Sendable {
        /// MAVLink 1: a frame starts with 0xFE.
        case v1
        /// MAVLink 2: a frame starts with 0xFD, and trailing zeros of the payload are omitted.
        case v2
    }

    /// The format of this frame.
    public var version: Version
    /// Sequence number of the sender's frames on this link.
    public var sequence: UInt8
    /// The sender.
    public var sender: MAVLinkAddress
    /// Message number, 24 bits.
    public var id: UInt32
    /// Transmitted payload. In MAVLink 2, the payload can be truncated.
    public var payload: [UInt8]

    /// Largest payload, bytes.
    public static let longestPayload = 255
    /// Largest frame, with header, checksum and signature, bytes.
    public static let longest = 10 + longestPayload + 2 + 13

    /// Creates a frame.
    public init(
        version: Version, sequence: UInt8, sender: MAVLinkAddress, id: UInt32, payload: [UInt8]
    ) {
        self.version = version
        self.sequence = sequence
        self.sender = sender
        self.id = id
        self.payload = payload
    }

    /// Creates a frame for a message.
    ///
    /// - Parameters:
    ///   - message: The message; for MAVLink 1 its number must be below 256.
    ///   - sender: The sender.
    ///   - sequence: Sequence number of the frame on this link.
    ///   - version: A version that the peer supports.
    public init(
        _ message: some MAVLinkMessage, from sender: MAVLinkAddress, sequence: UInt8,
        version: Version
    ) {
        let format = type(of: message).format
        var writer = MAVLinkWriter()
        var message = message
        message.visit(&writer)
        var payload = writer.bytes
        switch version {
        case .v1:
            precondition(format.id < 256, "\(format.name) cannot be sent over MAVLink 1")
            payload.removeLast(payload.count - format.size)
        case .v2:
            // The payload has at least one byte, even if all its bytes are zero.
            while payload.count > 1, payload.last == 0 { payload.removeLast() }
        }
        self.init(
            version: version, sequence: sequence, sender: sender, id: format.id, payload: payload)
    }

    /// Decodes the message in the frame; nil if the frame contains a message of another kind. The
    /// omitted bytes count as zero.
    public func message<Message: MAVLinkMessage>(_ type: Message.Type) -> Message? {
        guard id == Message.format.id else { return nil }
        var reader = MAVLinkReader(payload)
        var message = Message()
        message.visit(&reader)
        return message
    }

    /// Creates the bytes of the frame for transmission.
    ///
    /// - Parameters:
    ///   - crcExtra: CRC_EXTRA for this kind of message.
    ///   - announcesSignature: True if a signature follows the frame; only for MAVLink 2.
    /// - Returns: Header, payload and checksum.
    public func bytes(crcExtra: UInt8, announcesSignature: Bool = false) -> [UInt8] {
        var result: [UInt8]
        switch version {
        case .v1:
            result = [0xFE, UInt8(payload.count), sequence, sender.system, sender.component]
            result.append(UInt8(truncatingIfNeeded: id))
        case .v2:
            let flags = announcesSignature ? MAVLinkSignature.flag : 0
            result = [0xFD, UInt8(payload.count), flags, 0, sequence]
            result += [sender.system, sender.component]
            for shift in [0, 8, 16] as [UInt32] {
                result.append(UInt8(truncatingIfNeeded: id >> shift))
            }
        }
        result += payload
        var crc = MAVLinkCRC()
        crc.add(result.dropFirst())
        crc.add(crcExtra)
        result.append(UInt8(truncatingIfNeeded: crc.value))
        result.append(UInt8(truncatingIfNeeded: crc.value >> 8))
        return result
    }
}

extension MAVLinkMessage {
    /// Creates the bytes of a complete unsigned frame with this message.
    public func frame(
        from sender: MAVLinkAddress, sequence: UInt8, version: MAVLinkFrame.Version = .v2,
        announcesSignature: Bool = false
    ) -> [UInt8] {
        MAVLinkFrame(self, from: sender, sequence: sequence, version: version)
            .bytes(crcExtra: Self.format.crcExtra, announcesSignature: announcesSignature)
    }
}
