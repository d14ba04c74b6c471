import GimbalCore
public import Wire

/// MAVLink 2 signing with one key (mavlink.io, "Message signing"): signs frames, and checks signatures and their times. Pure;
/// the time of day is an argument.
///
/// Each sender's times must grow on each of its links, so no frame counts twice. The first frame of a link may be a minute
/// older than the time of day and the newest that any frame had, but must be newer than all of an earlier run, whose links
/// are forgotten. Only rightly signed frames are remembered.
public struct MAVLinkSigning: Sendable {
    private struct Stream: Hashable {
        var sender: MAVLinkAddress
        var link: UInt8
    }

    /// A minute, in units of 10 µs.
    public static let minute: UInt64 = 6_000_000
    /// Links of all senders that are remembered.
    private static let mostStreams = 256
    /// 2015-01-01 in seconds since 1970.
    private static let epoch: Int64 = 1_420_070_400

    private let key: SharedKey
    private var streams: [Stream: UInt64] = [:]
    /// Newest time of an earlier run.
    private let floor: UInt64
    /// The newest time of a frame that was believed, units of 10 µs since 2015.
    private(set) var newest: UInt64
    /// The newest time that was signed, believed or told by the clock.
    private var timestamp: UInt64

    /// - Parameters:
    ///   - key: The key of genuine frames.
    ///   - newest: The newest time of an earlier run.
    public init(key: SharedKey, newest: UInt64 = 0) {
        self.key = key
        self.newest = newest
        floor = newest
        timestamp = newest
    }

    /// The time of day in units of 10 µs since 2015; 0 where the clock was never set.
    ///
    /// - Parameter seconds: Since 1970.
    /// - Returns: As signatures have it.
    public static func time(seconds: Double) -> UInt64 {
        UInt64(max(0, (seconds - Double(epoch)) * 1e5))
    }

    /// Looks whether a frame is genuine and was not heard before, and remembers it then.
    ///
    /// - Parameters:
    ///   - bytes: The whole frame.
    ///   - sender: The sender in its header.
    ///   - time: The time of day.
    ///   - admits: Whether the time of a genuine frame may be used by now, see `FreshnessFile`.
    /// - Returns: Whether it is.
    mutating func believes(
        _ bytes: [UInt8], from sender: MAVLinkAddress, time: UInt64,
        _ admits: (UInt64) -> Bool = { _ in true }
    ) -> Bool {
        guard let signature = MAVLinkSignature(frame: bytes) else { return false }
        timestamp = max(timestamp, time)
        let stream = Stream(sender: sender, link: signature.link)
        if let last = streams[stream] {
            guard signature.timestamp > last else { return false }
        } else {
            guard signature.timestamp > floor,
                signature.timestamp + Self.minute >= timestamp,
                streams.count < Self.mostStreams
            else { return false }
        }
        guard MAVLinkSignature.isRight(bytes, key: key), admits(signature.timestamp) else {
            return false
        }
        streams[stream] = signature.timestamp
        newest = max(newest, signature.timestamp)
        timestamp = max(timestamp, newest)
        return true
    }

    /// Signs a frame that announces a signature.
    mutating func sign(_ bytes: inout [UInt8], time: UInt64) {
        timestamp = max(timestamp &+ 1, time)
        MAVLinkSignature(link: 0, timestamp: timestamp).append(to: &bytes, key: key)
    }
}
