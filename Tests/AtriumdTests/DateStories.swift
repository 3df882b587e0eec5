import JSONCodec
import TestSupport
import Testing

extension Stories {
    /// An agenda whose days are those of a zone.
    @Suite struct Dates {
        private static func agenda(_ isolation: String) -> String {
            """
            atrium: 1
            container: agenda
            fields:
              title: { type: text }
              start: { type: time, zone: Europe/Rome }
              day: { type: date, of: start, by: day }
              month: { type: date, of: start, by: month, zone: UTC }
            components:
              - name: filters
                plugin: org.atrium.facets
                isolation: \(isolation)
                settings:
                  sections:
                    - { id: day, field: day, input: several }
                    - { id: month, field: month }
                    - { id: between, field: day, input: range }
              - { name: list, plugin: org.atrium.catalog, isolation: \(isolation) }
            """
        }

        private func withAgenda(
            in isolation: String = "daemon", _ story: (DaemonUnderTest) async throws -> Void
        ) async throws {
            try await withDaemon { daemon in
                try daemon.home.write("agenda.yaml", Self.agenda(isolation))
                let typed = try await daemon.type(
                    """
                    atriumctl apply -f agenda.yaml && atriumctl put agenda/late start=2026-03-28T23:30 &&
                    atriumctl put agenda/early start=2026-03-29T02:30:00 &&
                    atriumctl put agenda/next start=2026-03-29T22:30:00Z && atriumctl put agenda/never title=X
                    """)
                #expect(typed.status == 0, "\(typed)")
                try await story(daemon)
            }
        }

        @Test(arguments: ["daemon", "process"])
        func `a screen follows a day while items come, change, go and are restored`(
            isolation: String
        ) async throws {
            try await withAgenda(in: isolation) { daemon in
                let screen = try await OpenScreen(
                    daemon,
                    [
                        "container": "agenda", "filters": ["day": ["2026-03-29"]],
                        "sort": ["day"],
                    ])
                #expect(screen.ids("list") == ["early"])
                let item = screen.list("list").first
                // 02:30 was skipped, and is kept with what clocks showed.
                #expect(item?["fields"]?["start"]?.string == "2026-03-29T03:30:00+02:00")
                #expect(item?["fields"]?["day"] == nil)
                for (command, ids) in [
                    ("put agenda/late start=2026-03-29", ["early", "late"]),
                    ("put agenda/early start=2026-03-30", ["late"]),
                    ("remove agenda/late", []),
                    ("put agenda/new start=2026-03-29T21:59:59Z", ["new"]),
                ] {
                    let typed = try await daemon.type("atriumctl \(command)")
                    #expect(typed.status == 0, "\(typed)")
                    while screen.ids("list") != ids { try await screen.next() }
                }
                try await daemon.kill()
                try await daemon.start()
                let list = try await daemon.type(
                    "atriumctl list agenda --filter day=2026-03-29 --json")
                #expect(try list.json.ids == ["new"])
                let range = try await daemon.type(
                    "atriumctl list agenda --filter between=2026-03-30.. --sort -day --json")
                #expect(try range.json.ids == ["early", "next"])
            }
        }

        @Test(arguments: ["daemon", "process"])
        func `an open screen follows when the definition has other dates`(isolation: String)
            async throws
        {
            try await withAgenda(in: isolation) { daemon in
                let screen = try await OpenScreen(
                    daemon, ["container": "agenda", "filters": ["day": ["2026-03-30"]]])
                #expect(screen.ids("list") == ["next"])
                let applied = try await daemon.type(
                    "sed -i 's/by: day }/by: day, zone: UTC }/' agenda.yaml && atriumctl apply -f agenda.yaml"
                )
                #expect(applied.output.contains("field day: changed"), "\(applied)")
                while screen.ids("list") != [] { try await screen.next() }
                let filters = try await daemon.type("atriumctl filters agenda --json")
                let sections = try filters.json["sections"]?.array ?? []
                let days = sections.first?["filters"]?.array?.compactMap { $0["id"]?.string }
                #expect(days == ["2026-03-28", "2026-03-29"])
                let described = try await daemon.type("atriumctl describe agenda")
                #expect(described.output.contains("date (day of start, UTC)"), "\(described)")
                #expect(described.output.contains("time (Europe/Rome)"), "\(described)")
                // It says what it said before, in another list.
                let moved = try await daemon.type(
                    """
                    atriumctl describe agenda --definition >again.yaml && atriumctl delete agenda --purge --yes &&
                    atriumctl apply -f again.yaml && atriumctl apply -f agenda.yaml
                    """)
                #expect(moved.output.contains("unchanged"), "\(moved)")
            }
        }

        @Test(arguments: ["daemon", "process"])
        func `what the definition selects is what a screen shows that is opened without filters`(
            isolation: String
        ) async throws {
            try await withAgenda(in: isolation) { daemon in
                let typed = try await daemon.type(
                    """
                    sed -i 's/id: day, field: day,/id: day, field: day, selected: today,/' agenda.yaml &&
                    atriumctl apply -f agenda.yaml && atriumctl put agenda/now start=$(date -u +%FT%TZ) &&
                    atriumctl put agenda/before start=2020-01-01
                    """)
                #expect(typed.status == 0, "\(typed)")
                let screen = try await OpenScreen(daemon, ["container": "agenda"])
                #expect(screen.ids("list") == ["now"])
                let all = try await OpenScreen(daemon, ["container": "agenda", "filters": [:]])
                #expect(all.total("list") == 6)
                let cleared = try await daemon.type(
                    "atriumctl screen clear \(screen.id) && atriumctl screen select \(screen.id) day=today"
                )
                #expect(cleared.output == "revision 2\nrevision 3\n", "\(cleared)")
                for command in ["list agenda --filter day=today", "filters agenda"] {
                    let typed = try await daemon.type("atriumctl \(command)")
                    #expect(
                        typed.output.contains(command.hasPrefix("list") ? "now" : "Today"),
                        "\(typed)")
                }
                let wrong = try await daemon.type(
                    "sed 's/selected: today/selected: tody/' agenda.yaml >w.yaml; atriumctl apply -f w.yaml"
                )
                #expect(wrong.errors.contains("there is no filter 'tody'"), "\(wrong)")
            }
        }

        @Test(arguments: ["daemon", "process"])
        func `a calendar offers the seven days of this week, and today is selected`(
            isolation: String
        ) async throws {
            try await withAgenda(in: isolation) { daemon in
                let typed = try await daemon.type(
                    """
                    sed -i 's/field: day, input: several/field: day, input: single, days: this-week, selected: today/' agenda.yaml &&
                    atriumctl apply -f agenda.yaml && atriumctl put agenda/now start=$(date -u +%FT%TZ)
                    """)
                #expect(typed.status == 0, "\(typed)")
                // Of the zone, for which midnight may come while this runs.
                let days = try await daemon.type(
                    "TZ=Europe/Rome; export TZ; date +%F; for n in 0 1 2 3 4 5 6; do "
                        + "date -d \"$(date -d \"-$(( $(date +%u) - 1 )) days\" +%F) +$n days\" +%F; done"
                ).lines
                let screen = try await OpenScreen(daemon, ["container": "agenda"])
                #expect(screen.ids("list") == ["now"])
                let filters = try await daemon.type("atriumctl filters agenda --json")
                let section = try filters.json["sections"]?.array?.first
                let offered = section?["filters"]?.array?.compactMap { $0["id"]?.string } ?? []
                #expect(offered.filter { $0 != "today" } == Array(days.dropFirst()), "\(filters)")
                let today = try await daemon.type(
                    "atriumctl screen select \(screen.id) day=\(days.first ?? "")")
                #expect(today.output == "revision 2\n", "\(today)")
                let other = try await daemon.type(
                    "atriumctl screen select \(screen.id) day=2026-03-30")
                #expect(other.status == 0, "\(other)")
                while screen.ids("list") != ["next"] { try await screen.next() }
            }
        }

        @Test func `what a date can't be is refused with what to do`() async throws {
            try await withAgenda { daemon in
                let put = try await daemon.type("atriumctl put agenda/x day=2026-03-29")
                #expect(put.status == 1)
                #expect(put.errors.contains("nothing, as it follows from 'start'"), "\(put)")
                let time = try await daemon.type("atriumctl put agenda/x start=soon")
                #expect(time.errors.contains("or a local time of Europe/Rome"), "\(time)")
                let zone = try await daemon.type(
                    "sed 's/Europe.Rome/Europe\\/Roma/' agenda.yaml >w.yaml; atriumctl apply -f w.yaml"
                )
                #expect(
                    zone.errors.contains("w.yaml:5:30: fields.start.zone: there is no time zone"),
                    "\(zone)")
                #expect(zone.errors.contains("did you mean 'Europe/Rome'?"), "\(zone)")
                // Titles are there, and a date is not put.
                let typed = try await daemon.type(
                    "sed 's/title: { type: text }/title: { type: date, of: start, by: day }/' agenda.yaml >w.yaml; "
                        + "atriumctl apply -f w.yaml")
                #expect(typed.errors.contains("nothing, as it follows from 'start'"), "\(typed)")
            }
        }
    }
}
