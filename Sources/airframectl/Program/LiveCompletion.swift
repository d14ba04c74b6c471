import ArgumentParser
import Client
import Wire

/// Shell completions with values from the running daemon. Without a running daemon, the completions
/// are empty.
enum LiveCompletion {
    /// Timeout of a request to the daemon, s: a short time, because the user waits for the
    /// completion.
    private static let timeout = 1.0

    /// Keys and tables of settings.
    static let keysAndTables = CompletionKind.custom { words, _, _ in
        let keys = keys(words)
        let tables = keys.flatMap { key in
            let parts = key.split(separator: ".")
            return parts.indices.dropLast().map { parts[...$0].joined(separator: ".") }
        }
        return Array(Set(keys + tables)).sorted()
    }

    /// Keys of settings.
    static let keys = CompletionKind.custom { words, _, _ in keys(words) }

    /// Completions for a setting's value: its current value, or its permitted values. The setting's
    /// key is the previous word.
    static let value = CompletionKind.custom { words, index, _ in
        guard index > 0, index <= words.count else { return [] }
        let params: [String: JSONValue] = ["keys": [.string(words[index - 1])]]
        guard let setting = ask("get", params, words)?.array?.first else { return [] }
        guard ["bool", "choice"].contains(setting["type"]?.string) else {
            return [setting["value"].map { $0.string ?? $0.text } ?? ""]
        }
        return (setting["range"]?.string ?? "").split(separator: " | ").map(String.init)
    }

    /// Names of baselines.
    static let baselines = CompletionKind.custom { words, _, _ in
        ask("baseline", ["action": "list"], words)?["names"]?.array?.compactMap(\.string) ?? []
    }

    /// Names of the variables for streams.
    static let variables = CompletionKind.custom { words, _, _ in
        ask("variables", [:], words)?.array?.compactMap { $0["name"]?.string } ?? []
    }

    private static func keys(_ words: [String]) -> [String] {
        ask("keys", [:], words)?.array?.compactMap { $0["key"]?.string } ?? []
    }

    private static func ask(
        _ method: String, _ params: [String: JSONValue], _ words: [String]
    ) -> JSONValue? {
        // The command line can contain another socket's path.
        let option = words.firstIndex(of: "--socket").map { words.index(after: $0) }
        let path =
            option.flatMap { words.indices.contains($0) ? words[$0] : nil }
            ?? words.first { $0.hasPrefix("--socket=") }.map { String($0.dropFirst(9)) }
            ?? GlobalOptions.usualSocket
        return try? DaemonClient(path: unquoted(path), timeout: timeout).json(method, params)
    }

    /// A word of a command line without its quotes and backslashes. Bash and zsh pass the words as
    /// the user typed them.
    private static func unquoted(_ word: String) -> String {
        var result = ""
        var quote: Character?
        var isEscaped = false
        for character in word {
            if isEscaped {
                result.append(character)
                isEscaped = false
            } else if character == "\\", quote != "'" {
                isEscaped = true
            } else if character == quote {
                quote = nil
            } else if quote == nil, character == "'" || character == "\"" {
                quote = character
            } else {
                result.append(character)
            }
        }
        return result
    }
}
