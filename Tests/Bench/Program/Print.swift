import PlainText

/// Prints a value to standard output, instead of Swift's own `print`. Control characters are
/// escaped. External text, such as a path or the name of a log, therefore cannot send control
/// sequences to the terminal.
///
/// - Parameter text: Value whose description is printed; the description can have several lines.
func print(_ text: Any) { Swift.print("\(text)".visibleLines) }
