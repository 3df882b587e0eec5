import ArgumentParser
import Glibc

struct PluginNewCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "new", abstract: "Start a plugin: a package that builds, with its tests.",
        examples: "atriumctl plugin new --kind votes Thumbs")

    @Option(
        help: "What it makes: contents, filters, votes or comments; or delegate.",
        completion: .list(PluginKind.allCases.map(\.rawValue)))
    var kind: PluginKind

    @Option(
        help:
            "What it is written in: swift; or python, rust or go, for all kinds but delegate.",
        completion: .list(PluginLanguage.allCases.map(\.rawValue)))
    var language = PluginLanguage.swift

    @Argument(help: "Its name, such as Thumbs; it becomes the module's.")
    var name: String

    @Option(
        help: ArgumentHelp(
            "Its id; by default org.example.NAME in lower case.", valueName: "id"))
    var id: String?

    @Option(
        help: ArgumentHelp("Where to put it; by default ./NAME.", valueName: "folder"),
        completion: .directory)
    var path: String?

    func validate() throws {
        guard language.kinds.contains(kind) else {
            let languages = PluginLanguage.allCases.filter { $0.kinds.contains(kind) }
            throw ValidationError(
                "--language \(language.rawValue) makes plugins of the kinds "
                    + "\(language.kinds.map(\.rawValue).joined(separator: ", ")); \(kind.rawValue) takes "
                    + "\(languages.map(\.rawValue).joined(separator: ", ")).")
        }
        guard let first = name.unicodeScalars.first, Self.isUpper(first),
            name.unicodeScalars.allSatisfy({ Self.isLetterOrDigit($0) })
        else {
            throw ValidationError(
                "'\(name)' is no module's name: a capital letter, then letters and digits.")
        }
        let words = pluginID.split(separator: ".", omittingEmptySubsequences: false)
        let isWord = { (word: Substring) in
            !word.isEmpty
                && word.unicodeScalars.allSatisfy { Self.isLetterOrDigit($0) || $0 == "-" }
        }
        guard words.count > 1, words.allSatisfy(isWord) else {
            throw ValidationError(
                "'\(pluginID)' is no id: words of letters, digits and '-', with dots between.")
        }
    }

    func run() throws {
        let folder = path ?? name
        guard !InputFile.exists(folder) else {
            throw CommandFailure(
                "there is something at \(folder) already",
                hint: "name another folder with --path.")
        }
        // Found first: without the kit nothing is written.
        let kit = language == .swift ? try KitLocation.find() : nil
        let template = PluginTemplate(kind: kind, language: language, name: name, id: pluginID)
        do {
            for file in template.files {
                try InputFile.write(
                    file.text, to: "\(folder)/\(file.path)",
                    mode: file.isExecutable ? 0o755 : 0o644, makesFolders: true)
            }
            if let kit { try KitLocation.link(kit, from: folder) }
        } catch {
            Self.remove(template.files.map(\.path), from: folder)
            throw error
        }
        Output.line("made the plugin \(pluginID) in \(folder). Now:")
        // Delegates live in the daemon, which loads only those that its administrator names.
        let delegates = kind == .delegate ? "ATRIUM_DELEGATES=\(pluginID) " : ""
        let steps: [(command: String, note: String?)?] = [
            ("cd \(DefinitionText.shell(folder))", nil),
            language.build.map { ($0, nil) },
            (language.check, "runs its conformance suite"),
            // Beside a daemon that runs already: its socket and its store are in use. What is hidden is no part of
            // the plugin.
            ("export ATRIUM_SOCKET=$PWD/.atrium/socket", "in each terminal"),
            (
                "\(delegates)atriumd --plugin-path . --state-directory .atrium/state",
                "starts a daemon that has it"
            ),
        ]
        for step in steps.compactMap(\.self) {
            let padding = String(repeating: " ", count: max(2, 30 - step.command.count))
            Output.line("    \(step.command)" + (step.note.map { "\(padding)# \($0)" } ?? ""))
        }
        if let guide = PluginGuide.find() { Output.line("The guide: \(guide)") }
    }

    /// Removes files, and the folders that are empty without them.
    private static func remove(_ files: [String], from folder: String) {
        var folders: Set<String> = [folder]
        for file in files {
            unlink("\(folder)/\(file)")
            let names = file.split(separator: "/").dropLast()
            for depth in names.indices {
                folders.insert("\(folder)/\(names[...depth].joined(separator: "/"))")
            }
        }
        for folder in folders.sorted(by: { $0.utf8.count > $1.utf8.count }) { rmdir(folder) }
    }

    private var pluginID: String { id ?? "org.example.\(name.lowercased())" }

    private static func isUpper(_ scalar: Unicode.Scalar) -> Bool { ("A"..."Z").contains(scalar) }

    private static func isLetterOrDigit(_ scalar: Unicode.Scalar) -> Bool {
        ("A"..."Z").contains(scalar) || ("a"..."z").contains(scalar)
            || ("0"..."9").contains(scalar)
    }
}
