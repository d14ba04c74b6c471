import CYAML
import Client

/// Reader of the keys and values of a YAML file, with libyaml.
enum YAMLFile {
    /// A key and its value.
    struct Entry: Equatable {
        /// Dotted path of the key, such as `motors.i2c_bus`.
        var path: String
        /// Text of the value; a sequence is written as `[640, 480]`.
        var value: String
        /// Line of the key; the first line is 1.
        var line: Int
    }

    /// Largest number of keys, and of nested levels.
    private static let most = (entries: 1000, levels: 16)

    /// Reads the entries of a text, in order.
    ///
    /// - Parameters:
    ///   - bytes: The text.
    ///   - file: Name of the file in messages.
    /// - Returns: The keys with their values.
    /// - Throws: An error with the line if the text is not YAML, if its first level is not a
    ///   mapping, or if it contains aliases, too many keys or duplicate keys.
    static func entries(of bytes: [UInt8], file: String) throws(ClientError) -> [Entry] {
        var parser = yaml_parser_t()
        guard yaml_parser_initialize(&parser) == 1 else {
            throw .file("\(file): there is not enough memory to read the file.", field: "file")
        }
        defer { yaml_parser_delete(&parser) }
        var collector = Collector(file: file)
        // libyaml reads the bytes during the parsing, so the parsing runs inside the closure.
        let failure: ClientError? = bytes.withUnsafeBufferPointer { text in
            yaml_parser_set_input_string(&parser, text.baseAddress, text.count)
            do throws(ClientError) {
                while try step(&parser, &collector) {}
                return nil
            } catch {
                return error
            }
        }
        if let failure { throw failure }
        return collector.entries
    }

    /// Parses one event; returns false after the last one.
    private static func step(
        _ parser: inout yaml_parser_t, _ collector: inout Collector
    ) throws(ClientError) -> Bool {
        var event = yaml_event_t()
        guard yaml_parser_parse(&parser, &event) == 1 else {
            let problem = parser.problem.map { String(cString: $0) } ?? "the text is not YAML"
            throw collector.error(problem, line: Int(parser.problem_mark.line) + 1)
        }
        defer { yaml_event_delete(&event) }
        let line = Int(event.start_mark.line) + 1
        switch event.type {
        case YAML_STREAM_END_EVENT: return false
        case YAML_DOCUMENT_START_EVENT: try collector.beginDocument(line: line)
        case YAML_MAPPING_START_EVENT: try collector.begin(.mapping, line: line)
        case YAML_SEQUENCE_START_EVENT: try collector.begin(.sequence, line: line)
        case YAML_MAPPING_END_EVENT, YAML_SEQUENCE_END_EVENT: try collector.end()
        case YAML_ALIAS_EVENT:
            throw collector.error("aliases (*NAME) are not supported", line: line)
        case YAML_SCALAR_EVENT:
            let scalar = event.data.scalar
            let text = UnsafeBufferPointer(start: scalar.value, count: scalar.length)
            try collector.scalar(String(decoding: text, as: UTF8.self), line: line)
        default: break
        }
        return true
    }

    /// Collector of the entries from the parser's events.
    private struct Collector {
        enum Kind { case mapping, sequence }

        private struct Level {
            var kind: Kind
            /// The key whose value comes next; nil before a key.
            var key: (name: String, line: Int)?
            /// Elements of a sequence.
            var elements: [String] = []
        }

        let file: String
        private(set) var entries: [Entry] = []
        private var levels: [Level] = []
        private var documents = 0
        private var seen: Set<String> = []

        init(file: String) { self.file = file }

        func error(_ problem: String, line: Int) -> ClientError {
            .file("\(file):\(line): \(problem).", field: "file")
        }

        mutating func beginDocument(line: Int) throws(ClientError) {
            documents += 1
            if documents > 1 { throw error("the file contains two documents", line: line) }
        }

        mutating func begin(_ kind: Kind, line: Int) throws(ClientError) {
            guard levels.count < most.levels else { throw error("too many levels", line: line) }
            if levels.isEmpty, kind != .mapping {
                throw error("the file must contain keys with values", line: line)
            }
            if kind == .mapping, let last = levels.last, last.kind == .mapping, last.key == nil {
                throw error(
                    "this key is a list or a mapping; write a string as the key", line: line)
            }
            levels.append(Level(kind: kind))
        }

        mutating func end() throws(ClientError) {
            guard let ended = levels.popLast(), !levels.isEmpty else { return }
            if ended.kind == .sequence {
                try value("[\(ended.elements.joined(separator: ", "))]", line: 0)
            } else if levels[levels.count - 1].kind == .mapping {
                levels[levels.count - 1].key = nil
            } else {
                levels[levels.count - 1].elements.append("{…}")
            }
        }

        mutating func scalar(_ text: String, line: Int) throws(ClientError) {
            guard let last = levels.last else {
                // An empty file contains one empty scalar.
                if text.isEmpty { return }
                throw error("the file must contain keys with values", line: line)
            }
            if last.kind == .mapping, last.key == nil {
                levels[levels.count - 1].key = (text, line)
            } else {
                try value(text, line: line)
            }
        }

        /// Adds a value to the innermost mapping or sequence.
        private mutating func value(_ text: String, line: Int) throws(ClientError) {
            let last = levels.count - 1
            guard levels[last].kind == .mapping else {
                levels[last].elements.append(text)
                return
            }
            guard let key = levels[last].key else {
                throw error(
                    "this key is a list or a mapping; write a string as the key", line: line)
            }
            let path = levels.compactMap(\.key?.name).joined(separator: ".")
            levels[last].key = nil
            // Keys of mappings within a sequence have no path of their own.
            guard !levels.contains(where: { $0.kind == .sequence }) else { return }
            guard seen.insert(path).inserted else {
                throw error("the key \(path) appears twice", line: key.line)
            }
            guard entries.count < most.entries else { throw error("too many keys", line: key.line) }
            entries.append(Entry(path: path, value: text, line: key.line))
        }
    }
}
