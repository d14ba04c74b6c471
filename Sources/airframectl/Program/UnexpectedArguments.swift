import ArgumentParser
import PlainText

/// Arguments that a command does not have. Without this group, ArgumentParser would first run
/// `validate()`, so a command whose options are all optional would report missing options instead
/// of the misspelled one.
struct UnexpectedArguments: ParsableArguments {
    @Argument(parsing: .allUnrecognized, help: .private)
    var words: [String] = []

    /// Reports the first unexpected argument.
    ///
    /// - Parameter names: Options of the command without `--`, for a suggestion.
    /// - Throws: `ValidationError` if there is an unexpected argument.
    func refuse(options names: [String]) throws {
        guard let word = words.first else { return }
        let name = String(word.drop { $0 == "-" }.prefix { $0 != "=" })
        let guess = Suggestion.nearest(to: name, in: names).map { " Did you mean --\($0)?" } ?? ""
        let kind = word.hasPrefix("-") ? "Unknown option" : "Unexpected argument"
        throw ValidationError("\(kind) '\(word)'.\(guess)")
    }
}
