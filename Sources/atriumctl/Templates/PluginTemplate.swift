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

    var files: [File] {
        (language.program?.files(kind) ?? package).map { file in
            File(
                path: filled(file.path), text: ended(filled(file.text)),
                isExecutable: file.isExecutable)
        }
    }

    private var package: [File] {
        [
            File(path: "Package.swift", text: PackageTemplate.package),
            File(path: "manifest.json", text: PackageTemplate.manifest),
            File(path: "Makefile", text: PackageTemplate.makefile),
            File(path: "README.md", text: readme),
            File(path: ".gitignore", text: ".build/\n.kit\n.atrium/\n"),
            File(path: "Sources/{{Name}}/{{Name}}.swift", text: source),
            File(path: "Tests/{{Name}}Tests/{{Name}}Tests.swift", text: tests),
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

    /// A text with its words filled in; the first ones have others in them.
    private func filled(_ text: String) -> String {
        let common = kind.program
        let words: KeyValuePairs<String, String> = [
            "title": common?.title ?? "", "rules": common?.rules ?? "",
            "members": common?.members ?? "", "options": common?.options ?? "",
            "program": language.program?.program ?? "",
            "build": language.build.map { "    \($0)\n" } ?? "", "language": language.title,
            "Name": name, "id": id, "entry": entry, "kind": kind.rawValue, "Kind": kind.title,
            "component": name.lowercased(), "folder": "/PATH/TO/\(name)",
        ]
        return words.reduce(text) { $0.replacing("{{\($1.key)}}", with: $1.value) }
    }

    private func ended(_ text: String) -> String { text.hasSuffix("\n") ? text : text + "\n" }
}
