import AtriumKit
import AtriumKitTesting
import File
import Foundation
import Glibc
import Testing

/// Links, files that can't be read for a while, and items that no container takes.
@Suite final class FileMishapTests {
    private let folder = NSTemporaryDirectory() + "atrium-file-\(UUID().uuidString)"
    private var path: String { folder + "/list.csv" }

    init() throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    private func write(_ name: String, _ text: String) throws {
        try text.write(toFile: folder + "/" + name, atomically: true, encoding: .utf8)
    }

    private func list(
        _ text: String? = nil, _ settings: [String: Value] = [:]
    ) async throws -> MemoryHost {
        if let text { try write("list.csv", text) }
        let host = try MemoryHost(
            FileListing.self,
            settings: settings.merging(["path": .text(path)]) { given, _ in given },
            fields: [
                Field(name: "title", type: .text), Field(name: "year", type: .integer),
                Field(name: "rating", type: .number), Field(name: "out", type: .time),
            ])
        await host.settle()
        return host
    }

    private func items(_ host: MemoryHost) -> [Item] {
        host.restore([]).flatMap { event -> [Item] in
            if case .contents(.insert(let items)) = event { items } else { [] }
        }
    }

    @Test func `the file that a link leads to is followed, and another one that it leads to`()
        async throws
    {
        try write("one.csv", "id,title\na,A\n")
        try write("two.csv", "id,title\nc,C\n")
        try #require(symlink("one.csv", path) == 0)
        let host = try await list()
        #expect(items(host).map(\.id) == ["a"])
        try write("one.csv", "id,title\nb,B\n")
        host.touch(folder + "/one.csv")
        await host.settle()
        #expect(items(host).map(\.id) == ["b"])
        try #require(unlink(path) == 0 && symlink("two.csv", path) == 0)
        host.touch(path)
        await host.settle()
        #expect(items(host).map(\.id) == ["c"])
        try write("two.csv", "id,title\nd,D\n")
        host.touch(folder + "/two.csv")
        await host.settle()
        #expect(items(host).map(\.id) == ["d"])
    }

    @Test func `a file that can't be read is tried again, whatever the reason`() async throws {
        try #require(symlink("list.csv", path) == 0)
        let host = try await list()
        #expect(host.services.problem?.contains("symbolic links") == true)
        try #require(unlink(path) == 0)
        try write("list.csv", "id,title\na,A\n")
        host.advance(by: .seconds(6))
        await host.settle()
        #expect(host.services.problem == nil)
        #expect(items(host).map(\.id) == ["a"])
    }

    @Test func `a file's time may be any`() async throws {
        try write("list.csv", "id,title\na,A\n")
        var times = [timespec(tv_sec: .min, tv_nsec: 0), timespec(tv_sec: .min, tv_nsec: 0)]
        #expect(utimensat(AT_FDCWD, path, &times, 0) == 0)
        #expect(try await items(list()).count == 1)
    }

    @Test func `ids and parents are in NFC, whatever the file has`() async throws {
        let host = try await list("id,title,parent\ne\u{301},A,\nb,B,e\u{301}\n")
        let found = items(host)
        let parents = found.compactMap(\.parent) + found.map(\.id).filter { $0 != "b" }
        #expect(parents.count == 2)
        for id in parents { #expect(id.utf8.elementsEqual("é".utf8)) }
    }

    @Test(arguments: [
        ("id,title\na\u{85}b,A\n", "is no id"),
        ("id,title,parent\na,A,x\u{7}y\n", "is no id"),
        ("id,year\na,9007199254740993\n", "expected a whole number from -9007199254740992 to"),
        ("id,rating\na,9007199254740993.0\n", ""),
        ("id,rating\na,9007199254740993\n", "a field of the type text keeps every digit"),
        ("id,rating\na,0x1F\n", "expected a number"),
        ("id,out\na,2026-01-01T00:00:00.1234Z\n", "expected a time to the millisecond"),
        ("id,out\na,9999-12-31T23:59:59-01:00\n", "expected a time to the millisecond"),
    ])
    func `what no container takes is a problem of its line`(
        text: String, problem: String
    ) async throws {
        let host = try await list(text)
        guard !problem.isEmpty else {
            #expect(host.services.problem == nil, "text that names a float is that float")
            return
        }
        let said = try #require(host.services.problem)
        #expect(said.contains("line 2") && said.contains(problem), "\(said)")
        #expect(host.events.isEmpty)
    }

    @Test func `what separates cells may be a backslash`() async throws {
        let host = try await list("id\\title\na\\tab\n", ["delimiter": "\\"])
        #expect(items(host).first?.fields == ["title": "tab"])
    }
}
