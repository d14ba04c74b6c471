import PlainText

/// Standard output of the benches, in the place of Swift's own `print`: paths, names of logs and
/// errors that quote them cannot steer the terminal.
///
/// - Parameter text: Anything, as its description; may have several lines.
func print(_ text: Any) { Swift.print("\(text)".visibleLines) }
