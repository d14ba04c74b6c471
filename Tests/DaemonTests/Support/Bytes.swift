extension String {
    /// Returns the text without the trailing characters for which `isUnwanted` is true.
    func trimmingSuffix(_ isUnwanted: (Character) -> Bool) -> String {
        var rest = self[...]
        while let last = rest.last, isUnwanted(last) { rest.removeLast() }
        return String(rest)
    }
}
