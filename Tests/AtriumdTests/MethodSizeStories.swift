import JSONCodec
import TestSupport
import Testing

extension Stories {
    /// Calls that are long, and methods that need none such.
    @Suite struct MethodSizes {
        private static let publish = "org.atrium.Notifications.Publish"

        /// The message of a call, as it is written.
        private static func message(_ method: String, _ parameters: String) -> String {
            "{\"method\":\"\(method)\",\"parameters\":\(parameters)}"
        }

        /// Reading such a call would take the event loop's turn for longer than the judge of stories lets pass.
        @Test
        func `a call of many members is refused by its length alone, and its connection goes on`()
            async throws
        {
            let members = (0..<300_000).map { "\"m\($0)\":1" }.joined(separator: ",")
            try await withFilms { daemon in
                let peer = try daemon.peer()
                for (method, most) in [
                    (Self.publish, 576 << 10), ("org.atrium.Votes.Cast", 64 << 10),
                ] {
                    try await peer.send(Self.message(method, "{\"payload\":{\(members)}}"))
                    let told = try await peer.receive()
                    #expect(told?["error"]?.string == "org.atrium.Varlink.LimitExceeded")
                    #expect(told?["parameters"]?["limit"]?.string == "methodBytes")
                    #expect(told?["parameters"]?["value"]?.int == most, "\(told as Any)")
                    let message = told?["parameters"]?["message"]?.string ?? ""
                    #expect(
                        message.contains("one of \(method) has \(most) bytes at most"), "\(message)"
                    )
                    #expect(message.hasSuffix("send less at once"), "\(message)")
                }
                let served = try await peer.call("org.atrium.Containers.List")
                #expect(served["error"] == nil, "\(served)")

                let name = String(repeating: "x", count: 70_000)
                let said = try await daemon.type(
                    "atriumctl call org.atrium.Votes.Tally '{\"container\":\"\(name)\"}'")
                #expect(said.status == 1, "\(said)")
                #expect(said.errors.contains("send less at once"), "\(said)")
            }
        }

        @Test func `what the other limits allow is taken, in any way to write it`() async throws {
            // As Python's json writes it: six bytes for two.
            func escaped(_ count: Int) -> String { String(repeating: "\\u00e9", count: count) }
            let filters = (0..<600).map { "\"\(escaped(100))\($0)\"" }.joined(separator: ",")
            let numbers = [String](repeating: "1", count: 120_000).joined(separator: ",\n")
            let long = [
                Self.message(
                    "org.atrium.Contents.Put",
                    """
                    {"container":"films","items":[{"id":"long","fields":{"title":"\(escaped(100_000))"}}]}
                    """),
                Self.message(
                    Self.publish, "{\"topic\":\"films.app.x\",\"payload\":{\"x\":[\n\(numbers)\n]}}"
                ),
                Self.message(
                    "org.atrium.Comments.Post",
                    "{\"container\":\"films\",\"text\":\"\(escaped(9_000))\"}"),
            ]
            try await withFilms { daemon in
                let peer = try daemon.peer()
                for message in long {
                    try await peer.send(message)
                    let reply = try await peer.receive()
                    #expect(reply != nil && reply?["error"] == nil, "\(reply as Any)")
                }
                try await peer.send(
                    Self.message(
                        "org.atrium.Contents.List",
                        "{\"container\":\"films\",\"filters\":{\"genre\":[\(filters)]}}"))
                let found = try await peer.receive()
                #expect(found?["parameters"]?["total"]?.int == 0, "\(found as Any)")
            }
        }

        /// Parsing them would take the event loop's turn for longer than the judge of stories lets pass.
        @Test func `long definitions are parsed beside the loop, as are errors in them located`()
            async throws
        {
            let head = "atrium: 1\ncontainer: long\n"
            let unknown = (0..<80_000).map { "k\($0): 1\n" }.joined()
            let laughs = (1..<9).map { (n: Int) -> String in
                let nine = [String](repeating: "*x\(n - 1)", count: 9).joined(separator: ",")
                return "x\(n): &x\(n) [\(nine)]\n"
            }
            let settings = "components: [{ name: a, plugin: org.atrium.nobody, settings: "
            let list = [String](repeating: "1", count: 90_000).joined(separator: ",")
            let refused: [(text: String, line: Int, reason: String)] = [
                (head + unknown, 3, "unknown key"),
                (head + settings + "{ list: [\(list)] } }]\n", 3, "org.atrium.nobody"),
                (
                    head + settings + "{ x0: &x0 [1],\n" + laughs.joined(separator: ",")
                        + "} }]\n", 1, "its aliases stand for more than 8388608 bytes"
                ),
                (head + String(repeating: "#", count: 1 << 20), 1, "a definition at most 1048576"),
            ]
            try await withFilms { daemon in
                let peer = try daemon.peer()
                for (text, line, reason) in refused {
                    let reply = try await peer.call(
                        "org.atrium.Containers.Apply",
                        ["definitions": [["file": "long.yaml", "text": .string(text)]]])
                    #expect(reply["error"]?.string == "org.atrium.Containers.DefinitionInvalid")
                    #expect(reply["parameters"]?["line"]?.int == line, "\(reply)")
                    let told = reply["parameters"]?["reason"]?.string ?? ""
                    #expect(told.contains(reason), "\(told)")
                }
                let comment = String(repeating: "#", count: 1 << 17)
                let applied = try await peer.call(
                    "org.atrium.Containers.Apply",
                    ["definitions": [["file": "l.yaml", "text": .string(head + comment)]]])
                #expect(applied["error"] == nil, "\(applied)")
            }
        }
    }
}
