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
    }
}
