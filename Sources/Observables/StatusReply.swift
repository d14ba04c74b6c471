import FoundationEssentials
import GimbalCore
public import Realtime
public import Wire

/// Member of `status` that a declaration places there.
struct StatusMember: Sendable {
    /// Object of `status` that contains it: `estimator`; nil for `status` itself.
    var group: String?
    /// Name that ends with the unit, for example `gyro_bias_dps`.
    var name: String
    /// The value from a record; an unknown value if there is no record yet.
    var value: @Sendable (StabilizerSnapshot?) -> any Encodable & Sendable
}

/// Answer to `status`: the properties of `Status`, with the members of all declarations. `Status`
/// has a property only for each member that a program reads.
public struct StatusReply: Encodable, Sendable {
    private let status: Status
    private let snapshot: StabilizerSnapshot?

    /// Creates the answer.
    ///
    /// - Parameters:
    ///   - status: All values that are not declared.
    ///   - record: Newest record of the loop; nil until the loop has sent a record.
    public init(_ status: Status, _ record: TelemetryRecord?) {
        self.status = status
        snapshot = record?.snapshot
    }

    /// Encodes the properties, then each member; a member replaces the property of its name.
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

    /// The answer as a client reads it.
    public func decoded() throws -> Status {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .custom(MessageKey.encoding)
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .custom(MessageKey.decoding)
        return try decoder.decode(Status.self, from: encoder.encode(self))
    }
}
