import Foundation
import TestSupport
import Testing

extension Stories {
    /// `atriumctl list`, in its forms.
    @Suite struct Lists {
        @Test func `a pipe has the whole list, in any form, and csv is taken back`() async throws {
            try await withFilms { daemon in
                let many = try await daemon.type(
                    "for i in $(seq 1001 2300); do echo "
                        + "'{\"id\":\"n'$i'\",\"title\":\"Film '$i'\"}'; done >many && "
                        + "atriumctl import films many")
                #expect(many.status == 0, "\(many)")
                let table = try await daemon.type("atriumctl list films")
                #expect(table.lines.count == 1 + 1425, "\(table.errors)")
                #expect(table.lines.first?.hasPrefix("ID ") == true)
                #expect(table.errors == "1,425 of 1,425\n")
                let ids = try await daemon.type("atriumctl list films -o ids")
                #expect(ids.lines.count == 1425 && ids.lines.contains("alien-1979"))
                let pages = try await daemon.type("atriumctl list films --output json")
                #expect(try pages.jsonLines.flatMap(\.ids) == ids.lines)
                #expect(
                    pages.output == (try await daemon.type("atriumctl list films --json")).output)
                let part = try await daemon.type("atriumctl list films --limit 3")
                #expect(part.lines.count == 4)
                #expect(part.errors == "3 of 1,425; a higher --limit shows more\n")
                let pastOnePage = try await daemon.type(
                    "atriumctl list films --limit 1200 -o ids")
                #expect(pastOnePage.lines == Array(ids.lines.prefix(1200)), "\(pastOnePage.errors)")
                let both = try await daemon.type("atriumctl list films --json -o csv")
                #expect(both.status == 2, "\(both)")

                let csv = try await daemon.type("atriumctl list films -o csv | tee films.csv")
                #expect(csv.lines.count == 1 + 1425)
                #expect(
                    csv.lines[0].hasPrefix("id,title,"), "\(csv.lines[0])")
                #expect(csv.lines[0].hasSuffix(",parent,votes.score,votes.count,comments.count"))
                let again = try await daemon.type("atriumctl import films films.csv")
                #expect(again.status == 0)
                #expect(again.output.contains("1,425 unchanged"), "\(again)")
            }
        }

        @Test func `csv loses nothing: neither details, nor parents, nor words with bars in them`()
            async throws
        {
            try await withDaemon { daemon in
                try daemon.home.write("things.yaml", Self.things)
                try daemon.home.write(
                    "things.ndjson",
                    #"""
                    {"id":"top","fields":{"title":"Top"}}
                    {"id":"a","fields":{"title":"A","deep":"d","words":["a|b"," c ",""]},"parent":"top"}
                    {"id":"b","fields":{"title":"B","deep":"e","words":["[1]"],"size":3},"parent":"top"}
                    """#)
                let line = "atriumctl apply -f things.yaml && atriumctl import things things.ndjson"
                let made = try await daemon.type(line)
                #expect(made.status == 0, "\(made)")
                let before = try await daemon.type("atriumctl export things")
                let again = try await daemon.type(
                    "atriumctl list things -o csv >t.csv && atriumctl import things t.csv")
                #expect(again.output.contains("3 unchanged"), "\(again)")
                let after = try await daemon.type("atriumctl export things")
                #expect(after.output == before.output)

                // A list of corrections.
                let corrected = try await daemon.type(
                    "printf 'id,title\\nb,New\\n' | atriumctl import things - && "
                        + "atriumctl put things/b size=4 && atriumctl list things --parent top -o ids"
                )
                #expect(corrected.output.hasSuffix("a\nb\n"), "\(corrected)")
                let fields = try await daemon.type("atriumctl describe things/b --json")
                for part in ["\"deep\":\"e\"", "\"title\":\"New\"", "\"size\":4"] {
                    #expect(fields.output.contains(part), "\(fields)")
                }
                let moved = try await daemon.type(
                    "atriumctl put things/b --parent '' && atriumctl list things --parent top -o ids"
                )
                #expect(moved.output.hasSuffix("changed\na\n"), "\(moved)")
            }
        }

        private static let things = """
            atrium: 1
            container: things
            fields:
              title: { type: text }
              deep:  { type: text, details: true }
              words: { type: keywords }
              size:  { type: integer }
            components:
              - { name: list, plugin: org.atrium.catalog }
            """

        @Test func `a terminal has it through the pager, which may leave early`() async throws {
            try await withFilms { daemon in
                try daemon.home.write(
                    "pager", "head -n 3 >paged\necho seen \"$LESS\"\nread -r <&2 answer\n")
                try await Tmux.run(
                    "export PAGER='bash pager'; unset LESS; atriumctl list films", on: daemon
                ) { terminal in
                    try await terminal.shows("seen FRX")
                    #expect(try await !terminal.screen().contains("125 of 125"))
                    try await terminal.press("Enter")
                    try await terminal.shows("no room for: ")
                    try await terminal.shows("125 of 125")
                    try await terminal.shows("ended with 0")
                    let paged = try String(
                        contentsOfFile: daemon.home.path + "/paged", encoding: .utf8)
                    #expect(
                        paged.contains("12-angry-men") && paged.contains("12 Angry Men"), "\(paged)"
                    )
                }
            }
        }

        @Test func `a pager that is not there is named, and the list printed without`() async throws
        {
            try await withFilms { daemon in
                // A folder has the permission to be entered, which is that of a program to be run.
                for (pager, program) in [("no-such-pager -F", "no-such-pager"), ("./run", "./run")]
                {
                    let line = "PAGER='\(pager)' atriumctl list films --limit 3"
                    try await Tmux.run(line, on: daemon) { terminal in
                        try await terminal.shows(
                            "there is no program '\(program)', as PAGER has it")
                        try await terminal.shows("12 Angry Men")
                        try await terminal.shows("ended with 0")
                    }
                }
            }
        }
    }
}
