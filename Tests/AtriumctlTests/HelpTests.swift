import ArgumentParser
import AtriumFormats
import JSONCodec
import Testing

@testable import atriumctl

/// A command with the words that it is called by.
struct KnownCommand: CustomTestStringConvertible {
    /// All commands, and theirs.
    static let all = below(Atriumctl.self, [])

    let type: any ParsableCommand.Type
    let path: [String]

    var testDescription: String { path.joined(separator: " ") }

    /// The examples of its help.
    var examples: [String] {
        let text = type.configuration.discussion.split(separator: "Examples:\n")
        guard text.count > 1 || type.configuration.discussion.hasPrefix("Examples:\n") else {
            return []
        }
        return text.last?.split(separator: "\n").map { ItemText.trimmed($0) } ?? []
    }

    private static func below(
        _ type: any ParsableCommand.Type, _ path: [String]
    ) -> [KnownCommand] {
        type.configuration.subcommands.flatMap { command -> [KnownCommand] in
            let path = path + [command.configuration.commandName ?? ""]
            return [KnownCommand(type: command, path: path)] + below(command, path)
        }
    }
}

@Suite struct `The help of every command` {
    @Test(arguments: KnownCommand.all)
    func `ends with examples of it that can be typed`(command: KnownCommand) throws {
        #expect(!command.examples.isEmpty)
        for example in command.examples {
            let words = Self.words(of: example)
            let start = try #require(words.firstIndex(of: "atriumctl"), "\(example)")
            #expect(words[(start + 1)...].starts(with: command.path), "\(example)")
            let arguments = CommandLineWords.shieldNegative(
                ServiceAddress.moveToOption(Array(words[(start + 1)...])))
            #expect(throws: Never.self, "\(example)") {
                let parsed = try Atriumctl.parseAsRoot(arguments)
                let isMeant = command.type.configuration.subcommands.isEmpty
                #expect(!isMeant || Swift.type(of: parsed) == command.type, "\(example)")
            }
            let shown = Atriumctl.helpMessage(for: command.type, columns: 80)
            #expect(shown.contains("\n    \(example)"), "its line is broken: \(shown)")
        }
    }

    @Test(arguments: KnownCommand.all)
    func `fish completes each argument as itself`(command: KnownCommand) throws {
        let dump = try JSONValue(keepingDigits: Array(command.type._dumpHelp().utf8))
        let arguments = dump["command"]?["arguments"]?.array ?? []
        let completed = arguments.filter { $0["kind"]?.string == "positional" }
            .map { $0["completionKind"] != nil }
        // It gives what is without completion that of the next one that has any.
        #expect(!zip(completed, completed.dropFirst()).contains { !$0 && $1 }, "give it '.nothing'")
    }

    /// The words of a line up to where its output goes, as a shell has them.
    private static func words(of line: String) -> [String] {
        var (words, word, quote): ([String], String?, Character?) = ([], nil, nil)
        for character in line + " " {
            if character == quote {
                quote = nil
            } else if quote != nil {
                word?.append(character)
            } else if "'\"".contains(character) {
                (quote, word) = (character, word ?? "")
            } else if character == " " {
                if let word { words.append(word) }
                word = nil
            } else if "|>".contains(character) {
                return words
            } else {
                word = (word ?? "") + String(character)
            }
        }
        return words
    }
}
