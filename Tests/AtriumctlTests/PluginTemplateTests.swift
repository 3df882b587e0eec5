import ArgumentParser
import Testing

@testable import atriumctl

@Suite struct `A new plugin` {
    @Test(arguments: PluginKind.allCases)
    func `has nothing left to fill in`(kind: PluginKind) {
        let template = PluginTemplate(
            kind: kind, name: "Thumbs", id: "org.example.my-thumbs", kit: "/opt/kit")
        for file in template.files {
            #expect(!file.text.contains("{{"), "\(file.path)")
            #expect(file.text.hasSuffix("\n"))
        }
        let source = template.files.first { $0.path == "Sources/Thumbs/Thumbs.swift" }
        #expect(source?.text.contains("@c(atrium_plugin_org_example_my_thumbs)") == true)
    }

    @Test func `in Python is one program, which may be executed, and what tells of it`() throws {
        let template = PluginTemplate(
            kind: .votes, language: .python, name: "Thumbs", id: "org.example.thumbs", kit: "")
        #expect(template.files.map(\.path) == ["thumbs.py", "manifest.json", "README.md"])
        #expect(template.files.map(\.isExecutable) == [true, false, false])
        for file in template.files {
            #expect(!file.text.contains("{{"), "\(file.path)")
            #expect(file.text.hasSuffix("\n"))
        }
        #expect(template.files[1].text.contains(#""program": "thumbs.py""#))
    }

    @Test(arguments: PluginKind.allCases.filter { $0 != .votes })
    func `of another kind than votes is no program yet`(kind: PluginKind) {
        #expect(throws: (any Error).self) {
            try Atriumctl.parseAsRoot(
                ["plugin", "new", "--kind", kind.rawValue, "--language", "python", "Thumbs"])
        }
    }

    @Test func `names the kind in its manifest, and the library that the build leaves`() {
        let template = PluginTemplate(kind: .votes, name: "T", id: "a.b", kit: "/kit")
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
}
