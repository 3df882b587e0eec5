import AtriumKit
import AtriumKitTesting
import Foundation
import Glibc
import Music
import Testing

/// The list of a folder's audio files, in a folder that each test makes for itself.
@Suite struct MusicTests {
    private static let fields = [
        Field(name: "title", type: .text, required: true), Field(name: "artist", type: .text),
        Field(name: "album", type: .text), Field(name: "genre", type: .keywords),
        Field(name: "track", type: .integer), Field(name: "year", type: .integer),
        Field(name: "duration", type: .duration), Field(name: "rating", type: .number),
        Field(name: "format", type: .keywords), Field(name: "cover", type: .image),
    ]

    private let folder: MusicFolder

    init() throws { folder = try MusicFolder() }

    private func host(_ settings: [String: Value] = [:]) async throws -> MemoryHost {
        let host = try MemoryHost(
            Music.self,
            settings: settings.merging(["folder": .text(folder.path)]) { first, _ in first },
            fields: Self.fields)
        await host.settle()
        return host
    }

    /// All items that there are, by id.
    private func items(_ host: MemoryHost) -> [String: [String: Value]] {
        var items: [String: [String: Value]] = [:]
        for case .contents(let change) in host.restore([]) {
            guard case .insert(let some) = change else { continue }
            for item in some { items[item.id] = item.fields }
        }
        return items
    }

    private func changes(_ host: MemoryHost, since count: Int) -> [ContentChange] {
        host.events[count...].compactMap { event in
            if case .contents(let change) = event { change } else { nil }
        }
    }

    @Test func `files of several formats show their tags, and their names where they have none`()
        async throws
    {
        let tags = AudioFile.Tags(
            title: "Über allem", artist: "Ann", album: "Tones", genre: "Folk; Drone", track: "2/9",
            year: "1999-04-01", popularity: 196)
        try folder.write("Tones/02.mp3", AudioFile.mp3(tags))
        try folder.write("Tones/02.wav", AudioFile.wav(tags))
        try folder.write("Tones/02.FLAC", AudioFile.flac(tags, rating: 80))
        try folder.write("plain tone.mp3", AudioFile.mp3(.init()))
        try folder.write("notes.txt", Data("no sound".utf8))
        try folder.write(".hidden.mp3", AudioFile.mp3(tags))
        let items = try await items(host())
        #expect(
            items.keys.sorted() == [
                "Tones/02.FLAC", "Tones/02.mp3", "Tones/02.wav", "plain tone.mp3",
            ])
        for ending in ["mp3", "wav", "FLAC"] {
            #expect(
                items["Tones/02.\(ending)"] == [
                    "title": "Über allem", "artist": "Ann", "album": "Tones",
                    "genre": ["Folk", "Drone"], "track": 2, "year": 1999, "duration": 2,
                    "rating": 4,
                    "format": [.text(ending.lowercased())],
                ], "\(ending)")
        }
        #expect(
            items["plain tone.mp3"] == ["title": "plain tone", "duration": 2, "format": ["mp3"]])
    }

    @Test func `covers are given when somebody asks, and judged by their bytes`() async throws {
        let picture = [0x89] + Array("PNG\r\n\u{1A}\n".utf8) + [UInt8](repeating: 7, count: 90)
        for (name, make) in [("mp3", AudioFile.mp3), ("wav", AudioFile.wav)] {
            try folder.write("a.\(name)", make(.init(cover: picture)))
        }
        try folder.write("a.flac", AudioFile.flac(.init(cover: picture)))
        try folder.write("no.mp3", AudioFile.mp3(.init(cover: Array("<svg>".utf8))))
        try folder.write("none.mp3", AudioFile.mp3(.init()))
        let host = try await host()
        for name in ["a.mp3", "a.wav", "a.flac"] {
            #expect(items(host)[name]?["cover"]?.text?.hasPrefix("source:") == true)
            let read = try await host.readImage(of: name, field: "cover")
            #expect(read.type == "image/png" && read.base64.hasPrefix("iVBORw0KGgo"), "\(name)")
        }
        #expect(items(host)["none.mp3"]?["cover"] == nil)
        await #expect(throws: Refusal.self) {
            try await host.readImage(of: "none.mp3", field: "cover")
        }
        await #expect(throws: Refusal.self) {
            try await host.readImage(of: "no.mp3", field: "cover")
        }
    }

    @Test func `only what changed is reported: a file that is new, retagged, removed`() async throws
    {
        try folder.write("a.mp3", AudioFile.mp3(.init(title: "A")))
        try folder.write("b/b.mp3", AudioFile.mp3(.init(title: "B")))
        let host = try await host()
        #expect(items(host).count == 2)
        var seen = host.events.count

        try folder.write("b/c.mp3", AudioFile.mp3(.init(title: "C")))
        host.touch(folder.path + "/b/c.mp3")
        await host.settle()
        #expect(
            changes(host, since: seen) == [
                .insert([
                    Item(id: "b/c.mp3", fields: ["title": "C", "duration": 2, "format": ["mp3"]])
                ])
            ])
        seen = host.events.count

        try folder.write("b/b.mp3", AudioFile.mp3(.init(title: "Better")))
        host.touch(folder.path + "/b/b.mp3")
        await host.settle()
        #expect(
            changes(host, since: seen) == [
                .update([
                    Item(
                        id: "b/b.mp3",
                        fields: ["title": "Better", "duration": 2, "format": ["mp3"]])
                ])
            ])
        seen = host.events.count

        try FileManager.default.removeItem(atPath: folder.path + "/a.mp3")
        host.touch(folder.path + "/a.mp3")
        await host.settle()
        #expect(changes(host, since: seen) == [.remove(["a.mp3"])])
        seen = host.events.count

        host.reload()
        await host.settle()
        #expect(changes(host, since: seen) == [], "nothing changed, so nothing is told")
    }

    @Test func `of many files those alone are opened that changed`() async throws {
        for number in 0..<40 { try folder.write("\(number).mp3", AudioFile.mp3(.init())) }
        let opened = try OpenedFiles(in: folder.path)
        let host = try await host()
        #expect(Set(opened.names()).count == 40)
        host.reload()
        await host.settle()
        #expect(opened.names() == [], "a look through all folders opens none of them")
        try folder.write("7.mp3", AudioFile.mp3(.init(title: "Seven")))
        try #require(
            rename(folder.path + "/8.mp3", folder.path + "/eight.mp3") == 0)
        _ = opened.names()
        host.touch(folder.path + "/7.mp3")
        await host.settle()
        #expect(Set(opened.names()) == ["7.mp3", "eight.mp3"])
        #expect(items(host)["7.mp3"]?["title"] == "Seven" && items(host).count == 40)
    }

    @Test func `a folder that is moved takes its items along, under other ids`() async throws {
        try folder.write("x/y/one.mp3", AudioFile.mp3(.init(title: "One")))
        try folder.write("x/two.mp3", AudioFile.mp3(.init(title: "Two")))
        let host = try await host()
        try FileManager.default.moveItem(
            atPath: folder.path + "/x", toPath: folder.path + "/z")
        host.touch(folder.path + "/x")
        await host.settle()
        #expect(items(host).keys.sorted() == ["z/two.mp3", "z/y/one.mp3"])
        try folder.write("z/y/three.mp3", AudioFile.mp3(.init()))
        host.touch(folder.path + "/z/y/three.mp3")
        await host.settle()
        #expect(items(host)["z/y/three.mp3"]?["title"] == "three", "it is watched where it is now")
    }

    @Test func `names that can't be ids have a digest for one, that stays`() async throws {
        let long = String(repeating: "long/", count: 50) + "name.mp3"
        try folder.write(long, AudioFile.mp3(.init(title: "Long")))
        try folder.write(
            bytes: Array("caf".utf8) + [0xe9] + Array(".mp3".utf8), AudioFile.mp3(.init()))
        try folder.write("line\nbreak.mp3", AudioFile.mp3(.init()))
        try folder.write("e\u{301}.mp3", AudioFile.mp3(.init(title: "apart")))
        let items = try await items(host())
        let digests = items.keys.filter { $0.hasPrefix("~") && $0.utf8.count == 33 }
        #expect(items.count == 4 && digests.count == 3)
        let composed = try #require(items.keys.first { !$0.hasPrefix("~") })
        #expect(composed.utf8.elementsEqual("é.mp3".utf8), "in NFC")
        let titles = items.values.compactMap { $0["title"]?.text }
        #expect(titles.contains("caf\u{fffd}") && titles.contains("line break"), "\(titles)")
        #expect(try await self.items(host()).keys.sorted() == items.keys.sorted())
    }

    @Test func `two names that are one text are two items`() async throws {
        try folder.write("é.mp3", AudioFile.mp3(.init(title: "one")))
        try folder.write("e\u{301}.mp3", AudioFile.mp3(.init(title: "two")))
        let items = try await items(host())
        #expect(items.count == 2)
        #expect(items.keys.count { $0.hasPrefix("~") } == 1)
    }

    @Test func `links, pipes and other things are left out`() async throws {
        try folder.write("a/one.mp3", AudioFile.mp3(.init()))
        try FileManager.default.createSymbolicLink(
            atPath: folder.path + "/a/loop", withDestinationPath: "..")
        try FileManager.default.createSymbolicLink(
            atPath: folder.path + "/link.mp3", withDestinationPath: "a/one.mp3")
        #expect(mkfifo(folder.path + "/pipe.mp3", 0o600) == 0)
        let host = try await host()
        #expect(items(host).keys.sorted() == ["a/one.mp3"])
        #expect(host.services.problem == nil)
    }

    @Test func `a file that is broken is reported, and shown as it was before`() async throws {
        try folder.write("good.mp3", AudioFile.mp3(.init(title: "Good")))
        try folder.write("bad.flac", Data("no sound at all".utf8))
        let host = try await host()
        let problem = try #require(host.services.problem)
        #expect(problem.contains("1 file can't be read, such as 'bad.flac': it holds no sound"))
        try folder.write("good.mp3", Data())
        host.touch(folder.path + "/good.mp3")
        await host.settle()
        #expect(host.services.problem?.contains("2 files can't be read") == true)
        #expect(items(host)["good.mp3"]?["title"] == "Good")
        try folder.write("good.mp3", AudioFile.mp3(.init(title: "Better")))
        try FileManager.default.removeItem(atPath: folder.path + "/bad.flac")
        host.touch(folder.path + "/good.mp3")
        await host.settle()
        #expect(host.services.problem == nil)
        #expect(items(host)["good.mp3"]?["title"] == "Better")
    }

    @Test func `a folder that is yet to come is waited for, one that went keeps what was shown`()
        async throws
    {
        let place = folder.path + "/music"
        let host = try await host(["folder": .text(place)])
        #expect(host.services.problem?.contains("\(place) can't be read: No such file") == true)
        #expect(host.events == [], "what nobody knows is not empty")
        try folder.write("music/one.mp3", AudioFile.mp3(.init()))
        host.advance(by: .seconds(6))
        await host.settle()
        #expect(host.services.problem == nil)
        #expect(items(host).keys.sorted() == ["one.mp3"])

        try FileManager.default.moveItem(atPath: place, toPath: folder.path + "/elsewhere")
        host.touch(place)
        await host.settle()
        #expect(host.services.problem?.contains("shown until it is back") == true)
        #expect(items(host).keys.sorted() == ["one.mp3"])

        try folder.write("music/two.mp3", AudioFile.mp3(.init()))
        host.advance(by: .seconds(6))
        await host.settle()
        #expect(host.services.problem == nil)
        #expect(items(host).keys.sorted() == ["two.mp3"])
        try folder.write("music/three.mp3", AudioFile.mp3(.init()))
        host.touch(place + "/three.mp3")
        await host.settle()
        #expect(items(host).count == 2, "the one that came is watched")
    }

    @Test func `settings that make no sense are refused with what would`() async throws {
        func reason(_ settings: [String: Value]) -> String {
            do {
                _ = try MemoryHost(
                    Music.self, settings: settings.merging(["folder": "/srv"]) { $1 },
                    fields: Self.fields)
                return ""
            } catch {
                return "\(error)"
            }
        }
        #expect(reason(["fields": ["none": "title"]]).contains("has no field 'none'"))
        #expect(
            reason(["fields": ["title": "name"]]).contains("fields.title': expected one of title"))
        #expect(reason(["fields": ["track": "artist"]]).contains("'artist' does not fit"))
        #expect(reason(["rescan": 5]).contains("at least 10"))
        #expect(reason(["rescan": 10]) == "")
    }

    @Test func `without the kernel's word folders are looked through in intervals`() async throws {
        try folder.write("deep/one.mp3", AudioFile.mp3(.init()))
        let host = try await host(["rescan": 60])
        try folder.write("deep/two.mp3", AudioFile.mp3(.init()))
        for _ in 0..<2 {
            host.advance(by: .seconds(60))
            await host.settle()
        }
        #expect(items(host).count == 2)
    }

    @Test func `conforms to its kind`() async throws {
        try folder.write("one.mp3", AudioFile.mp3(.init()))
        let report = try await Conformance.run(
            Music.self, settings: ["folder": .text(folder.path)])
        #expect(report.accepted == 0, "it takes no items")
    }
}
