extension String {
    /// Without the characters at the end that are as described.
    func trimmingSuffix(_ isUnwanted: (Character) -> Bool) -> String {
        var rest = self[...]
        while let last = rest.last, isUnwanted(last) { rest.removeLast() }
        return String(rest)
    }
}
