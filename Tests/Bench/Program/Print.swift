import PlainText

/// Standard output of the benches, instead of Swift's own `print`. Paths, names of logs and errors
/// that quote them cannot send control sequences to the terminal.
///
/// - Parameter text: Prints the description of a value, which can have several lines.
func print(_ text: Any) { Swift.print("\(text)".visibleLines) }
