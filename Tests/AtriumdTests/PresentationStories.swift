import JSONCodec
import TestSupport
import Testing

extension Stories {
    /// What front ends are told so that they need not guess.
    @Suite struct Presentation {
        @Test(arguments: ["daemon", "process"])
        func `a screen and a description show what votes and comments are taken`(
            place: String
        ) async throws {
            try await withDaemon { daemon in
                let first = try await Self.apply(
                    daemon, place, "scale: 10, step: 0.5, subjects: [items]", "maxLength: 80")
                #expect(first.status == 0, "\(first)")
                _ = try await daemon.type("atriumctl put films/heat title=Heat")
                let screen = try await OpenScreen(daemon, ["container": "films"])
                let short: JSONValue = [
                    "maxLength": 80, "moderated": false, "subjects": ["items", "container"],
                ]
                #expect(screen.component("stars")?["votes"]?["step"]?.double == 0.5)
                #expect(screen.component("stars")?["votes"]?["min"]?.double == 1)
                #expect(screen.component("stars")?["votes"]?["max"]?.double == 10)
                #expect(screen.component("stars")?["votes"]?["subjects"] == ["items"])
                #expect(screen.component("stars")?["comments"] == nil)
                #expect(screen.component("talk")?["comments"] == short)
                #expect(screen.component("list")?["votes"] == nil)

                let vote = try await daemon.type("atriumctl vote films/heat 9.5")
                #expect(vote.status == 0, "\(vote)")
                while screen.list("list").first?["votes"]?["count"]?.int != 1 {
                    try await screen.next()
                }
                #expect(screen.timesComponents == 1, "told once, not with each diff")

                let described = try await daemon.type("atriumctl describe films --json")
                let components = try described.json["container"]?["components"]?.array ?? []
                for component in components {
                    let shown = screen.component(component["name"]?.string ?? "")
                    #expect(component["votes"] == shown?["votes"])
                    #expect(component["comments"] == shown?["comments"])
                }

                let other = try await Self.apply(daemon, place, "scale: 3", "moderated: true")
                #expect(other.status == 0, "\(other)")
                while screen.component("stars")?["votes"]?["max"]?.double != 3
                    || screen.component("talk")?["comments"]?["moderated"]?.bool != true
                {
                    try await screen.next()
                }
                let text = try await daemon.type("atriumctl describe films")
                #expect(text.output.contains("1 to 3 in steps of 1, on items and"), "\(text)")
                let wrong = try await daemon.type("atriumctl vote films/heat 9.5")
                #expect(wrong.status == 1)
                #expect(
                    wrong.errors
                        == "atriumctl: A vote goes from 1 to 3, in whole steps; 9.5 does not.\n")
                let mistyped = try await daemon.type("atriumctl vote films/heaat 9.5")
                #expect(
                    mistyped.errors.contains("hint: did you mean 'films/heat'?"), "\(mistyped)")
            }
        }

        private static let songs = """
            atrium: 1
            container: songs
            title: Jukebox
            fields:
              name: { type: text, required: true, title: Song, description: "What it is called" }
              weight: { type: number, unit: kg }
              cover: { type: image }
              site: { type: url }
            components:
              - { name: list, plugin: org.atrium.catalog, sort: [-weight] }
              - { name: rest, plugin: org.atrium.catalog, title: Others, present: { title: site } }
              - { name: stars, plugin: org.atrium.stars }
            scopes:
              - { name: all, title: Everything, contents: [list, rest] }
            present: { title: name, image: cover, columns: [weight, votes.score] }
            """

        private func withSongs(_ story: (DaemonUnderTest) async throws -> Void) async throws {
            try await withDaemon { daemon in
                let filled = try await daemon.type(
                    """
                    echo '\(Self.songs)' >s.yaml && atriumctl apply -f s.yaml &&
                    atriumctl put songs/a name=Anna weight=1 &&
                    atriumctl put songs/b name=Bert weight=3 site=https://example.org &&
                    atriumctl put songs/c name=Carl weight=2
                    """)
                #expect(filled.status == 0, "\(filled)")
                try await story(daemon)
            }
        }

        @Test func `how items are shown comes with the screen once, and again when it changes`()
            async throws
        {
            try await withSongs { daemon in
                let screen = try await OpenScreen(daemon, ["container": "songs"])
                #expect(screen.outline?["title"]?.string == "Jukebox")
                let song = screen.outline?["fields"]?[0]
                #expect(song?["title"]?.string == "Song")
                #expect(song?["description"]?.string == "What it is called")
                #expect(screen.outline?["fields"]?[1]?["unit"]?.string == "kg")
                #expect(screen.outline?["scopes"] == [["name": "all", "title": "Everything"]])
                let shared: JSONValue = [
                    "title": "name", "image": "cover", "columns": ["weight", "votes.score"],
                ]
                #expect(screen.component("list")?["present"] == shared)
                #expect(screen.component("list")?["sort"] == ["-weight"])
                #expect(screen.component("rest")?["present"] == ["title": "site"])
                #expect(screen.component("rest")?["sort"] == nil)
                #expect(screen.component("stars")?["present"] == nil)
                #expect(screen.ids("list") == ["b", "c", "a"], "in the list's own order")

                _ = try await daemon.type("atriumctl put songs/a name=Anna weight=9")
                while screen.ids("list") != ["a", "b", "c"] { try await screen.next() }
                let hand = try daemon.peer()
                for (sort, ids) in [(["name"], ["a", "b", "c"]), (["-id"], ["c", "b", "a"])] {
                    _ = try await hand.call(
                        "org.atrium.Screens.Sort",
                        [
                            "screen": .string(screen.id),
                            "sort": .array(sort.map(JSONValue.string)),
                        ])
                    while screen.ids("list") != ids { try await screen.next() }
                }
                _ = try await hand.call(
                    "org.atrium.Screens.Sort", ["screen": .string(screen.id), "sort": []])
                while screen.ids("list") != ["a", "b", "c"] { try await screen.next() }
                #expect(screen.timesOutline == 1 && screen.timesComponents == 1)

                let changed = try await daemon.type(
                    "sed -i 's/Jukebox/Tunes/; s/-weight/weight/; s/title: site/title: name/' s.yaml "
                        + "&& atriumctl apply -f s.yaml")
                #expect(changed.output.contains("component list: sort weight"), "\(changed)")
                while screen.outline?["title"]?.string != "Tunes"
                    || screen.ids("list") != ["c", "b", "a"]
                    || screen.component("rest")?["present"]?["title"]?.string != "name"
                {
                    try await screen.next()
                }
                #expect(screen.timesOutline == 2)
            }
        }

        @Test func `a page and a description have the same, also after a restart`() async throws {
            try await withSongs { daemon in
                for _ in 1...2 {
                    let hand = try daemon.peer()
                    let page = try await hand.call(
                        "org.atrium.Contents.List",
                        [
                            "container": "songs", "present": true,
                            "fields": ["weight", "votes.score"],
                        ])["parameters"]
                    #expect(page?["items"]?[0]?["fields"] == ["weight": 3])
                    #expect(page?["items"]?[0]?["votes"]?["count"]?.int == 0)
                    let list = page?["presentation"]
                    #expect(list?["sort"] == ["-weight"])
                    #expect(list?["present"]?["image"]?.string == "cover")
                    #expect(list?["votes"]?["max"]?.double == 5 && list?["comments"] == nil)
                    let plain = try await hand.call(
                        "org.atrium.Contents.List", ["container": "songs"])["parameters"]
                    #expect(plain?["presentation"] == nil)

                    let described = try await daemon.type("atriumctl describe songs --json").json
                    #expect(described["fields"] == list?["fields"])
                    #expect(described["container"]?["present"] == list?["present"])
                    let component = described["container"]?["components"]?[0]
                    #expect(component?["sort"] == ["-weight"])
                    #expect(component?["present"] == nil, "it has the container's")
                    let text = try await daemon.type("atriumctl describe songs")
                    for word in ["title name; image cover; columns weight", "-weight", "kg"] {
                        #expect(text.output.contains(word), "\(text)")
                    }
                    let again = try await daemon.type(
                        "atriumctl describe songs --definition | atriumctl apply -f -")
                    #expect(again.output.contains("unchanged"), "\(again)")
                    try await daemon.stop()
                    try await daemon.start()
                }
                let listed = try await daemon.type("atriumctl list songs")
                #expect(listed.output.contains("3 kg"), "\(listed)")
                #expect(!listed.output.contains("example.org"), "no column: \(listed)")
            }
        }

        @Test func `a list that has nothing is left out, or says so`() async throws {
            try await withDaemon { daemon in
                let made = try await daemon.type(
                    """
                    echo 'atrium: 1
                    container: shelf
                    fields: { name: { type: text } }
                    components:
                      - { name: main, plugin: org.atrium.catalog, empty: "Nothing here." }
                      - { name: side, plugin: org.atrium.catalog, hidden: empty }' >h.yaml &&
                    atriumctl apply -f h.yaml
                    """)
                #expect(made.status == 0, "\(made)")
                let screen = try await OpenScreen(daemon, ["container": "shelf"])
                let other = try await OpenScreen(
                    daemon, ["container": "shelf", "search": "zoo"])
                func isHidden(_ screen: OpenScreen) -> Bool? {
                    screen.component("side")?["hidden"]?.bool
                }
                #expect(screen.component("main")?["hidden"]?.bool == false)
                #expect(screen.component("main")?["empty"]?.string == "Nothing here.")
                #expect(isHidden(screen) == true && isHidden(other) == true)
                let told = screen.timesComponents

                _ = try await daemon.type("atriumctl put shelf/a name=Ark --component side")
                while isHidden(screen) == true { try await screen.next() }
                #expect(screen.ids("side") == ["a"], "with its first item, all of it")
                _ = try await daemon.type("atriumctl put shelf/z name=Zoo --component side")
                while screen.ids("side") != ["a", "z"] { try await screen.next() }
                #expect(screen.timesComponents == told + 1, "told where it changed")
                while isHidden(other) == true { try await other.next() }
                #expect(other.ids("side") == ["z"], "by what each screen searches")

                let hand = try daemon.peer()
                for (text, isLeftOut) in [("nobody", true), ("ark", false)] {
                    _ = try await hand.call(
                        "org.atrium.Screens.Search",
                        ["screen": .string(screen.id), "text": .string(text)])
                    while isHidden(screen) != isLeftOut { try await screen.next() }
                }
                #expect(screen.ids("side") == ["a"])
                let described = try await daemon.type("atriumctl describe shelf")
                #expect(described.output.contains("unless empty"), "\(described)")
                _ = try await daemon.type("atriumctl remove shelf/a shelf/z --component side")
                while isHidden(screen) != true { try await screen.next() }
                #expect(screen.ids("side").isEmpty)
                let all = try await daemon.type(
                    "sed -i 's/, hidden: empty//' h.yaml && atriumctl apply -f h.yaml")
                #expect(
                    all.output.contains("component side: shown while it is empty"), "\(all)")
                while isHidden(screen) == true { try await screen.next() }
                #expect(screen.total("side") == 0)
            }
        }

        @Test func `what does not fit is refused, with what would`() async throws {
            try await withSongs { daemon in
                let url = try await daemon.type(
                    "atriumctl put songs/d name=D site='javascript:alert(1)'")
                #expect(url.status == 1)
                #expect(
                    url.errors.contains("field 'site': expected a URL of 2048 bytes"), "\(url)")
                let sorted = try await daemon.type("atriumctl list songs --sort cover")
                #expect(sorted.errors.contains("there is no field 'cover'"), "\(sorted)")
                let votes = try await daemon.type(
                    "sed 's/atrium.stars/&, sort: [name]/' s.yaml | atriumctl apply -f -")
                #expect(votes.status == 1)
                #expect(
                    votes.errors.contains("'sort' is of components of the kind contents"),
                    "\(votes)")
            }
        }

        /// Applies a container whose votes and comments have these settings, and live here.
        private static func apply(
            _ daemon: DaemonUnderTest, _ place: String, _ votes: String, _ comments: String
        ) async throws -> Finished {
            try await daemon.type(
                """
                echo 'atrium: 1
                container: films
                fields: { title: { type: text } }
                components:
                  - { name: list, plugin: org.atrium.catalog }
                  - { name: stars, plugin: org.atrium.stars, isolation: \(place), settings: { \(votes) } }
                  - { name: talk, plugin: org.atrium.threads, isolation: \(place), settings: { \(comments) } }' >f.yaml
                atriumctl apply -f f.yaml
                """)
        }
    }
}
