import ArgumentParser
import Glibc

/// The command `atriumctl plugin new --kind KIND NAME`.
struct PluginNewCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "new", abstract: "Start a plugin: a package that builds, with its tests."
    )
    .examples("atriumctl plugin new --kind votes Thumbs")

    @Option(
        help: "What it makes: contents, filters, votes or comments; or delegate.",
        completion: .list(PluginKind.allCases.map(\.rawValue)))
    var kind: PluginKind

    @Option(
        help: "What it is written in: swift or python, which makes votes, so far.",
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
        guard language == .swift || kind == .votes else {
            throw ValidationError(
                "--language \(language.rawValue) makes plugins of the kind votes, so far; "
                    + "\(kind.rawValue) takes swift.")
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
        let kit = language == .swift ? try KitLocation.find() : ""
        let template = PluginTemplate(
            kind: kind, language: language, name: name, id: pluginID, kit: kit)
        for file in template.files {
            try InputFile.write(
                file.text, to: "\(folder)/\(file.path)", mode: file.isExecutable ? 0o755 : 0o644)
        }
        Output.line("made the plugin \(pluginID) in \(folder). Now:")
        Output.line("    cd \(folder)")
        switch language {
        case .swift:
            Output.line("    swift test                    # builds it, runs its conformance suite")
        case .python:
            Output.line("    atrium-worker --check .       # runs its conformance suite")
        }
        // Delegates live in the daemon, which loads only those that its administrator names.
        let delegates = kind == .delegate ? "ATRIUM_DELEGATES=\(pluginID) " : ""
        let start = "\(delegates)atriumd --plugin-path ."
        Output.line("    \(start)       # or see its README to install it")
    }

    private var pluginID: String { id ?? "org.example.\(name.lowercased())" }

    private static func isUpper(_ scalar: Unicode.Scalar) -> Bool { ("A"..."Z").contains(scalar) }

    private static func isLetterOrDigit(_ scalar: Unicode.Scalar) -> Bool {
        ("A"..."Z").contains(scalar) || ("a"..."z").contains(scalar)
            || ("0"..."9").contains(scalar)
    }
}

/// The kinds of plugins.
enum PluginKind: String, CaseIterable, ExpressibleByArgument {
    case contents, filters, votes, comments, delegate
}

/// The languages that plugins may begin in.
enum PluginLanguage: String, CaseIterable, ExpressibleByArgument {
    case swift, python
}

/// Where the kit's packages are.
enum KitLocation {
    /// The folder that holds `AtriumKit` and `AtriumKitTesting`.
    ///
    /// $ATRIUM_KIT names the kit itself, or that folder; else it is looked for beside this program:
    /// installed in `share/atrium`, or in the checkout that it was built in.
    static func find(
        environment: (String) -> String? = Terminal.environment,
        executable: String? = programPath(),
        exists: @escaping (String) -> Bool = InputFile.exists
    ) throws -> String {
        let isKit = { (folder: String) in
            exists("\(folder)/AtriumKit/Package.swift")
                && exists("\(folder)/AtriumKitTesting/Package.swift")
        }
        if let told = environment("ATRIUM_KIT"), !told.isEmpty {
            let folder = absolute(told)
            if let found = [folder, parent(folder)].first(where: isKit) { return found }
            throw CommandFailure(
                "ATRIUM_KIT is \(told), and there is no kit",
                hint: "it names the folder AtriumKit, with AtriumKitTesting beside it.")
        }
        var folder = parent(executable ?? "/")
        let installed = "\(parent(folder))/share/atrium"
        if isKit(installed) { return installed }
        while folder != "/" {
            if isKit("\(folder)/Sources") { return "\(folder)/Sources" }
            folder = parent(folder)
        }
        throw CommandFailure(
            "the plugin kit is not found beside this program",
            hint: "name it with ATRIUM_KIT=…/AtriumKit; 'make install' puts it into "
                + "share/atrium.")
    }

    /// The path of this program, links followed.
    static func programPath() -> String? {
        guard let path = realpath("/proc/self/exe", nil) else { return nil }
        defer { free(path) }
        return String(cString: path)
    }

    private static func absolute(_ path: String) -> String {
        guard let resolved = realpath(path, nil) else { return path }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    private static func parent(_ path: String) -> String {
        guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return "/" }
        return String(path[..<slash])
    }
}
