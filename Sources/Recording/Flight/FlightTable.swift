/// Table of one channel of a recording: comma-separated values, with the names of the fields in the
/// first line.
public enum FlightTable {
    /// Channels that are available as a table.
    public enum Channel: String, CaseIterable, Sendable {
        case tick, sample, command, event
    }

    /// Writes the table of a channel.
    ///
    /// - Parameters:
    ///   - channel: Channel of the table.
    ///   - file: The recording.
    ///   - write: Function that receives UTF-8 text; each call passes whole lines.
    /// - Returns: Number of rows after the header line, and the readable part of the file.
    /// - Throws: The errors of `write`.
    public static func write<Failure: Error>(
        _ channel: Channel, of file: FlightFile, to write: ([UInt8]) throws(Failure) -> Void
    ) throws(Failure) -> (lines: Int, outcome: MCAPReader.Outcome) {
        var buffer = channel.header
        var lines = 0
        var failure: Failure?
        let outcome = file.read { record, time in
            let row: TableRow?
            switch (channel, record) {
            case (.tick, .tick(var message)): row = TableRow(&message, time)
            case (.sample, .sample(var message)): row = TableRow(&message, time)
            case (.command, .command(var message)): row = TableRow(&message, time)
            case (.event, .event(var message)): row = TableRow(&message, time)
            default: row = nil
            }
            guard let row else { return true }
            buffer += row.line
            lines += 1
            guard buffer.count > 1 << 16 else { return true }
            do throws(Failure) {
                try write(buffer)
            } catch {
                failure = error
                return false
            }
            buffer.removeAll(keepingCapacity: true)
            return true
        }
        if let failure { throw failure }
        if !buffer.isEmpty { try write(buffer) }
        return (lines, outcome)
    }
}

extension FlightTable.Channel {
    /// First line of the channel's table, with the names of the columns.
    fileprivate var header: [UInt8] {
        func line(_ message: some RecordedMessage) -> [UInt8] {
            var message = message
            let names = TableRow(&message, 0).names
            return Array("time_ns,\(names.joined(separator: ","))\n".utf8)
        }
        return switch self {
        case .tick: line(TickMessage())
        case .sample: line(SampleMessage())
        case .command: line(CommandMessage())
        case .event: line(EventMessage())
        }
    }
}

/// The fields of one message as text.
private struct TableRow: FieldVisitor {
    private(set) var names: [String] = []
    private(set) var line: [UInt8] = []

    init(_ message: inout some RecordedMessage, _ time: Int64) {
        line += time.description.utf8
        message.visit(&self)
        line.append(UInt8(ascii: "\n"))
    }

    private mutating func put(_ name: FieldName, _ text: String) {
        names.append(name.text)
        line.append(UInt8(ascii: ","))
        line += text.utf8
    }

    mutating func double(_ name: FieldName, _ number: Int, _ value: inout Double) {
        put(name, value.description)
    }

    mutating func float(_ name: FieldName, _ number: Int, _ value: inout Float) {
        put(name, value.description)
    }

    mutating func integer(_ name: FieldName, _ number: Int, _ value: inout Int64) {
        put(name, value.description)
    }

    mutating func bits(_ name: FieldName, _ number: Int, _ value: inout UInt64) {
        put(name, value.description)
    }

    mutating func count(_ name: FieldName, _ number: Int, _ value: inout UInt32) {
        put(name, value.description)
    }

    mutating func flag(_ name: FieldName, _ number: Int, _ value: inout Bool) {
        put(name, value ? "1" : "0")
    }

    mutating func choice(
        _ name: FieldName, _ number: Int, _ words: FieldWords, _ value: inout UInt32
    ) {
        let index = Int(value)
        put(name, index < words.words.count ? words.words[index] : value.description)
    }

    mutating func text(_ name: FieldName, _ number: Int, _ value: inout String) {
        let parts = value.split(separator: "\"", omittingEmptySubsequences: false)
        put(name, "\"" + parts.joined(separator: "\"\"") + "\"")
    }

    mutating func block(_ name: FieldName, _ number: Int, _ value: inout [UInt8]) {
        put(name, "")
    }
}
