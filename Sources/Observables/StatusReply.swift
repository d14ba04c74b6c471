import FoundationEssentials
import GimbalCore
public import Realtime
public import Wire

/// Member of `status` that an observable declares.
struct StatusMember: Sendable {
    /// Object of `status` that contains the member, such as `estimator`; nil means the top level.
    var group: String?
    /// Name that ends with the unit, for example `gyro_bias_dps`.
    var name: String
    /// Function that reads the value from a snapshot. Without a snapshot, the value is unknown.
    var value: @Sendable (StabilizerSnapshot?) -> any Encodable & Sendable
}

/// Reply to the command `status`: the properties of `Status`, and the members that the observables
/// declare. `Status` has properties only for the members that a program reads.
public struct StatusReply: Encodable, Sendable {
    private let status: Status
    private let snapshot: StabilizerSnapshot?

    /// Creates the reply.
    ///
    /// - Parameters:
    ///   - status: Values that no observable declares.
    ///   - record: Newest record of the loop; nil until the loop has sent a record. Before the first
    ///     sample, a record contains initial values, so the values of the observables are unknown.
    public init(_ status: Status, _ record: TelemetryRecord?) {
        self.status = status
        snapshot = record.flatMap { $0.snapshot.samples.accepted > 0 ? $0.snapshot : nil }
    }

    /// Encodes the properties of `Status`, then the member of each observable. A member replaces a
    /// property with the same name.
    public func encode(to encoder: any Encoder) throws {
        try status.encode(to: encoder)
        var whole = encoder.container(keyedBy: MessageKey.self)
        for member in Observable.all.compactMap(\.member) {
            let (key, value) = (MessageKey(stringValue: member.name), member.value(snapshot))
            if let group = member.group {
                var part = whole.nestedContainer(
                    keyedBy: MessageKey.self, forKey: MessageKey(stringValue: group))
                try part.encode(value, forKey: key)
            } else {
                try whole.encode(value, forKey: key)
            }
        }
    }

    /// Encode the reply, and decode it as a client does.
    public func decoded() throws -> Status {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .custom(MessageKey.encoding)
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .custom(MessageKey.decoding)
        return try decoder.decode(Status.self, from: encoder.encode(self))
    }
}
