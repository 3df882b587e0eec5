import ArgumentParser
import AtriumFormats
import Glibc
import Interfaces

struct InitCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: "Write a definition for a file of items, or a folder of music.",
        discussion: """
            Looks through a file as 'import' takes it, and writes NAME.yaml: a container whose \
            fields fit the columns, with filters for those of 2 to 50 values, and a search in all \
            texts and keywords. Shows it, and on a yes applies it and imports the file. Codes, and \
            dates whose order is not clear, stay text, and a comment says so. Taken for codes are \
            numbers with a leading zero or +, with an exponent (1E5), or too big to be exact, and \
            those with a point that have different numbers of decimals and zeros at their ends, as \
            versions do (1.9, 1.10). Prices (1.50, 2.00) are numbers.

            Ids are taken from the column 'id', else made of the first whose values are all \
            different, else of title and year. Nothing that is there is overwritten. A definition that \
            the daemon refuses stays in its file, for 'apply' once that is corrected or permitted.

            With --follow nothing is imported: the list is the file, and shows what is in it as \
            long as the container is there. An id of one column then is its value as it is, 'Alien'; import \
            makes 'alien' of it: votes and comments stay with the id. A folder of music makes a jukebox, whose list follows the folder.
            """,
        examples: "atriumctl init diary.csv", "atriumctl init schedule.json --yes",
        "atriumctl init ~/Music")

    @Argument(help: "The file, or the folder.", completion: .file())
    var file: String

    @Option(help: "The container's name; by default the file's.", completion: .nothing)
    var name: String?

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "The file to write; by default NAME.yaml. - only prints the definition.",
            valueName: "file"),
        completion: .file(extensions: ["yaml", "yml"]))
    var output: String?

    @Option(
        help: ArgumentHelp(
            "The file's format: csv, json or ndjson; by default detected from the content.",
            valueName: "format"))
    var format: TextFormat?

    @Flag(help: "Show the file itself: changing the file changes the list.")
    var follow = false

    @Flag(
        name: .shortAndLong,
        help: "Apply the definition and import the file, without confirmation.")
    var yes = false

    @OptionGroup var connection: ConnectionOptions

    func run() async throws {
        guard file != "-" else {
            throw CommandFailure(
                "'-' is no file: init reads one twice",
                hint: "save what there is to a file first.", status: .usage)
        }
        if let name, !DefinitionText.isName(name) {
            throw CommandFailure(
                "'\(name)' is no name", hint: "a letter a-z, then up to 62 of a-z 0-9 -.",
                status: .usage)
        }
        guard name != "daemon" else {
            throw CommandFailure(
                "the name 'daemon' is reserved", hint: "--name gives another.", status: .usage)
        }
        if InputFile.isFolder(file) { return try await makeJukebox() }
        let profile = try FileProfile(file, format: format)
        try check(profile)
        let name = name ?? DefinitionText.name(for: file)
        let path = output ?? "\(name).yaml"
        var definition = DefinitionText(
            profile: profile, path: file, name: name, output: path == "-" ? "FILE" : path)
        if follow { definition.followed = try followed(profile) }
        if let bad = profile.firstBad {
            Output.note(
                "atriumctl: \(Wording.count(profile.bad, "bad line")) left out: \(PrintableText.line(bad))"
            )
        }
        guard let path = try await write(definition.text, name, path) else { return }
        try await namingFile(path) {
            try await apply(path)
            if !follow { try await importFile(definition) }
        }
    }

    /// Refuses a file of which 'import' could not make items.
    private func check(_ profile: FileProfile) throws {
        if let (one, other) = profile.sameNames {
            throw CommandFailure(
                PrintableText.line("\(file): the columns '\(one)' and '\(other)' mean the same"),
                hint:
                    "give one of them another name: case, spaces and signs do not distinguish them."
            )
        }
        guard profile.hasIDs else {
            throw CommandFailure(
                PrintableText.line("\(file): no column makes ids"),
                hint:
                    "give it a column 'id', or one whose values are all different, without a comma in its name."
            )
        }
    }

    private func makeJukebox() async throws {
        guard !follow, format == nil else {
            throw CommandFailure(
                "--follow and --format are about files, and '\(file)' is a folder",
                hint: "a jukebox follows its folder without them.", status: .usage)
        }
        let folder = try MusicFolder(file)
        let name = name ?? DefinitionText.name(for: folder.path)
        let path = output ?? "\(name).yaml"
        let text = folder.definition(name: name, output: path == "-" ? "FILE" : path)
        guard let path = try await write(text, name, path) else { return }
        try await namingFile(path) { try await apply(path) }
    }

    /// Prints a definition, and writes it to a file that does not exist yet; returns the file, if the definition is
    /// to be applied.
    private func write(_ text: String, _ name: String, _ path: String) async throws -> String? {
        guard path != "-" else {
            Output.bytes(Array(text.utf8))
            return nil
        }
        try await checkFree(name, path)
        try InputFile.write(text, to: path)
        Output.bytes(Array(text.utf8))
        guard isWanted(path) else {
            Output.note(Self.written(path))
            return nil
        }
        return path
    }

    private static func written(_ path: String) -> String {
        "\(path) is written; its first lines say how to go on."
    }

    /// Runs what follows the writing of a file; the error of a failure names the file.
    private func namingFile(_ path: String, _ body: () async throws -> Void) async throws {
        do {
            try await body()
        } catch var failure as CommandFailure {
            let hint = failure.hint.map { "\($0)\n" } ?? ""
            failure.hint = hint + Self.written(path)
            throw failure
        }
    }

    /// The file's absolute path; what the list would refuse is refused here.
    private func followed(_ profile: FileProfile) throws -> String {
        if let bad = profile.firstBad {
            throw CommandFailure(
                "\(file) can't be followed: \(PrintableText.line(bad))",
                hint: "all of the file has to be right; without --follow the others are imported.")
        }
        guard let path = realpath(file, nil) else { throw CommandFailure("\(file) is gone") }
        defer { free(path) }
        return String(cString: path)
    }

    /// Makes sure that neither the definition's file nor the container is there.
    private func checkFree(_ name: String, _ path: String) async throws {
        guard !InputFile.isFolder(path) else {
            throw CommandFailure("\(path) is a folder", hint: "name a file in it.", status: .usage)
        }
        guard !InputFile.exists(path) else {
            throw CommandFailure(
                "there is a file \(path) already", hint: "--output names another; - only prints.")
        }
        let session: Session
        do {
            session = try await connection.connect()
        } catch {
            // Without a daemon there is a definition all the same.
            if yes { throw error }
            return
        }
        let known = try await session.call(Containers.List.self, .init()).containers
        guard !known.contains(where: { $0.name == name }) else {
            throw CommandFailure(
                "there is a container '\(name)' already", hint: "--name gives another.")
        }
    }

    private func isWanted(_ path: String) -> Bool {
        if yes { return true }
        guard Question.isPossible else { return false }
        let isOnlyApplied = follow || InputFile.isFolder(file)
        return Question.isYes("Apply \(path)\(isOnlyApplied ? "" : " and import \(file)")?")
    }

    private func apply(_ path: String) async throws {
        try await ApplyCommand.asyncParse(["-f", path] + common).run()
    }

    private func importFile(_ definition: DefinitionText) async throws {
        let format = format.map { ["--format", $0.rawValue] } ?? []
        let words = definition.importWords.dropFirst() + format + common
        try await ImportCommand.asyncParse(Array(words)).run()
    }

    /// The options that all commands have.
    private var common: [String] {
        (connection.socket.map { ["--socket", $0] } ?? []) + (connection.json ? ["--json"] : [])
    }
}
