import ArgumentParser

/// What completion scripts need for `help`, whose words the argument parser completes in no shell.
enum HelpCompletion {
    /// A text to print, with the commands behind `help` where it is a completion script.
    static func completed(_ text: String, of root: any ParsableCommand.Type) -> String {
        let names = root.configuration.subcommands.compactMap { $0.configuration.commandName }
        if text.hasPrefix("#!/bin/bash\n") {
            return text.replacing(bashFunction, with: bashFunction + bash(names))
        }
        let words = names.joined(separator: " ")
        if text.hasPrefix("#compdef ") {
            return text.replacing(zshWords, with: "'1:command:(\(words))' \(zshWords)")
        }
        guard text.contains("complete -c 'atriumctl' -f\n") else { return text }
        let isNext = #"string match -qr "^\S+\s+help\s+\S*\$" -- (commandline -pc)"#
        return "\(text)\ncomplete -c 'atriumctl' -n '\(isNext)' -fa '\(words)'"
    }

    private static let bashFunction = "_atriumctl_help() {\n"
    private static let zshWords = "'*:subcommands:'"

    private static func bash(_ names: [String]) -> String {
        """
            if [[ "${COMP_CWORD}" -eq 2 && "${cur}" != -* ]]; then
                __atriumctl_add_completions -W '\(names.joined(separator: "\n"))'
                return
            fi

        """
    }
}
