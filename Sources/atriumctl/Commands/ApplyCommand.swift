import ArgumentParser
import Interfaces

struct ApplyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "apply", abstract: "Create or update containers from definitions.",
        discussion: """
            Only what changed in a file since it was last applied is touched: what was attached, \
            moved or hidden by hand stays.

            Several are tried before the first is applied: one that is wrong is named, and nothing \
            changes.
            """,
        examples: "atriumctl apply -f films.yaml", "atriumctl apply -f containers.d --dry-run")

    @Option(
        name: .shortAndLong, parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "A definition, a folder of them (*.yaml, *.yml), or - for standard input.",
            valueName: "file"),
        completion: .file(extensions: ["yaml", "yml"]))
    var file: [String]

    @Flag(help: "Print what would be done, without doing it.")
    var dryRun = false

    @Flag(
        help:
            "Erase the data of components that a definition no longer has. Can't be undone; asks first."
    )
    var prune = false

    @Flag(name: .shortAndLong, help: "Erase without confirmation; needed without a terminal.")
    var yes = false

    @OptionGroup var connection: ConnectionOptions

    func run() async throws {
        let definitions = try file.flatMap(definitions)
        if prune, !dryRun {
            try Question.beforeErasing(
                "the data of components that the definitions no longer have", isSure: yes)
        }
        let session = try await connection.connect()
        let parameters = Containers.Apply.Parameters(
            definitions: definitions, dryRun: dryRun ? true : nil, prune: prune ? true : nil)
        guard let reply = try await session.answer(Containers.Apply.self, parameters)
        else { return }
        for result in reply.results {
            let note = dryRun ? " (dry run)" : ""
            Output.line("\(PrintableText.line(result.container)) \(result.action.rawValue)\(note)")
            for change in result.changes { Output.line("  \(PrintableText.line(change))") }
        }
    }

    private func definitions(
        _ path: String
    ) throws -> [Containers.Apply.Parameters.Definitions] {
        if path == "-" { return [.init(file: "-", text: try InputFile.text(path))] }
        guard InputFile.isFolder(path) else {
            return [.init(file: path, text: try InputFile.text(path))]
        }
        let names = try InputFile.names(in: path)
            .filter { !$0.hasPrefix(".") && ($0.hasSuffix(".yaml") || $0.hasSuffix(".yml")) }
        guard !names.isEmpty else {
            throw CommandFailure("the folder \(path) holds no *.yaml and no *.yml")
        }
        return try names.map { name in
            let file = path.hasSuffix("/") ? path + name : "\(path)/\(name)"
            return .init(file: file, text: try InputFile.text(file))
        }
    }
}
