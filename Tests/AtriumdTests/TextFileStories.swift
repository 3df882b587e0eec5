import Foundation
import JSONCodec
import TestSupport
import Testing

extension Stories {
    /// Files with text that people write, in other encodings or with nothing in them.
    @Suite struct TextFiles {
        private static let definition = """
            atrium: 1
            container: notes
            fields: { title: { type: text } }
            components: [{ name: list, plugin: org.atrium.catalog }]

            """

        @Test func `a text that is not UTF-8 is named, with what converts it, by all who read one`()
            async throws
        {
            var options = DaemonUnderTest.Options()
            options.configuration = ["containers.d/b.yaml": "atrium: 1\ncontainer: b\n"]
            try await withDaemon(options) { daemon in
                let wide = try #require(Self.definition.data(using: .utf16))
                let words = "UTF-16, not UTF-8: `iconv -f UTF-16 -t UTF-8` converts it"
                try daemon.home.write("wide.yaml", wide)
                let applied = try await daemon.type("atriumctl apply -f wide.yaml")
                #expect(applied.status == 1, "\(applied)")
                #expect(applied.errors.contains("wide.yaml is \(words)"), "\(applied)")
                let marked = Data([0xEF, 0xBB, 0xBF]) + Data(Self.definition.utf8)
                try daemon.home.write("marked.yaml", marked)
                #expect(try await daemon.type("atriumctl apply -f marked.yaml").status == 0)
                for (path, right) in [
                    ("containers.d/b.yaml", "atrium: 1\ncontainer: b\n"),
                    ("atrium.yaml", "\u{FEFF}logLevel: debug\n"),
                ] {
                    try daemon.home.write("etc/\(path)", wide)
                    let reloaded = try await daemon.type("atriumctl reload")
                    #expect(reloaded.status == 1, "\(reloaded)")
                    #expect(reloaded.errors.contains("\(path): it is \(words)"), "\(reloaded)")
                    try daemon.home.write("etc/\(path)", right)
                    #expect(try await daemon.type("atriumctl reload").status == 0)
                }
            }
        }

        @Test func `an import of nothing says so, and one of an empty file fails`() async throws {
            try await withDaemon { daemon in
                try daemon.home.write("notes.yaml", Self.definition)
                #expect(try await daemon.type("atriumctl apply -f notes.yaml").status == 0)
                for (text, option) in [("", ""), (" \n", ""), ("", " --replace")] {
                    try daemon.home.write("nothing", text)
                    let said = try await daemon.type("atriumctl import notes nothing" + option)
                    #expect(said.status == 1, "\(said)")
                    #expect(
                        said.errors.contains("nothing is empty: nothing is imported"), "\(said)")
                    #expect(said.output.isEmpty, "\(said)")
                }
                for text in ["[]", "id,title\n", "{\"atrium\":1,\"all\":true}\n"] {
                    try daemon.home.write("none", text)
                    let said = try await daemon.type("atriumctl import notes none")
                    #expect(said.status == 0, "\(said)")
                    #expect(said.errors.contains("none has no items"), "\(said)")
                }
                let piped = try await daemon.type("atriumctl import notes - </dev/null")
                #expect(piped.status == 1, "\(piped)")
                #expect(piped.errors.contains("standard input is empty"), "\(piped)")
            }
        }

        @Test func `a definition made of odd names is taken as it is written`() async throws {
            try await withDaemon { daemon in
                try daemon.home.write(
                    "no.csv", "id,n,Yes,off,null\na,one,x,p,u\nb,two,x,p,v\nc,one,y,q,u\n")
                let made = try await daemon.type("atriumctl init no.csv --yes")
                #expect(made.status == 0, "\(made)")
                let listed = try await daemon.type(
                    "atriumctl list no --filter off=q --search two; atriumctl list no --sort n -o csv"
                )
                #expect(listed.status == 0, "\(listed)")
                #expect(listed.output.contains("b,two,x,p,v"), "\(listed)")
                try daemon.home.write(
                    "y.yaml",
                    """
                    atrium: 1
                    container: y
                    title: 2024
                    fields: { n: { type: text, title: on }, off: { type: integer, unit: y } }
                    present: { title: n, columns: [n, off] }
                    components:
                      - { name: no, plugin: org.atrium.catalog, sort: [n, -off], title: yes }

                    """)
                let applied = try await daemon.type("atriumctl apply -f y.yaml")
                #expect(applied.status == 0, "\(applied)")
                let described = try await daemon.type("atriumctl describe y --json").json
                #expect(described["container"]?["title"]?.string == "2024")
                #expect(described["fields"]?[0]?["title"]?.string == "on")
                #expect(described["container"]?["components"]?[0]?["title"]?.string == "yes")
            }
        }

        @Test func `closing a container names what it has`() async throws {
            try await withDaemon { daemon in
                let stars = "{ name: stars, plugin: org.atrium.stars }"
                for (name, components) in [("plain", ""), ("voted", stars)] {
                    try daemon.home.write(
                        "a.yaml", "atrium: 1\ncontainer: \(name)\ncomponents: [\(components)]\n")
                    #expect(try await daemon.type("atriumctl apply -f a.yaml").status == 0)
                }
                let voted = try await daemon.type("atriumctl close voted")
                #expect(voted.output == "voted is closed for votes\n", "\(voted)")
                #expect(voted.errors.isEmpty, "\(voted)")
                let opened = try await daemon.type("atriumctl reopen voted")
                #expect(opened.output == "voted is open for votes\n", "\(opened)")
                let plain = try await daemon.type("atriumctl close plain")
                #expect(plain.output == "plain is closed for votes and comments\n", "\(plain)")
                #expect(
                    plain.errors == "plain has no component of the kind votes or comments\n",
                    "\(plain)")
            }
        }
    }
}
