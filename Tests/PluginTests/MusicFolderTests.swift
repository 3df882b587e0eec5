import AtriumKit
import AtriumKitTesting
import Foundation
import Glibc
import Music
import Testing

/// What becomes of a folder of music that goes, comes back, or can't be watched or read.
@Suite struct MusicFolderTests {
    private let folder: MusicFolder
    private var place: String { folder.path + "/music" }

    init() throws { folder = try MusicFolder() }

    private func host(_ settings: [String: Value] = [:]) async throws -> MemoryHost {
        let host = try MemoryHost(
            Music.self, settings: settings.merging(["folder": .text(place)]) { first, _ in first },
            fields: [
                Field(name: "title", type: .text, required: true),
                Field(name: "rating", type: .number),
            ])
        await host.settle()
        return host
    }

    private func titles(_ host: MemoryHost) -> [String: String] {
        var titles: [String: String] = [:]
        for case .contents(.insert(let items)) in host.restore([]) {
            for item in items { titles[item.id] = item.fields["title"]?.text }
        }
        return titles
    }

    private func move(_ name: String, to other: String) throws {
        try FileManager.default.moveItem(
            atPath: folder.path + "/" + name, toPath: folder.path + "/" + other)
    }

    @Test func `a folder that comes back is looked through and watched, with all in it`()
        async throws
    {
        try folder.write("music/x/y/one.mp3", AudioFile.mp3(.init()))
        let host = try await host()
        try move("music", to: "away")
        host.touch(place)
        await host.settle()
        #expect(host.services.problem?.contains("shown until it is back") == true)
        try folder.write("music/x/y/two.mp3", AudioFile.mp3(.init()))
        host.advance(by: .seconds(6))
        await host.settle()
        #expect(host.services.problem == nil)
        #expect(titles(host).keys.sorted() == ["x/y/two.mp3"])
        try folder.write("music/x/y/three.mp3", AudioFile.mp3(.init()))
        host.touch(place + "/x/y/three.mp3")
        await host.settle()
        #expect(titles(host).count == 2)
        try folder.write("music/x/y/four.mp3", AudioFile.mp3(.init()))
        host.reload()
        await host.settle()
        #expect(titles(host).count == 3, "a reload looks through all folders")
    }

    @Test func `a folder that is away is looked for although a rescan is set for later`()
        async throws
    {
        try folder.write("music/one.mp3", AudioFile.mp3(.init()))
        let host = try await host(["rescan": 3_600])
        try move("music", to: "away")
        host.touch(place)
        await host.settle()
        try move("away", to: "music")
        host.advance(by: .seconds(6))
        await host.settle()
        #expect(host.services.problem == nil)
    }

    @Test func `a folder that can't be watched is looked through now and then`() async throws {
        try folder.write("music/one.mp3", AudioFile.mp3(.init()))
        let name = Array("music/caf".utf8) + [0xe9]
        let path = (Array((folder.path + "/").utf8) + name + [0]).map(CChar.init(bitPattern:))
        try #require(mkdir(path, 0o755) == 0)
        let host = try await host()
        let said = host.services.messages.map(\.text).joined()
        #expect(said.contains("its path is not UTF-8. Folders that can't be watched"))
        let file = (Array((folder.path + "/").utf8) + name + Array("/two.mp3".utf8) + [0])
            .map(CChar.init(bitPattern:))
        try #require(
            link(folder.path + "/music/one.mp3", file) == 0)
        host.advance(by: .seconds(301))
        await host.settle()
        #expect(titles(host).values.sorted() == ["one", "two"])
    }

    @Test(.enabled(if: geteuid() != 0, "root may read everything"))
    func `what may not be read is tried again until it may be`() async throws {
        try folder.write("music/a/one.mp3", AudioFile.mp3(.init()))
        try folder.write("music/two.mp3", AudioFile.mp3(.init()))
        #expect(chmod(place + "/a", 0) == 0)
        #expect(chmod(place + "/two.mp3", 0) == 0)
        let host = try await host()
        #expect(host.services.problem?.contains("1 folder can't be read") == true)
        #expect(host.services.problem?.contains("1 file can't be read") == true)
        #expect(chmod(place + "/a", 0o755) == 0)
        #expect(chmod(place + "/two.mp3", 0o644) == 0)
        host.advance(by: .seconds(6))
        await host.settle()
        #expect(host.services.problem == nil)
        #expect(titles(host).keys.sorted() == ["a/one.mp3", "two.mp3"])
    }

    @Test func `a folder in homes that can be looked into names no drop-in`() async throws {
        let host = try await host(["folder": "/home/atrium-nobody/music"])
        let problem = try #require(host.services.problem)
        #expect(!problem.contains("drop-in"), "\(problem)")
        #expect(problem.hasSuffix("No such file or directory. It is looked for every 5 seconds."))
    }

    @Test func `a folder that is put in place of another is looked through, with all in it`()
        async throws
    {
        try folder.write("music/x/y/one.mp3", AudioFile.mp3(.init(title: "One")))
        try folder.write("other/y/one.mp3", AudioFile.mp3(.init(title: "Another")))
        let host = try await host()
        try move("music/x", to: "away")
        try move("other", to: "music/x")
        host.touch(place + "/x")
        await host.settle()
        #expect(titles(host) == ["x/y/one.mp3": "Another"])
        try folder.write("music/x/y/two.mp3", AudioFile.mp3(.init()))
        host.touch(place + "/x/y/two.mp3")
        await host.settle()
        #expect(titles(host).count == 2)
    }

    @Test func `of two names that are one text, the one in NFC has it for an id`() async throws {
        let (normal, other) = ("music/é.mp3", "music/e\u{301}.mp3")
        try folder.write(other, AudioFile.mp3(.init(title: "apart")))
        let host = try await host()
        #expect(titles(host) == ["é.mp3": "apart"], "it is the only one")
        try folder.write(normal, AudioFile.mp3(.init(title: "whole")))
        host.touch(folder.path + "/" + normal)
        await host.settle()
        let both = titles(host)
        #expect(both["é.mp3"] == "whole" && both.count == 2)
        #expect(both.first { $0.key.hasPrefix("~") }?.value == "apart")
        #expect(try await titles(self.host()) == both, "in whatever order they are read")
        #expect(unlink(folder.path + "/" + normal) == 0)
        host.touch(folder.path + "/" + normal)
        await host.settle()
        #expect(titles(host) == ["é.mp3": "apart"])
        #expect(try await titles(self.host()) == titles(host))
    }

    @Test func `a file with a hole of terabytes is broken, and soon`() async throws {
        try folder.write("music/good.mp3", AudioFile.mp3(.init(title: "Good")))
        for (name, data) in [("hole", Data()), ("sound", AudioFile.mp3(.init()))] {
            try folder.write("music/\(name).mp3", data)
            try #require(truncate(place + "/\(name).mp3", 1 << 40) == 0)
        }
        let host = try await host()
        #expect(titles(host).values.sorted() == ["Good"])
        let problem = try #require(host.services.problem)
        #expect(problem.contains("2 files") && problem.contains("too much of it"), "\(problem)")
    }

    @Test(arguments: [(1, 1), (25, 2), (50, 3), (75, 4), (99, 5)])
    func `stars are as Windows shows them in a WMA`(value: Int, stars: Int) async throws {
        try folder.write("music/a.wma", AudioFile.wma(rating: value))
        let host = try await host()
        let items = host.restore([]).flatMap { event -> [Item] in
            if case .contents(.insert(let items)) = event { items } else { [] }
        }
        #expect(items.first?.fields["rating"]?.number == Double(stars))
    }
}
