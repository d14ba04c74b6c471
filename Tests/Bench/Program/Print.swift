import PlainText

/// Prints a value to standard output, instead of Swift's own `print`. Control characters are made
/// visible, so that a path, the name of a log or an error that quotes them cannot send control
/// sequences to the terminal.
///
/// - Parameter text: Value whose description is printed; the description can have several lines.
func print(_ text: Any) { Swift.print("\(text)".visibleLines) }
