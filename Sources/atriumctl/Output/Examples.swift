import ArgumentParser

extension CommandConfiguration {
    /// A command whose help ends with examples: a line each, as typed.
    init(
        commandName: String, abstract: String, usage: String? = nil, discussion: String = "",
        subcommands: [any ParsableCommand.Type] = [], examples first: String, _ others: String...
    ) {
        let lines = ([first] + others).map { "    \($0)" }.joined(separator: "\n")
        let examples = "Examples:\n\(lines)"
        self.init(
            commandName: commandName, abstract: abstract, usage: usage,
            discussion: discussion.isEmpty ? examples : "\(discussion)\n\n\(examples)",
            subcommands: subcommands)
    }
}
