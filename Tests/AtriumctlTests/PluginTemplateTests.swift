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

    @Test(arguments: [
        (PluginLanguage.python, "thumbs.py", ["thumbs.py"]),
        (.rust, "target/release/thumbs", ["src/main.rs", "src/atrium.rs", "src/json.rs"]),
        (.go, "thumbs", ["main.go", "atrium.go", "go.mod"]),
    ])
    func `in another language is a program, with a manifest that names it`(
        language: PluginLanguage, program: String, sources: [String]
    ) throws {
        let template = PluginTemplate(
            kind: .votes, language: language, name: "Thumbs", id: "org.example.thumbs")
        #expect(Set(template.files.map(\.path)).isSuperset(of: sources))
        for file in template.files {
            #expect(!file.text.contains("{{"), "\(file.path)")
            #expect(file.text.hasSuffix("\n"))
            #expect(file.isExecutable == file.path.hasSuffix(".py"), "\(file.path)")
        }
        let manifest = template.files.first { $0.path == "manifest.json" }?.text ?? ""
        #expect(manifest.contains("\"program\": \"\(program)\""))
        let readme = template.files.first { $0.path == "README.md" }?.text ?? ""
        #expect(readme.contains("in \(language.title): `org.example.thumbs`"))
        #expect(readme.contains("\n    atrium-worker --check ."))
        #expect(language.build.map { readme.contains("\n    \($0)\n") } ?? true)
    }

    @Test func `has no path of the machine that it was made on`() throws {
        let template = PluginTemplate(kind: .votes, name: "Thumbs", id: "org.example.thumbs")
        let package = template.files.first { $0.path == "Package.swift" }?.text ?? ""
        #expect(package.contains("ATRIUM_KIT"))
        #expect(package.contains(#".package(path: found + "/AtriumKit")"#))
        let ignored = template.files.first { $0.path == ".gitignore" }?.text ?? ""
        #expect(ignored.contains(".kit\n"))
    }

    @Test(arguments: PluginKind.allCases.filter { $0 != .delegate })
    func `of any kind of component may be in Python`(kind: PluginKind) throws {
        let template = PluginTemplate(
            kind: kind, language: .python, name: "Thumbs", id: "org.example.thumbs")
        let source = try #require(template.files.first { $0.path == "thumbs.py" }).text
        let interface = "org.atrium.plugin." + kind.rawValue.capitalized
        #expect(source.contains("atriumctl introspect \(interface)\n"))
        for method in ["Hello", "Start", "Stop"] {
            #expect(source.contains("    def \(method)(self"), "\(method)")
        }
        for file in template.files {
            #expect(!file.text.contains("{{"), "\(file.path)")
            #expect(!file.text.contains("\n\n\n\n"), "\(file.path)")
        }
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
