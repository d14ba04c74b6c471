public import Port

/// Reply line, decoded by a client: `{"id":…,"t":…,"result":…}` or `{"id":…,"t":…,"error":{…}}`.
public struct Reply<Result: Decodable & Sendable>: Decodable, Sendable {
    /// The ID of the request.
    public var id: JSONValue?
    /// Time of the answer, seconds on the loop's clock.
    public var t: Number?
    /// The answer; nil if there was an error.
    public var result: Result?
    /// The refusal; nil if there was no error.
    public var error: RequestError?
}

/// Functions that compose the reply lines of a server.
public enum ReplyLine {
    /// Appends a reply with its newline.
    ///
    /// - Parameters:
    ///   - id: The ID of the request.
    ///   - t: Time of the answer on the loop's clock, s.
    ///   - result: The encoded result: one JSON text without newline.
    ///   - bytes: Buffer to which the line is appended.
    public static func append(
        id: JSONValue, t: Number, result: some Sequence<UInt8>, to bytes: inout [UInt8]
    ) {
        head(id: id, t: t, to: &bytes)
        bytes += "\"result\":".utf8
        bytes += result
        bytes += "}\n".utf8
    }

    /// Appends a refusal with its newline.
    ///
    /// - Parameters:
    ///   - id: The ID of the request; `null` if it could not be read.
    ///   - t: Time of the answer on the loop's clock, s.
    ///   - error: The refusal.
    ///   - bytes: Buffer to which the line is appended.
    public static func append(
        id: JSONValue, t: Number, error: Refusal, to bytes: inout [UInt8]
    ) {
        head(id: id, t: t, to: &bytes)
        bytes += "\"error\":".utf8
        RequestError(error).json.write(to: &bytes)
        bytes += "}\n".utf8
    }

    private static func head(id: JSONValue, t: Number, to bytes: inout [UInt8]) {
        bytes += "{\"id\":".utf8
        id.write(to: &bytes)
        bytes += ",\"t\":".utf8
        JSONValue.write(t.value, to: &bytes)
        bytes.append(UInt8(ascii: ","))
    }
}
