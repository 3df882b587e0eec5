import ArgumentParser

extension CommandConfiguration {
    /// The same with examples at the end of its help: a line each, as typed.
    func examples(_ lines: String...) -> CommandConfiguration {
        var configuration = self
        let examples = "Examples:\n" + lines.map { "    \($0)" }.joined(separator: "\n")
        configuration.discussion =
            discussion.isEmpty ? examples : "\(discussion)\n\n\(examples)"
        return configuration
    }
}
