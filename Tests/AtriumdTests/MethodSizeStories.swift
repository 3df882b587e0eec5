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
                    {"container":"films","items":[{"id":"long","fields":{"title":"\(escaped(400_000))"}}]}
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
    }
}
