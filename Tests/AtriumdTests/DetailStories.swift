import JSONCodec
import TestSupport
import Testing

extension Stories.Sources {
    private func focus(_ screen: OpenScreen, on item: String, _ daemon: DaemonUnderTest)
        async throws
    {
        let hand = try daemon.peer()
        let reply = try await hand.call(
            "org.atrium.Screens.Focus", ["screen": .string(screen.id), "item": .string(item)])
        let revision = try #require(reply["parameters"]?["revision"]?.int, "\(reply)")
        while screen.revision < revision { try await screen.next() }
    }

    @Test func `fields that are in no list come with the item in focus, and follow it`()
        async throws
    {
        try await withDaemon { daemon in
            let made = try await daemon.type(
                """
                cat >f.yaml <<'.'
                atrium: 1
                container: films
                fields: { title: { type: text }, plot: { type: text, details: true, search: true } }
                components: [{ name: list, plugin: org.atrium.catalog }]
                .
                atriumctl apply -f f.yaml &&
                atriumctl put films/a title=Alien plot=Space &&
                atriumctl put films/b title=Brazil
                """)
            #expect(made.status == 0, "\(made)")
            let screen = try await OpenScreen(daemon, ["container": "films"])
            #expect(
                screen.list("list").map { $0["fields"] } == [
                    ["title": "Alien"], ["title": "Brazil"],
                ])
            #expect(screen.details == nil)
            #expect(screen.outline?["fields"]?[1]?["details"]?.bool == true)
            try await focus(screen, on: "a", daemon)
            #expect(screen.details == ["plot": "Space"])
            _ = try await daemon.type("atriumctl put films/a plot='A ship'")
            while screen.details != ["plot": "A ship"] { try await screen.next() }
            #expect(screen.list("list")[0]["fields"] == ["title": "Alien"])
            try await focus(screen, on: "b", daemon)
            #expect(screen.details == .object([]))
            try await focus(screen, on: "a", daemon)
            _ = try await daemon.type("atriumctl remove films/a")
            while screen.details != .object([]) { try await screen.next() }

            _ = try await daemon.type("atriumctl put films/b plot=Forms")
            let listed = try await daemon.type("atriumctl list films --search form --json")
            #expect(try listed.json["items"]?[0]?["fields"] == ["title": "Brazil"], "\(listed)")
            let got = try await daemon.type("atriumctl describe films/b")
            #expect(got.output.contains("Forms"), "\(got)")
            let exported = try await daemon.type("atriumctl export films")
            #expect(exported.output.contains("Forms"), "nothing is lost: \(exported)")
            let wrong = try await daemon.type(
                "echo 'present: { columns: [plot] }' >>f.yaml && atriumctl apply -f f.yaml")
            #expect(wrong.status != 0 && wrong.errors.contains("a field that items in lists have"))
        }
    }

    @Test(arguments: ["daemon", "process"])
    func `a source adds what it knows, and is asked again when it has found out more`(
        isolation: String
    ) async throws {
        try await withDaemon(options) { daemon in
            try await Self.apply(
                daemon, isolation: isolation, fields: ", asked: { type: integer, details: true }")
            try Self.write(daemon, "a|Alien\n")
            let peer = try daemon.peer()
            try await until { try await Self.status(peer)["items"]?.int == 1 }
            let screen = try await OpenScreen(daemon, ["container": "notes"])
            // The first question is somebody else's.
            let got = try await daemon.type("atriumctl describe notes/a --json")
            #expect(try got.json["details"]?["asked"]?.int == 1, "\(got)")
            try await focus(screen, on: "a", daemon)
            while screen.details != ["asked": 3] { try await screen.next() }
        }
    }
}
