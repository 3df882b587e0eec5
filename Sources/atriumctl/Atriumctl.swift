import ArgumentParser
import Glibc
import Interfaces

/// The client of `atriumd`.
@main
struct Atriumctl: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "atriumctl",
        abstract: "Talk to atriumd: live catalogues that people filter, vote on and discuss.",
        discussion: """
            Exit status: 0 done; 1 not done, or not all of it; 2 wrong usage, nothing was tried; 3 the \
            daemon is unreachable; 130 Ctrl-C. Every command that talks to the daemon takes --socket PATH \
            and --json. More, with examples: atriumctl help COMMAND.
            """,
        version: AtriumVersion.current,
        groupedSubcommands: [
            CommandGroup(
                name: "Look",
                subcommands: [
                    StatusCommand.self, ContainersCommand.self, DescribeCommand.self,
                    ListCommand.self, FiltersCommand.self, ThreadCommand.self,
                    BallotsCommand.self, PendingCommand.self,
                    ImageCommand.self,
                    OpenCommand.self, ScreenCommand.self, WatchCommand.self,
                ]),
            CommandGroup(
                name: "Take part",
                subcommands: [
                    VoteCommand.self, UnvoteCommand.self, CommentCommand.self,
                    ReplyCommand.self, EditCommentCommand.self, DeleteCommentCommand.self,
                    ModerateCommand.self, CloseCommand.self, ReopenCommand.self,
                    PublishCommand.self,
                ]),
            CommandGroup(
                name: "Change what there is",
                subcommands: [
                    InitCommand.self, ApplyCommand.self, EditCommand.self, DeleteCommand.self,
                    PutCommand.self,
                    RemoveCommand.self,
                    ImportCommand.self, ExportCommand.self, EraseCommand.self,
                ]),
            CommandGroup(
                name: "Components and plugins",
                subcommands: [
                    AttachCommand.self, DetachCommand.self, MoveCommand.self, HideCommand.self,
                    ShowCommand.self, RefreshCommand.self, PluginsCommand.self, PluginCommand.self,
                ]),
            CommandGroup(
                name: "Back up and restore",
                subcommands: [BackupCommand.self, RestoreCommand.self, VerifyCommand.self]),
            CommandGroup(
                name: "The daemon and its protocol",
                subcommands: [
                    ReloadCommand.self, LogLevelCommand.self, MetricsCommand.self, TopCommand.self,
                    CallCommand.self, InterfacesCommand.self, IntrospectCommand.self,
                ]),
        ])

    static func main() async {
        signal(SIGPIPE, SIG_IGN)
        do {
            let arguments = try CommandLineWords.shieldNegative(
                ServiceAddress.moveToOption(
                    CommandLineWords.arrange(CommandLineWords.read())))
            try CommandLineWords.check(arguments, of: Atriumctl.self)
            try CommandLineWords.checkFile(arguments)
            try CommandLineWords.checkHelp(arguments[...], of: Atriumctl.self)
            var command = try await asyncParseAsRoot(arguments)
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch {
            finish(error)
        }
    }

    private static func finish(_ error: any Error) -> Never {
        Pager.finish()
        if let failure = error as? CommandFailure {
            for line in failure.lines { Output.note(line) }
            Glibc.exit(failure.status.rawValue)
        }
        if error is CancellationError { Glibc.exit(130) }
        if let code = error as? ExitCode { Glibc.exit(code.rawValue) }
        let message = fullMessage(for: error)
        switch exitCode(for: error) {
        case .success:
            let text = HelpCompletion.completed(message, of: Self.self)
            if !message.isEmpty { Output.line(BashCompletion.completed(text)) }
            Glibc.exit(0)
        case .validationFailure:
            Output.note(message.replacing("Error: ", with: "atriumctl: ", maxReplacements: 1))
            let words = CommandLineWords.arrange((try? CommandLineWords.read()) ?? [])
            if let hint = TextHint.sentence(words, message) { Output.note("hint: \(hint)") }
            Glibc.exit(CommandFailure.Status.usage.rawValue)
        default:
            Output.note(message.replacing("Error: ", with: "atriumctl: ", maxReplacements: 1))
            Glibc.exit(CommandFailure.Status.refused.rawValue)
        }
    }
}

enum CommandLineWords {
    /// Reads them; throws for one that is no text: it would be another name or another comment.
    static func read() throws(CommandFailure) -> [String] {
        do throws(CommandLineText.Problem) {
            return try CommandLineText.words()
        } catch {
            throw CommandFailure(
                error.sentence, hint: "write it in UTF-8, as a terminal with a UTF-8 locale does.",
                status: .usage)
        }
    }

    /// Options may stand before the command, as in `atriumctl --socket PATH list`: they go to the
    /// end, where the command takes them.
    static func arrange(_ words: [String]) -> [String] {
        var leading: [String] = []
        var rest = words[...]
        while let word = rest.first {
            if word == "--json" || word.hasPrefix("--socket=") {
                leading.append(word)
                rest.removeFirst()
            } else if word == "--socket", rest.count > 1 {
                leading += rest.prefix(2)
                rest.removeFirst(2)
            } else {
                break
            }
        }
        guard !leading.isEmpty, !rest.isEmpty else { return words }
        let end = rest.firstIndex(of: "--") ?? rest.endIndex
        return Array(rest[..<end]) + leading + Array(rest[end...])
    }

    /// A vote may be below zero, and `-1` is no option: it goes behind `--`.
    ///
    /// So does a place, which is refused as one.
    static func shieldNegative(_ words: [String]) -> [String] {
        guard ["vote", "move"].contains(words.first), !words.contains("--"),
            let place = words.firstIndex(where: { $0.hasPrefix("-") && Double($0) != nil })
        else { return words }
        var words = words
        let value = words.remove(at: place)
        return words + ["--", value]
    }

    /// Commands by names that other programs have for them.
    private static let otherNames = [
        "search": "list CONTAINER --search TEXT", "find": "list CONTAINER --search TEXT",
        "items": "list CONTAINER", "ls": "list CONTAINER", "comments": "thread CONTAINER/ITEM",
        "votes": "ballots CONTAINER/ITEM", "get": "describe CONTAINER/ITEM",
        "add": "put CONTAINER/ITEM", "rm": "remove CONTAINER/ITEM", "create": "init FILE",
        "subscribe": "watch TOPIC",
    ]

    /// Names the command that was probably meant, if the first word is none of the commands, or the second none of
    /// those below it.
    static func check(_ words: [String], of root: any ParsableCommand.Type) throws {
        guard let word = words.first, !word.hasPrefix("-"), word != "help" else { return }
        guard let command = subcommand(word, of: root) else {
            throw unknown(word, in: root, named: "'\(word)'", path: "atriumctl")
        }
        guard !command.configuration.subcommands.isEmpty, let next = words.dropFirst().first,
            !next.hasPrefix("-"), subcommand(next, of: command) == nil
        else { return }
        let path = "atriumctl \(word)"
        throw unknown(next, in: command, named: "'\(path) \(next)'", path: path)
    }

    private static func subcommand(
        _ name: String, of command: any ParsableCommand.Type
    ) -> (any ParsableCommand.Type)? {
        command.configuration.subcommands.first { $0.configuration.commandName == name }
    }

    /// The failure for a word that is none of the commands below one.
    private static func unknown(
        _ word: String, in command: any ParsableCommand.Type, named name: String, path: String
    ) -> CommandFailure {
        let known = command.configuration.subcommands.compactMap { $0.configuration.commandName }
        let isTop = path == "atriumctl"
        let meant = (isTop ? otherNames[word] : nil) ?? Nearest.name(to: word, in: known)
        let nearest = meant.map { "did you mean '\($0)'? " } ?? ""
        let does = known.isEmpty ? "describes it" : "lists them"
        return CommandFailure(
            "there is no command \(name)", hint: "\(nearest)'\(path) --help' \(does).",
            status: .usage)
    }

    /// Says how `apply` takes definitions, where one stands there without its option.
    static func checkFile(_ words: [String]) throws {
        guard words.first == "apply", !words.contains("--help"), !words.contains("-h") else {
            return
        }
        let unnamed = unnamedFiles(words)
        guard let first = unnamed.first else { return }
        let meant = words.enumerated().filter { $0.element != "--" }.map { index, word in
            (unnamed.contains(index) ? "-f " : "") + DefinitionText.shell(word)
        }
        throw CommandFailure(
            "'\(words[first])' stands there without -f",
            hint: "atriumctl \(meant.joined(separator: " "))", status: .usage)
    }

    /// Where among the words of `apply` those stand that are neither an option nor the value of one.
    private static func unnamedFiles(_ words: [String]) -> [Int] {
        let takesValue: Set = ["-f", "--file", "--socket"]
        var unnamed: [Int] = []
        var isValue = true
        for (index, word) in words.enumerated() {
            if !isValue, !word.hasPrefix("-") || word == "-" { unnamed.append(index) }
            // Short options may stand together, the last of them with a value: -yf FILE.
            let endsInFile = word.wholeMatch(of: #/-[a-z]*f/#) != nil
            isValue = !isValue && (takesValue.contains(word) || endsInFile)
        }
        // One that lacks its value is for the parser to name.
        return isValue ? [] : unnamed
    }

    /// Makes sure that `help` is asked about a command that there is.
    static func checkHelp(
        _ words: ArraySlice<String>, of root: any ParsableCommand.Type
    ) throws {
        guard words.first == "help" else { return }
        var (path, command) = ("atriumctl", root)
        // Behind an option may stand its value.
        for word in words.dropFirst().prefix(while: { !$0.hasPrefix("-") }) where word != "help" {
            guard let next = subcommand(word, of: command) else {
                throw unknown(word, in: command, named: "'\(path) \(word)'", path: path)
            }
            (path, command) = ("\(path) \(word)", next)
        }
    }
}
