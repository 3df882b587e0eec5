import ArgumentParser
import Foundation
import Testing

@testable import atriumctl

@Suite struct `A new plugin` {
    @Test(arguments: PluginKind.allCases)
    func `has nothing left to fill in`(kind: PluginKind) {
        let template = PluginTemplate(
            kind: kind, name: "Thumbs", id: "org.example.my-thumbs")
        for file in template.files {
            #expect(!file.text.contains("{{"), "\(file.path)")
            #expect(file.text.hasSuffix("\n"))
        }
        let source = template.files.first { $0.path == "Sources/Thumbs/Thumbs.swift" }
        #expect(source?.text.contains("@c(atrium_plugin_org_example_my_thumbs)") == true)
    }

    /// The languages of programs: the program, the file that the author changes, and those beside it.
    private static let programs = [
        (PluginLanguage.python, "thumbs.py", "thumbs.py", []),
        (
            .rust, "target/release/thumbs", "src/main.rs",
            ["src/atrium.rs", "src/json.rs", "Cargo.toml"]
        ),
        (.go, "thumbs", "main.go", ["atrium.go", "go.mod"]),
    ]

    @Test(arguments: programs, PluginKind.allCases.filter { $0 != .delegate })
    func `in another language is a program, with a manifest that names it`(
        language: (PluginLanguage, program: String, source: String, others: [String]),
        kind: PluginKind
    ) throws {
        let template = PluginTemplate(
            kind: kind, language: language.0, name: "Thumbs", id: "org.example.thumbs")
        let texts = Dictionary(uniqueKeysWithValues: template.files.map { ($0.path, $0.text) })
        #expect(Set(texts.keys).isSuperset(of: language.others))
        for file in template.files {
            #expect(!file.text.contains("{{"), "\(file.path)")
            #expect(!file.text.contains("\n\n\n\n"), "\(file.path)")
            #expect(file.text.hasSuffix("\n"))
            #expect(file.isExecutable == (file.path == language.program), "\(file.path)")
        }
        let manifest = try #require(texts["manifest.json"])
        #expect(manifest.contains("\"program\": \"\(language.program)\""))
        #expect(manifest.contains("\"kind\": \"\(kind.rawValue)\""))
        let readme = try #require(texts["README.md"])
        #expect(readme.contains("in \(language.0.title): `org.example.thumbs`"))
        #expect(readme.contains("\n    atrium-worker --check ."))
        #expect(language.0.build.map { readme.contains("\n    \($0)\n") } ?? true)
        let source = try #require(texts[language.source])
        let interface = "org.atrium.plugin." + kind.rawValue.capitalized
        #expect(source.contains("Thumbs: "))
        #expect(source.contains("atriumctl introspect \(interface)\n"))
        for method in ["Hello", "Start", "Stop"] { #expect(source.contains(method)) }
    }

    @Test(arguments: programs)
    func `in another language has the same files beside the author's, whatever its kind`(
        language: PluginLanguage, program: String, source: String, others: [String]
    ) throws {
        let kinds = language.kinds.map { kind in
            PluginTemplate(kind: kind, language: language, name: "Thumbs", id: "a.b").files
                .filter { others.contains($0.path) }
        }
        #expect(kinds.count == 4)
        #expect(kinds.allSatisfy { $0.count == others.count && $0 == kinds[0] })
    }

    @Test(
        arguments: PluginLanguage.allCases
            .flatMap { language in language.kinds.map { (language, $0) } })
    func `names commands that there are`(language: PluginLanguage, kind: PluginKind) throws {
        let template = PluginTemplate(
            kind: kind, language: language, name: "Thumbs", id: "org.example.thumbs")
        let readme = try #require(template.files.first { $0.path == "README.md" }?.text)
        let line = /(?:^    |`)atriumctl ([^`#\n]+)/.anchorsMatchLineEndings()
        let commands = readme.matches(of: line).map { match in
            match.output.1.filter { $0 != "'" }.split(separator: " ").map(String.init)
        }
        // That of a program names a reload, too.
        #expect(commands.count == (kind == .delegate ? 1 : language == .swift ? 4 : 5))
        for command in commands {
            #expect(throws: Never.self, "\(command)") { try Atriumctl.parseAsRoot(command) }
        }
    }

    @Test func `has no path of the machine that it was made on`() throws {
        let template = PluginTemplate(kind: .votes, name: "Thumbs", id: "org.example.thumbs")
        let package = template.files.first { $0.path == "Package.swift" }?.text ?? ""
        #expect(package.contains("ATRIUM_KIT"))
        #expect(package.contains(#".package(path: found + "/AtriumKit")"#))
        let ignored = template.files.first { $0.path == ".gitignore" }?.text ?? ""
        #expect(ignored.contains(".kit\n"))
    }

    @Test(
        arguments: PluginLanguage.allCases
            .flatMap { language in PluginKind.allCases.map { (language, $0) } }
            .filter { !$0.kinds.contains($1) })
    func `of a kind that a language has no template for is refused`(
        language: PluginLanguage, kind: PluginKind
    ) {
        #expect(throws: (any Error).self) {
            try Atriumctl.parseAsRoot(
                [
                    "plugin", "new", "--kind", kind.rawValue, "--language", language.rawValue,
                    "Thumbs",
                ])
        }
    }

    @Test func `names the kind in its manifest, and the library that the build leaves`() {
        let template = PluginTemplate(kind: .votes, name: "T", id: "a.b")
        let manifest = template.files.first { $0.path == "manifest.json" }?.text ?? ""
        #expect(manifest.contains(#""kind": "votes""#))
        #expect(manifest.contains(#""library": ".build/debug/libT.so""#))
    }

    @Test func `finds the kit by name, installed, or in the checkout`() throws {
        let find = { (variables: [String: String], program: String, folders: [String]) in
            try KitLocation.find(
                environment: { variables[$0] }, executable: program,
                exists: { path in
                    folders.contains {
                        path == "\($0)/AtriumKit/Package.swift"
                            || path == "\($0)/AtriumKitTesting/Package.swift"
                    }
                })
        }
        let installed = "/usr/local/share/atrium"
        #expect(try find([:], "/usr/local/bin/atriumctl", [installed]) == installed)
        #expect(
            try find([:], "/src/atrium/.build/x/debug/atriumctl", ["/src/atrium/Sources"])
                == "/src/atrium/Sources")
        #expect(
            try find(["ATRIUM_KIT": "/k/AtriumKit"], "/usr/bin/atriumctl", ["/k"]) == "/k")
        #expect(throws: CommandFailure.self) { try find([:], "/usr/bin/atriumctl", []) }
        #expect(throws: CommandFailure.self) {
            try find(["ATRIUM_KIT": "/wrong"], "/usr/local/bin/atriumctl", [installed])
        }
    }

    @Test(arguments: ["thumbs", "Thu mbs", "1T", "Thümbs", ""])
    func `has a module's name`(name: String) {
        #expect(throws: (any Error).self) {
            try Atriumctl.parseAsRoot(["plugin", "new", "--kind", "votes", "--", name])
        }
    }

    @Test func `comes with the place of the guide`() {
        let find = { (program: String, files: [String]) in
            PluginGuide.find(executable: program, exists: files.contains)
        }
        let installed = "/usr/share/doc/atrium/plugins.md"
        #expect(find("/usr/bin/atriumctl", [installed]) == installed)
        #expect(
            find("/src/.build/debug/atriumctl", ["/src/docs/plugins.md"]) == "/src/docs/plugins.md")
        #expect(find("/usr/bin/atriumctl", []) == nil)
    }
}
