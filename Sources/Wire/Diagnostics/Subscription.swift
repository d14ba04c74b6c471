/// The answer to `subscribe` and `unsubscribe`.
public struct SubscriptionInfo: Hashable, Sendable, Codable {
    /// ID of the subscription, as in its messages; unique within the connection.
    public var subscription: Int
    /// Number of messages per second.
    public var rateHz: Number
    /// Names of the variables in each message.
    public var names: [String]
    /// Number of messages that were dropped because the client did not read fast enough.
    public var dropped: Int

    /// Creates a description.
    public init(subscription: Int, rateHz: Number, names: [String], dropped: Int) {
        self.subscription = subscription
        self.rateHz = rateHz
        self.names = names
        self.dropped = dropped
    }
}

/// Message of a stream, as one line:
/// `{"subscription":1,"t":12.5,"dropped":0,"values":{"attitude.pitch":-29.9}}`.
public struct SubscriptionMessage: Hashable, Sendable, Codable {
    /// ID of the message's subscription.
    public var subscription: Int
    /// Time of the variables' values on the loop's clock, s.
    public var t: Number
    /// Number of messages of this stream that were dropped because the client did not read fast
    /// enough.
    public var dropped: Int
    /// The values of the variables, by name; unknown numbers are `null`.
    public var values: [String: JSONValue]

    /// Creates a message.
    public init(subscription: Int, t: Number, dropped: Int, values: [String: JSONValue]) {
        self.subscription = subscription
        self.t = t
        self.dropped = dropped
        self.values = values
    }

    /// Appends the message as one line with its newline.
    public func write(to bytes: inout [UInt8]) {
        bytes += "{\"subscription\":\(subscription),\"t\":".utf8
        JSONValue.write(t.value, to: &bytes)
        bytes += ",\"dropped\":\(dropped),\"values\":".utf8
        JSONValue.object(values).write(to: &bytes)
        bytes += "}\n".utf8
    }
}

/// Variable for `subscribe`.
public struct Variable: Hashable, Sendable, Codable {
    /// Dotted name of the variable, such as `attitude.pitch`.
    public var name: String
    /// Unit of the variable for display; empty without a unit.
    public var unit: String
    /// Short description of the variable.
    public var summary: String

    /// Creates a variable with the given description.
    public init(name: String, unit: String, summary: String) {
        self.name = name
        self.unit = unit
        self.summary = summary
    }
}
