import Foundation
import Glibc
import TestSupport

/// What made-up calls are made to: containers with components of every kind, in the daemon and in workers; and who
/// makes the calls.
struct FuzzWorld {
    /// Somebody with a role; where the tests are not run by root, everybody is who runs them.
    struct Role: Sendable {
        let name: String
        /// nil: as who runs the tests, an administrator.
        let credentials: Credentials?
    }

    /// The plugins that are only there for tests: a source that is asked, one with pictures, a gate, and a program.
    private let plugins: TemporaryDirectory

    /// One of each role; Debian's own accounts stand for people, and whoever the settings don't name observes.
    static let roles = [
        Role(name: "admin", credentials: nil),
        Role(name: "member", credentials: Credentials(uid: 5, gid: 20_000)),
        Role(name: "frontend", credentials: Credentials(uid: 33, gid: 20_000)),
        Role(name: "observer", credentials: Credentials(uid: 20_001, gid: 20_000)),
    ].map { geteuid() == 0 ? $0 : Role(name: "admin", credentials: nil) }

    /// The containers, which one more `apply` brings back.
    static let apply =
        "atriumctl apply -f $EXAMPLES/films.yaml -f workers.yaml -f shelf.yaml -f notes.yaml "
        + "-f asked.yaml && atriumctl apply -f day.yaml"

    /// The items, which one more import brings back.
    static let fill = """
        atriumctl import films some.ndjson && atriumctl import workers some.ndjson \
        && atriumctl import shelf books.ndjson --component archive \
        && atriumctl put day/monday start=2026-01-05T08:00:00Z
        """

    init() throws {
        plugins = try TemporaryDirectory()
        try plugins.addBreaker("asker")
        try plugins.addBreaker("notebook", more: #", "paths": ["folder"]"#)
        try plugins.addBreaker("gate", kind: "delegate")
        try FileManager.default.copyItem(
            atPath: Checkout.root + "/Tests/Fixtures/Programs/likes",
            toPath: plugins.path + "/likes")
    }

    var options: DaemonUnderTest.Options {
        var options = DaemonUnderTest.Options()
        options.configuration["atrium.yaml"] = """
            pluginPath: [\(plugins.path)]
            delegates: [org.atrium.gate]
            members: [games]
            frontends: [www-data=web]
            limits:
              bytesPerUser: 32M
              queuedBytes: 16M
              screensPerUser: 100
              screenLinger: 1
              writesPerMinute: 100000

            """
        return options
    }

    /// Makes it all.
    func make(in daemon: DaemonUnderTest) async throws -> Finished {
        // Whoever has a role may connect.
        chmod(daemon.socket, 0o666)
        let home = daemon.home
        try home.write("shelf.yaml", Self.shelf(home.path))
        try home.write("notes.yaml", Self.notes(home.path))
        try home.write("asked.yaml", Self.asked)
        try home.write("day.yaml", Self.day)
        try home.write("books.ndjson", Self.books)
        try home.write("shelf/books.ndjson", Self.books)
        try home.write("notes/notes.txt", "small|Small\nnone|None|small\n")
        try home.write("notes/small.cover", "GIF89a")
        return try await daemon.type(
            """
            sed '/settings:/!s/plugin: org.atrium.\\(catalog\\)/& , isolation: process/; \
            s/plugin: org.atrium.\\(stars\\|threads\\),/& isolation: process,/; \
            s/container: films/container: workers/' $EXAMPLES/films.yaml >workers.yaml \
            && head -n 40 $EXAMPLES/films.ndjson >some.ndjson && \(Self.apply) && \(Self.fill)
            """)
    }

    // MARK: Containers

    /// A file and a list in scopes, each with a delegate; votes by a program; details, dates and a picture in the item.
    private static func shelf(_ home: String) -> String {
        """
        atrium: 1
        container: shelf
        fields:
          title: { type: text, required: true, search: true }
          year: { type: integer }
          added: { type: time }
          day: { type: date, of: added, by: day, zone: Europe/Berlin }
          plot: { type: markdown, details: true }
          poster: { type: image }
        components:
          - name: filters
            plugin: org.atrium.facets
            settings:
              sections:
                - { id: day, field: day, input: single }
                - { id: year, field: year, input: several }
                - { id: title, field: title, input: text }
          - name: books
            plugin: org.atrium.file
            isolation: process
            settings: { path: \(home)/shelf, file: books.ndjson }
          - { name: archive, plugin: org.atrium.catalog }
          - { name: likes, plugin: org.test.likes }
          - { name: talk, plugin: org.atrium.threads, settings: { subjects: [items, container] } }
        activate: picked
        scopes:
          - name: now
            contents: [books]
            delegate: { plugin: org.atrium.examples.staff, settings: { person: films } }
          - name: past
            contents: [archive]
            entered: [books]
            searched: [books]
            activate: recalled
            delegate: { plugin: org.atrium.gate, settings: { least: 3 } }

        """
    }

    /// A source with pictures that it reads.
    private static func notes(_ home: String) -> String {
        """
        atrium: 1
        container: notes
        fields: { title: { type: text, required: true }, cover: { type: image } }
        components:
          - { name: list, plugin: org.atrium.notebook, settings: { folder: \(home)/notes } }
          - { name: stars, plugin: org.atrium.stars }

        """
    }

    /// A source that is asked.
    private static let asked = """
        atrium: 1
        container: asked
        fields: { title: { type: text, required: true } }
        components:
          - { name: list, plugin: org.atrium.asker, isolation: process }
          - { name: stars, plugin: org.atrium.stars }

        """

    /// Containers in a container.
    private static let day = """
        atrium: 1
        container: day
        fields: { start: { type: time }, day: { type: date, of: start, by: day, zone: UTC } }
        components:
          - name: calendar
            plugin: org.atrium.facets
            settings: { sections: [{ id: day, field: day, input: single }] }
          - { name: days, plugin: org.atrium.catalog }
          - { name: shelf, container: shelf, follow: { day: day } }
          - { name: notes, container: notes, hidden: empty }
          - { name: asked, container: asked }

        """

    private static let books = (0..<30).map { number in
        #"{"id":"book-\#(number)","fields":{"title":"Book \#(number)","year":\#(1_990 + number),"#
            + #""added":"2026-01-0\#(1 + number % 9)T23:30:00Z","plot":"It *ends* well.","#
            + #""poster":"data:image/gif;base64,R0lGODlhAQABAAAAACw="}}"# + "\n"
    }.joined()

    // MARK: Words

    /// What makes sense in fields of these names.
    static let known = [
        "container": [
            "films", "films", "workers", "shelf", "shelf", "notes", "asked", "day", "day", "none",
        ],
        "component": [
            "list", "stars", "talk", "filters", "books", "archive", "likes", "days", "calendar",
            "shelf", "none",
        ],
        "part": ["shelf", "notes", "asked", "none", "shelf/none"],
        "scope": ["now", "past", "", "none"],
        "item": [
            "alien-1979", "heat-1995", "the-godfather-1972", "book-1", "book-2", "small", "a",
            "monday", "none",
        ],
        "items": ["alien-1979", "heat-1995", "book-3"], "id": ["alien-1979", "book-4", "new"],
        "parent": ["alien-1979", "book-1", "small", "", "none"],
        "section": ["genre", "rating", "duration", "title", "day", "year"],
        "filter": ["drama", "8+", "1970s", "long", "2026-01-05", "1994", "book"],
        "filters": ["drama", "8+", "2026-01-05", "2026-01-06", "godfather"],
        "search": ["alien", "the", "a b", "book", "abc", "refuse", "flood", "wait", "help"],
        "text": ["the", "An offer.", "alien", "199"],
        "sort": ["title", "-rating", "year", "-votes.score", "-day", "none"],
        "fields": ["title", "genres", "rating", "plot", "day", "none"],
        "field": ["title", "genres", "duration", "rating", "year", "cover", "poster", "plot"],
        "actor": ["unix:0", "unix:5", "unix:33", "web:ann", "web:bob"], "comment": ["none"],
        "topics": ["films.>", ">", "*.votes.>", "none"],
        "topic": ["films.app.x", "workers.app.y", "notes.app.go"],
        "plugin": [
            "org.atrium.stars", "org.atrium.catalog", "org.atrium.file", "org.test.likes",
            "org.atrium.asker", "org.atrium.gate", "org.atrium.none",
        ],
        "level": ["info", "notice"], "screen": ["none"], "interface": ["org.atrium.Votes"],
        "key": ["alien-1979", "book-1"], "kind": ["votes", "contents"], "file": ["x.yaml"],
        "name": ["x"],
    ]
}
