/// The files of a new plugin.
struct PluginTemplate {
    /// A file, by its path in the package's folder.
    struct File: Equatable {
        var path: String
        var text: String
        var isExecutable = false
    }

    var kind: PluginKind
    var language = PluginLanguage.swift
    var name: String
    var id: String

    /// All files.
    var files: [File] {
        switch language {
        case .swift: package
        case .python:
            program(
                File(
                    path: program, text: filled(PythonTemplate.source(kind) ?? ""),
                    isExecutable: true))
        case .rust:
            program(
                File(path: "Cargo.toml", text: filled(RustVotesTemplate.package)),
                File(path: "src/main.rs", text: filled(RustVotesTemplate.source)),
                File(path: "src/atrium.rs", text: filled(RustServerTemplate.source)),
                File(path: "src/json.rs", text: filled(RustJSONTemplate.source)),
                File(path: ".gitignore", text: "target/\n"))
        case .go:
            program(
                File(path: "go.mod", text: filled(GoVotesTemplate.module)),
                File(path: "main.go", text: filled(GoVotesTemplate.source)),
                File(path: "atrium.go", text: filled(GoVotesTemplate.helper)),
                File(path: ".gitignore", text: "\(program)\n"))
        }
    }

    private func program(_ files: File...) -> [File] {
        files + [
            File(path: "manifest.json", text: filled(ProgramTemplate.manifest)),
            File(path: "README.md", text: filled(ProgramTemplate.readme)),
        ]
    }

    /// The path of the program of a plugin that is one, in its folder.
    var program: String {
        switch language {
        case .swift, .python: "\(name.lowercased()).py"
        case .rust: "target/release/\(name.lowercased())"
        case .go: name.lowercased()
        }
    }

    private var package: [File] {
        [
            File(path: "Package.swift", text: filled(PackageTemplate.package)),
            File(path: "manifest.json", text: filled(PackageTemplate.manifest)),
            File(path: "Makefile", text: filled(PackageTemplate.makefile)),
            File(path: "README.md", text: filled(readme)),
            File(path: ".gitignore", text: ".build/\n.kit\n"),
            File(path: "Sources/\(name)/\(name).swift", text: filled(source)),
            File(path: "Tests/\(name)Tests/\(name)Tests.swift", text: filled(tests)),
        ]
    }

    /// The name of the function by which the host finds the class.
    var entry: String {
        "atrium_plugin_"
            + id.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? String($0) : "_" }.joined()
    }

    private var source: String {
        switch kind {
        case .contents: ContentsTemplate.source
        case .filters: FiltersTemplate.source
        case .votes: VotesTemplate.source
        case .comments: CommentsTemplate.source
        case .delegate: DelegateTemplate.source
        }
    }

    private var tests: String {
        let test =
            switch kind {
            case .contents: ContentsTemplate.test
            case .filters: FiltersTemplate.test
            case .votes: VotesTemplate.test
            case .comments: CommentsTemplate.test
            case .delegate: DelegateTemplate.test
            }
        return PackageTemplate.tests
            .replacing(
                "{{suite}}",
                with: kind == .delegate
                    ? DelegateTemplate.suite : PackageTemplate.suite
            )
            .replacing("{{test}}", with: test)
    }

    private var readme: String {
        kind == .delegate ? DelegateTemplate.readme : PackageTemplate.readme
    }

    private func filled(_ text: String) -> String {
        let values = [
            "Name": name, "id": id, "entry": entry, "kind": kind.rawValue,
            "Kind": kind.rawValue.prefix(1).uppercased() + kind.rawValue.dropFirst(),
            "component": name.lowercased(), "program": program, "folder": "/PATH/TO/\(name)",
            "language": language.title,
            "rules": ProgramTemplate.rules(kind), "settings": ProgramTemplate.settings(kind),
            "option": ProgramTemplate.option(kind),
            "build": language.build.map { "    \($0)\n" } ?? "",
        ]
        var text = text
        for (key, value) in values { text = text.replacing("{{\(key)}}", with: value) }
        return text.hasSuffix("\n") ? text : text + "\n"
    }
}
