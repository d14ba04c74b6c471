/// Index of a chunk's messages: the records that follow the chunk in a file, one for each channel.
struct MCAPMessageIndex {
    /// Time and position of each message, in the binary format of the index records.
    struct Entries {
        fileprivate var channels: [UInt16: [UInt8]] = [:]

        /// Adds a message.
        ///
        /// - Parameters:
        ///   - channel: ID of the message's channel.
        ///   - time: The message's `log_time`, ns.
        ///   - offset: Position of the message's record in the uncompressed chunk, bytes.
        mutating func add(channel: UInt16, time: Int64, offset: Int) {
            channels[channel, default: []].appendInteger(time)
            channels[channel, default: []].appendInteger(UInt64(offset))
        }

        /// Removes all entries, and keeps the memory for new entries.
        mutating func removeAll() {
            for channel in channels.keys { channels[channel]?.removeAll(keepingCapacity: true) }
        }
    }

    /// Length of an entry, bytes; an entry consists of a time and a position.
    static let entrySize = 16

    /// The index records.
    let bytes: [UInt8]
    /// Position of each channel's record in `bytes`.
    let offsets: [UInt16: Int]
    /// Number of messages by channel.
    let counts: [UInt16: Int]

    /// Creates the index records of the messages.
    init(_ entries: Entries) {
        var bytes: [UInt8] = []
        var offsets: [UInt16: Int] = [:]
        let channels = entries.channels.filter { !$0.value.isEmpty }
        for (channel, list) in channels.sorted(by: { $0.key < $1.key }) {
            offsets[channel] = bytes.count
            bytes.appendRecord(.messageIndex) { bytes in
                bytes.appendInteger(channel)
                bytes.appendInteger(UInt32(list.count))
                bytes += list
            }
        }
        self.bytes = bytes
        self.offsets = offsets
        counts = channels.mapValues { $0.count / Self.entrySize }
    }
}
