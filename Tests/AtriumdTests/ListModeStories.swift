import JSONCodec
import TestSupport
import Testing

extension Stories {
    /// Lists by mode, as people who type and front ends have them.
    @Suite struct ListModes {
        private static func agency(_ isolation: String) -> String {
            """
            cat >f.yaml <<'.'
            atrium: 1
            container: agency
            fields: { name: { type: text, search: true } }
            components:
              - { name: firms, plugin: org.atrium.catalog, isolation: \(isolation) }
              - { name: units, plugin: org.atrium.catalog, isolation: \(isolation) }
              - { name: everything, plugin: org.atrium.catalog, isolation: \(isolation) }
              - { name: stars, plugin: org.atrium.stars, isolation: \(isolation) }
            contents: [firms]
            entered: [units]
            searched: [everything]
            activate: picked
            .
            atriumctl apply -f f.yaml &&
            atriumctl put agency/acme name=Acme --component firms &&
            atriumctl put agency/bolt name=Bolt --component firms &&
            atriumctl put agency/lab name=Laboratory --component units --parent acme &&
            atriumctl put agency/lens name=Lenses --component units --parent lab &&
            atriumctl put agency/lab name=Laboratory --component everything --parent acme
            """
        }

        private func withAgency(
            in isolation: String = "daemon", _ story: (DaemonUnderTest) async throws -> Void
        ) async throws {
            try await withDaemon { daemon in
                let made = try await daemon.type(Self.agency(isolation))
                #expect(made.status == 0, "\(made)")
                #expect(made.output.contains("shows units inside an item"), "\(made)")
                try await story(daemon)
            }
        }

        /// What a screen shows once it has a revision.
        private func show(_ reply: JSONValue, on screen: OpenScreen) async throws {
            let revision = try #require(reply["parameters"]?["revision"]?.int, "\(reply)")
            while screen.revision < revision { try await screen.next() }
            #expect(screen.revision == revision, "one revision for one choice")
        }

        @Test(arguments: ["daemon", "process"])
        func `a front end follows a search, an item and the way back with what it has`(
            isolation: String
        ) async throws {
            try await withAgency(in: isolation) { daemon in
                let screen = try await OpenScreen(daemon, ["container": "agency"])
                #expect(screen.ids("firms") == ["acme", "bolt"])
                let hand = try daemon.peer()
                func act(_ method: String, _ more: [(String, JSONValue)]) async throws {
                    let members = [("screen", JSONValue.string(screen.id))] + more
                    let reply = try await hand.call(
                        "org.atrium.Screens.\(method)",
                        .object(members.map { .init($0.0, $0.1) }))
                    try await show(reply, on: screen)
                }
                try await act("Search", [("text", "lab")])
                #expect(screen.ids("everything") == ["lab"])
                #expect(screen.ids("firms") == [], "its list is gone")
                try await act("Enter", [("item", "lab")])
                #expect(screen.path == ["acme", "lab"])
                #expect(screen.ids("units") == [] && screen.ids("everything") == [])
                try await act("Search", [("text", "")])
                #expect(screen.ids("units") == ["lens"])
                try await act("Back", [])
                #expect(screen.ids("units") == ["lab"])

                let vote = try await daemon.type("atriumctl vote agency/lab 4")
                #expect(vote.status == 0, "\(vote)")
                let moved = try await daemon.type(
                    "atriumctl put agency/lab name=Laboratory --component units --parent bolt")
                #expect(moved.status == 0, "\(moved)")
                while screen.ids("units") == ["lab"] { try await screen.next() }
                #expect(screen.path == ["acme"])
                _ = try await daemon.type("atriumctl remove agency/acme --component firms")
                while screen.path != [] { try await screen.next() }
                #expect(screen.ids("firms") == ["bolt"])
            }
        }

        @Test(arguments: ["daemon", "process"])
        func `items say how many lie under them, as these come and go in another list`(
            isolation: String
        ) async throws {
            try await withAgency(in: isolation) { daemon in
                let screen = try await OpenScreen(daemon, ["container": "agency"])
                let children = { screen.list("firms").map { $0["children"]?.int } }
                #expect(children() == [1, nil])
                _ = try await daemon.type(
                    "atriumctl put agency/shop name=Shop --component units --parent bolt")
                while children() != [1, 1] { try await screen.next() }
                _ = try await daemon.type(
                    "atriumctl put agency/shop name=Shop --component units --parent acme")
                while children() != [2, nil] { try await screen.next() }
                let other = try await OpenScreen(daemon, ["container": "agency"])
                #expect(other.list("firms").map { $0["children"]?.int } == [2, nil])
                let listed = try await daemon.type("atriumctl list agency --json")
                #expect(try listed.json["items"]?[0]?["children"]?.int == 2, "\(listed)")
                let table = try await daemon.type("atriumctl list agency")
                #expect(table.output.contains("INSIDE"), "\(table)")
                let shown = try await daemon.type("atriumctl describe agency/acme")
                #expect(shown.output.contains("Items inside: 2"), "\(shown)")
                _ = try await daemon.type("atriumctl remove agency/shop --component units")
                _ = try await daemon.type("atriumctl remove agency/lab --component units")
                while children() != [nil, nil] { try await screen.next() }
            }
        }

        @Test func `what is typed reads the list of the mode, and says which lists stand where`()
            async throws
        {
            try await withAgency { daemon in
                let top = try await daemon.type("atriumctl list agency --json")
                #expect(try top.json.ids == ["acme", "bolt"])
                let found = try await daemon.type("atriumctl list agency --search lab --json")
                #expect(try found.json.ids == ["lab"])
                let described = try await daemon.type("atriumctl describe agency")
                for line in [
                    "Shows: firms", "Inside an item: units", "While searching: everything",
                ] {
                    #expect(described.output.contains(line), "\(described)")
                }
                let scoped = try await daemon.type(
                    """
                    sed -i '/^contents\\|^entered\\|^searched/d' f.yaml
                    echo 'scopes: [{ name: all, contents: [firms], entered: [units] }]' >>f.yaml
                    atriumctl apply -f f.yaml && atriumctl describe agency
                    """)
                #expect(!scoped.output.contains("shows all lists"), "scopes say what is shown")
                #expect(scoped.output.contains("added, shows firms; units inside an item"))
                #expect(scoped.output.contains("inside an item"), "\(scoped)")
            }
        }

        @Test func `a pipe gets line by line where it went, and which lists came and went`()
            async throws
        {
            try await withAgency { daemon in
                try await daemon.follow("timeout 60 atriumctl open agency") { lines in
                    let head = try await lines.next()
                    let id = try String(#require(head.firstMatch(of: #/screen ([^ ]+)/#)?.1))
                    let gone = try await daemon.type("atriumctl screen enter \(id) acme")
                    #expect(gone.output == "revision 2\n", "\(gone)")
                    var line = ""
                    for told in [
                        "units: lab came to place 1", "path: /acme", "component units: shown",
                        "component firms: gone",
                    ] {
                        while !line.contains(told) { line = try await lines.next() }
                    }
                }
            }
        }

        @Test(arguments: ["daemon", "process"])
        func `screens stay open while lists are applied elsewhere, and after a crash`(
            isolation: String
        ) async throws {
            try await withAgency(in: isolation) { daemon in
                let screen = try await OpenScreen(daemon, ["container": "agency", "search": "lab"])
                #expect(screen.ids("everything") == ["lab"])
                let applied = try await daemon.type(
                    "sed -i 's/^searched:.*/searched: [units]/' f.yaml; atriumctl apply -f f.yaml")
                #expect(applied.output.contains("shows units while searching"), "\(applied)")
                while screen.ids("units") != ["lab"] { try await screen.next() }
                #expect(screen.ids("everything") == [])
                try await daemon.kill()
                try await daemon.start()
                try await screen.open(resuming: true)
                #expect(screen.ids("units") == ["lab"])
            }
        }

        @Test(arguments: [
            ("contents: [firms]\nentered: [unit]", "there is no component 'unit'"),
            ("contents: [firms]\nsearched: [stars]", "searched[0]: 'stars' is of the kind votes"),
            ("contents: [firms]\nsearched: []", "searched: at least one component is shown"),
            ("entered: [units]", "'contents' is missing beside it"),
        ])
        func `wrong lists are refused, and what there is stays`(
            _ lists: String, _ reason: String
        ) async throws {
            try await withAgency { daemon in
                let wrong = try await daemon.type(
                    """
                    sed '/^contents\\|^entered\\|^searched/d' f.yaml >g.yaml
                    printf '%s\\n' '\(lists)' >>g.yaml
                    atriumctl apply -f g.yaml
                    """)
                #expect(wrong.status == 1, "\(wrong)")
                #expect(wrong.errors.contains(reason), "\(wrong)")
                let list = try await daemon.type("atriumctl list agency --json")
                #expect(try list.json.ids == ["acme", "bolt"])
            }
        }
    }
}
