import GimbalCore
public import Wire

/// Signer of MAVLink 2 frames with one key (mavlink.io, "Message signing"). The signer signs
/// frames, and checks signatures and their times. The type reads no clock; callers pass the time of
/// day as an argument.
///
/// The times of a sender must increase on each of its links, so no frame is accepted twice. The
/// time of the first frame on a link must be at most one minute older than the time of day. The
/// time must also be at most one minute older than the newest time of all frames. The signer does
/// not know the links that an earlier process used. Therefore the first frame on a link must also
/// be newer than all frames that an earlier process has accepted. The signer stores the time of a
/// frame only if the frame has a valid signature.
///
/// The number of stored links is limited, and some ground stations choose another link at each
/// connection. Therefore a new link replaces the link with the oldest time, if a first frame with
/// this time is refused.
public struct MAVLinkSigning: Sendable {
    private struct Stream: Hashable {
        var sender: MAVLinkAddress
        var link: UInt8
    }

    /// One minute, in units of 10 µs, the unit of the times in signatures.
    public static let minute: UInt64 = 6_000_000
    /// Largest number of links whose times are stored, for all senders together.
    private static let mostStreams = 256
    /// Epoch of the times in signatures: 2015-01-01, in seconds since 1970.
    private static let epoch: Int64 = 1_420_070_400

    private let key: SharedKey
    private var streams: [Stream: UInt64] = [:]
    /// Newest signature time that an earlier run of airframed has accepted.
    private let floor: UInt64
    /// Newest time of an accepted frame, units of 10 µs since 2015.
    private(set) var newest: UInt64
    /// Newest of two times: the last signed frame and the last accepted frame. The times of signed
    /// frames must increase, even if the clock is set back.
    private var timestamp: UInt64

    /// Creates a signer.
    ///
    /// - Parameters:
    ///   - key: Key with which genuine frames are signed.
    ///   - newest: The newest signature time that an earlier run of airframed has accepted.
    public init(key: SharedKey, newest: UInt64 = 0) {
        self.key = key
        self.newest = newest
        floor = newest
        timestamp = newest
    }

    /// Converts the time of day to units of 10 µs since 2015; 0 if the clock was never set.
    ///
    /// - Parameter seconds: Seconds since 1970.
    /// - Returns: Time in units of 10 µs since 2015, as in signatures.
    public static func time(seconds: Double) -> UInt64 {
        UInt64(max(0, (seconds - Double(epoch)) * 1e5))
    }

    /// Checks that a frame is genuine and new, and then stores its time.
    ///
    /// - Parameters:
    ///   - bytes: The whole received frame.
    ///   - sender: The sender in the frame's header.
    ///   - time: The time of day, in units of 10 µs since 2015.
    ///   - admits: Function that returns true if the time of a genuine frame can be accepted now,
    ///     see `FreshnessFile`.
    /// - Returns: True if the signature is valid and the frame's time is new.
    mutating func accepts(
        _ bytes: [UInt8], from sender: MAVLinkAddress, time: UInt64,
        _ admits: (UInt64) -> Bool = { _ in true }
    ) -> Bool {
        guard let signature = MAVLinkSignature(frame: bytes) else { return false }
        let stream = Stream(sender: sender, link: signature.link)
        var replaced: Stream?
        if let last = streams[stream] {
            guard signature.timestamp > last else { return false }
        } else {
            // An earlier reading of the clock does not count, because the clock can have been
            // ahead until the network corrected it.
            guard signature.timestamp > floor,
                signature.timestamp + Self.minute >= max(time, newest)
            else { return false }
            if streams.count >= Self.mostStreams {
                guard let oldest = streams.min(by: { $0.value < $1.value }),
                    oldest.value + Self.minute < max(newest, signature.timestamp)
                else { return false }
                replaced = oldest.key
            }
        }
        guard MAVLinkSignature.isRight(bytes, key: key), admits(signature.timestamp) else {
            return false
        }
        if let replaced { streams[replaced] = nil }
        streams[stream] = signature.timestamp
        newest = max(newest, signature.timestamp)
        timestamp = max(timestamp, newest)
        return true
    }

    /// Signs a frame whose header announces a signature.
    mutating func sign(_ bytes: inout [UInt8], time: UInt64) {
        timestamp = max(timestamp &+ 1, time)
        MAVLinkSignature(link: 0, timestamp: timestamp).append(to: &bytes, key: key)
    }
}
