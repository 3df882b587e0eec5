import JSONCodec
import TestSupport
import Testing

extension Stories {
    /// A container's modes, as people who type and front ends have them.
    @Suite struct Scopes {
        /// A film club with an archive, and scopes.
        private static let scoped = """
            (cat $EXAMPLES/films.yaml
            sed -n 's/{ name: list,/{ name: archive,/p' $EXAMPLES/films.yaml
            echo 'activate: picked'
            echo 'scopes:'
            echo '  - { name: now, title: On now, contents: [list] }'
            echo '  - { name: past, title: Shown before, contents: [archive], activate: recalled }'
            echo '  - { name: all, contents: [archive, list] }') >f.yaml
            atriumctl apply -f f.yaml
            """

        private func withScopes(_ story: (DaemonUnderTest) async throws -> Void) async throws {
            try await withFilms { daemon in
                let applied = try await daemon.type(Self.scoped)
                #expect(applied.status == 0, "\(applied)")
                #expect(applied.output.contains("scope past: added, shows archive"), "\(applied)")
                let put = try await daemon.type(
                    "atriumctl put films/laura-1944 title=Laura genres=crime --component archive")
                #expect(put.status == 0, "\(put)")
                try await story(daemon)
            }
        }

        @Test func `what is typed knows scopes, and says which there are`() async throws {
            try await withScopes { daemon in
                let list = try await daemon.type("atriumctl list films --scope past --json")
                #expect(try list.json.ids == ["laura-1944"])
                let filters = try await daemon.type("atriumctl filters films --scope past --json")
                #expect(try filters.json["total"]?.int == 1)
                let described = try await daemon.type("atriumctl describe films")
                #expect(described.output.contains("Shown before"), "\(described)")
                for command in [
                    "list films --scope pst", "open films --scope pst", "filters films --scope pst",
                ] {
                    let wrong = try await daemon.type("timeout 60 atriumctl \(command)")
                    #expect(wrong.status == 1, "\(wrong)")
                    #expect(wrong.errors.contains("there is no scope 'pst'"), "\(wrong)")
                    #expect(
                        wrong.errors.contains("did you mean 'past'? There are: now, past, all."),
                        "\(wrong)")
                }
                let outside = try await daemon.type(
                    "atriumctl list films --scope past --component list")
                #expect(outside.status == 1)
                #expect(
                    outside.errors.contains("'past' does not show 'list', but archive"),
                    "\(outside)")
                let detached = try await daemon.type(
                    "atriumctl detach films archive && atriumctl describe films")
                #expect(detached.output.contains("archive (detached)"), "\(detached)")
            }
        }

        @Test func `a screen goes from scope to scope, in a pipe line by line`() async throws {
            try await withScopes { daemon in
                try await daemon.follow("timeout 60 atriumctl open films --limit 2") { lines in
                    let head = try await lines.next()
                    #expect(head.contains("scope now"), "\(head)")
                    let id = try String(#require(head.firstMatch(of: #/screen ([^ ]+)/#)?.1))
                    let gone = try await daemon.type("atriumctl screen scope \(id) past")
                    #expect(gone.output == "revision 2\n", "\(gone)")
                    var line = ""
                    for told in [
                        "scope: past", "archive: laura-1944 came to place 1",
                        "component list: gone",
                    ] {
                        while !line.contains(told) { line = try await lines.next() }
                    }
                    let wrong = try await daemon.type("atriumctl screen scope \(id) then")
                    #expect(wrong.errors.contains("There are: now, past, all."), "\(wrong)")
                }
            }
        }

        @Test func `each scope is posted by its own name, and shows its own lists`() async throws {
            try await withScopes { daemon in
                let screen = try await OpenScreen(
                    daemon, ["container": "films", "limit": 3, "sort": ["title"]])
                #expect(screen.scope == "now")
                let hand = try daemon.peer()
                let went = try await hand.call(
                    "org.atrium.Screens.SetScope",
                    ["screen": .string(screen.id), "scope": "all"])
                let revision = try #require(went["parameters"]?["revision"]?.int)
                while screen.revision < revision { try await screen.next() }
                #expect(screen.scope == "all")
                #expect(screen.ids("archive") == ["laura-1944"])
                #expect(screen.list("list").count == 3)
                for (scope, item, topic) in [
                    ("past", "laura-1944", "recalled"), ("now", "heat-1995", "picked"),
                ] {
                    _ = try await hand.call(
                        "org.atrium.Screens.SetScope",
                        ["screen": .string(screen.id), "scope": .string(scope)])
                    let chosen = try await hand.call(
                        "org.atrium.Screens.Activate",
                        ["screen": .string(screen.id), "item": .string(item)])
                    let sequence = try #require(chosen["parameters"]?["sequence"]?.int)
                    try await daemon.follow(
                        "timeout 60 atriumctl watch 'films.items.>' --after \(sequence - 1) --json"
                    ) { lines in
                        var told = ""
                        while !told.contains("films.items.") { told = try await lines.next() }
                        #expect(told.contains("films.items.\(topic)"), "\(told)")
                        #expect(told.contains(#""scope":"\#(scope)""#), "\(told)")
                    }
                }
                while screen.scope != "now" { try await screen.next() }
                #expect(screen.ids("archive") == [])
                #expect(screen.total("list") == 125)
            }
        }

        @Test func `a screen that starts anew after a crash opens in the scope that it was in`()
            async throws
        {
            try await withScopes { daemon in
                try await daemon.follow("timeout 60 atriumctl open films 2>&1") { lines in
                    let head = try await lines.next()
                    let id = try String(#require(head.firstMatch(of: #/screen ([^ ]+)/#)?.1))
                    _ = try await daemon.type("atriumctl screen scope \(id) past")
                    var line = ""
                    while !line.contains("scope: past") { line = try await lines.next() }
                    try await daemon.kill()
                    try await daemon.start()
                    while !line.contains("started anew: ") { line = try await lines.next() }
                    #expect(try await lines.next().contains("scope past"))
                }
            }
        }

        @Test(arguments: [
            (
                "{ name: now, contents: [lst] }",
                "scopes[0].contents[0]: there is no component 'lst'"
            ),
            ("{ name: now, contents: [stars] }", "'stars' is of the kind votes"),
            ("{ name: now }", "scopes[0]: 'contents' is missing"),
        ])
        func `a wrong scope is refused, and the container stays as it is`(
            _ scope: String, _ reason: String
        ) async throws {
            try await withFilms { daemon in
                let wrong = try await daemon.type(
                    "(cat $EXAMPLES/films.yaml; echo 'scopes:'; echo '  - \(scope)') >f.yaml; "
                        + "atriumctl apply -f f.yaml")
                #expect(wrong.status == 1, "\(wrong)")
                #expect(wrong.errors.contains(reason), "\(wrong)")
                let list = try await daemon.type("atriumctl list films --scope now")
                #expect(list.errors.contains("the container has no scopes."), "\(list)")
            }
        }
    }
}
