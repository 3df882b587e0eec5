import Foundation
import JSONCodec
import TestSupport
import Testing

extension Stories {
    /// Clients: ours, and those of other languages.
    @Suite struct Clients {
        @Test(.enabled(if: Checkout.python != nil, "run 'make test-deps' for Python's varlink"))
        func `Python's client lists the interfaces and calls a method`() async throws {
            let python = try #require(Checkout.python)
            try await withFilms { daemon in
                let client = "\(python) -m varlink.cli"
                let known = try await daemon.type("\(client) info unix:$ATRIUM_SOCKET")
                #expect(known.status == 0, "\(known)")
                for interface in ["Contents", "Votes", "Comments", "Containers", "Notifications"] {
                    #expect(known.output.contains("org.atrium.\(interface)"), "\(known)")
                }
                let text = try await daemon.type(
                    "\(client) help unix:$ATRIUM_SOCKET/org.atrium.Contents")
                #expect(text.output.contains("method List"), "\(text)")
                let listed = try await daemon.type(
                    "\(client) call unix:$ATRIUM_SOCKET/org.atrium.Contents.List "
                        + "'{\"container\":\"films\",\"search\":\"godfather\",\"sort\":[\"year\"]}'"
                )
                #expect(try listed.json.ids.first == "the-godfather-1972", "\(listed)")
            }
        }

        @Test func `the exit status distinguishes refused, wrong usage and unreachable`()
            async throws
        {
            try await withFilms { daemon in
                for (line, status) in [
                    ("atriumctl status", 0), ("atriumctl list songs", 1),
                    ("atriumctl vote films/no-such-film 3", 1), ("atriumctl lisst", 2),
                    ("atriumctl vote films/alien-1979", 2), ("atriumctl list films --limit x", 2),
                    ("atriumctl --socket /nowhere/at.all status", 3),
                ] {
                    let done = try await daemon.type(line)
                    #expect(done.status == status, "\(line): \(done)")
                    #expect(done.errors.isEmpty == (status == 0), "\(line): \(done)")
                    #expect(done.output.isEmpty == (status != 0), "\(line): \(done)")
                }
                for (line, meant) in [
                    ("list flims", "'films'"), ("vote alien-1979 5", "'films/alien-1979'"),
                    ("vote films/alein-1979 5", "'films/alien-1979'"),
                    ("vote films/casablanca 5", "'films/casablanca-1942'"),
                    ("list films --component lsit", "'list'"), ("put films/new titel=A", "'title'"),
                ] {
                    let typo = try await daemon.type("atriumctl \(line)")
                    #expect(
                        typo.errors.contains("did you mean \(meant)?"), "\(line): \(typo.errors)")
                }
            }
        }

        @Test func `an import names bad lines, counts them, and keeps the good ones`()
            async throws
        {
            try await withFilms { daemon in
                let lines = [
                    #"{"id":"good-1","fields":{"title":"Good"}}"#, "no JSON at all",
                    #"{"id":"bad-2","fields":{"title":"Bad","rating":"eleven"}}"#,
                    #"{"id":"good-2","fields":{"title":"Good too"}}"#,
                ]
                try daemon.home.write("some.ndjson", lines.joined(separator: "\n") + "\n")
                let imported = try await daemon.type("atriumctl import films some.ndjson")
                #expect(imported.status == 1)
                #expect(imported.output.contains("2 inserted"), "\(imported)")
                #expect(imported.errors.contains("line 2"), "\(imported)")
                #expect(imported.errors.contains("line 3"), "\(imported)")
                #expect(imported.errors.contains("rating"), "\(imported)")
            }
        }

        @Test func `what init writes is applied, its file is imported, and nothing is overwritten`()
            async throws
        {
            let files = URL(filePath: #filePath).deletingLastPathComponent()
                .deletingLastPathComponent().appending(path: "AtriumctlTests/Golden").path
            try await withDaemon { daemon in
                for (file, name, items) in [
                    ("diary.csv", "diary", "Items: 5\n"),
                    ("watchlist.csv", "watchlist", "Items: 4\n"),
                    ("lager.csv", "lager", "Items: 4\n"),
                    ("schedule.json", "schedule", "Items: 3\n"),
                    ("games.tsv", "games", "Items: 4\n"),
                    ("albums.ndjson", "albums", "Items: 4\n"),
                    ("members.csv", "members", "Items: 3\n"),
                    ("favourites.csv", "favourites", "Items: 4\n"),
                    ("books.csv", "books", "Items: 3\n"),
                    ("preise.csv", "preise", "Items: 3\n"),
                    ("sheet.txt", "sheet", "Items: 3\n"),
                    ("library.json", "library", "Items: 4\n"),
                ] {
                    let done = try await daemon.type("atriumctl init \(files)/\(file) --yes")
                    #expect(done.status == 0, "\(done)")
                    #expect(done.output.contains(" 0 bad "), "\(done)")
                    let listed = try await daemon.type("atriumctl describe \(name)")
                    #expect(listed.output.contains(items), "\(listed)")
                    let again = try await daemon.type("atriumctl init \(files)/\(file) --yes")
                    #expect(
                        again.errors.contains("there is a file \(name).yaml already"), "\(again)")
                }
                let other = try await daemon.type(
                    "atriumctl init \(files)/diary.csv --yes --output other.yaml")
                #expect(other.errors.contains("there is a container 'diary' already"), "\(other)")
                #expect(try await daemon.type("test ! -e other.yaml").status == 0)
            }
        }

        @Test func `a folder of music is a jukebox at once`() async throws {
            try await withDaemon { daemon in
                let made = try await daemon.type(
                    "$EXAMPLES/compilation/make-tracks 'My Tracks' && atriumctl init 'My Tracks' --yes"
                )
                #expect(made.status == 0, "\(made)")
                #expect(made.output.contains("my-tracks created"), "\(made)")
                try await until {
                    try await daemon.type("atriumctl list my-tracks -o ids").lines.count == 9
                }
                let voted = try await daemon.type("atriumctl vote 'my-tracks/07 Thirds.wav' 5")
                #expect(voted.status == 0, "\(voted)")
                let again = try await daemon.type("atriumctl init 'My Tracks' --yes")
                #expect(again.errors.contains("there is a file my-tracks.yaml already"), "\(again)")
                let empty = try await daemon.type("mkdir none && atriumctl init none --output -")
                #expect(empty.errors.contains("the folder none holds no music"), "\(empty)")
            }
        }

        @Test func `an export of everything fills a fresh daemon`() async throws {
            try await withFilms { old in
                for line in [
                    "atriumctl vote films/alien-1979 5", "atriumctl vote films 4",
                    "atriumctl comment films/alien-1979 'In space.' --id first",
                    "atriumctl reply films first 'Nobody hears.' --id second",
                    "atriumctl put films/my-film-2020 title='My film' year=2020",
                ] {
                    let done = try await old.type(line)
                    #expect(done.status == 0, "\(line): \(done)")
                }
                let saved = try await old.type("atriumctl export films --all")
                #expect(saved.status == 0, "\(saved.errors)")
                try await withDaemon { new in
                    try new.home.write("saved.ndjson", saved.output)
                    let restored = try await new.type(
                        "atriumctl apply -f $EXAMPLES/films.yaml && "
                            + "atriumctl import films saved.ndjson")
                    #expect(restored.status == 0, "\(restored)")
                    for line in [
                        "atriumctl list films --all --json", "atriumctl thread films/alien-1979",
                        "atriumctl describe films --json",
                    ] {
                        let (before, after) = (try await old.type(line), try await new.type(line))
                        #expect(
                            Self.withoutSequence(before.output)
                                == Self.withoutSequence(after.output), "\(line)")
                    }
                    let mine = try await new.peer().call(
                        "org.atrium.Votes.Tally",
                        [
                            "container": "films", "item": "alien-1979",
                            "actor": .string("unix:\(geteuid())"),
                        ])
                    #expect(mine["parameters"]?["tally"]?["mine"]?.double == 5)
                    let again = try await new.type("atriumctl import films saved.ndjson --json")
                    #expect(try again.json["inserted"]?.int == 0)
                    #expect(try again.json["restored"]?.int == 0)
                }
            }
        }

        private static func withoutSequence(_ text: String) -> String {
            text.replacing(#/"sequence":\d+|"next":"[^"]*"/#, with: "")
        }
    }
}
