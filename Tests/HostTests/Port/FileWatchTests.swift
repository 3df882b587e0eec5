import AtriumKit
import Foundation
import NIOCore
import NIOPosix
import Synchronization
import TestSupport
import Testing

@testable import Host

/// Files that components watch, on a real loop.
@Suite(.timeLimit(.minutes(1))) struct FileWatchTests {
    private let folder: TemporaryDirectory
    private let group: MultiThreadedEventLoopGroup
    private let watches: NIOLoopBound<FileWatches>

    init() async throws {
        folder = try TemporaryDirectory()
        group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let loop = group.next()
        watches = try await loop.submit {
            NIOLoopBound(FileWatches(loop: loop), eventLoop: loop)
        }.get()
        try folder.write("data/one", "1")
    }

    /// How often a watch was told.
    private final class Count: Sendable {
        let told = Atomic<Int>(0)
        var value: Int { told.load(ordering: .relaxed) }
    }

    private func watch(_ path: String) async throws -> (number: UInt64, count: Count) {
        let (watches, count, path) = (watches, Count(), folder.path + path)
        let number = try await group.next().submit {
            try watches.value.add(path) { _ in count.told.add(1, ordering: .relaxed) }
        }.get()
        return (number, count)
    }

    private func move(_ from: String, _ to: String) {
        #expect(rename(folder.path + from, folder.path + to) == 0)
    }

    @Test func `a file is followed as it is written, replaced, removed and made anew`()
        async throws
    {
        let (_, one) = try await watch("/data/one")
        let (_, yetToCome) = try await watch("/data/two")
        let (_, all) = try await watch("/data")
        try FileHandle(forWritingTo: URL(filePath: folder.path + "/data/one")).close()
        try await until { one.value == 1 && all.value == 1 }
        try folder.write("new", "2")
        move("/new", "/data/one")
        try await until { one.value == 2 && all.value == 2 }
        try FileManager.default.removeItem(atPath: folder.path + "/data/one")
        try await until { one.value == 3 && all.value == 3 }
        #expect(yetToCome.value == 0)
        try folder.write("new", "3")
        move("/new", "/data/two")
        try await until { yetToCome.value == 1 && all.value == 4 }
        #expect(one.value == 3)
        try await group.shutdownGracefully()
    }

    @Test func `a folder that another takes the place of is followed on`() async throws {
        let (_, one) = try await watch("/data/one")
        try folder.write("later/one", "2")
        move("/data", "/before")
        move("/later", "/data")
        try await until { one.value >= 1 }
        let before = one.value
        try folder.write("new", "3")
        move("/new", "/data/one")
        try await until { one.value > before }
        try await group.shutdownGracefully()
    }

    @Test func `who was removed is not called, and the others are`() async throws {
        let (number, one) = try await watch("/data/one")
        let (_, other) = try await watch("/data/one")
        try await group.next().submit { [watches] in watches.value.remove(number) }.get()
        try folder.write("new", "2")
        move("/new", "/data/one")
        try await until { other.value == 1 }
        #expect(one.value == 0)
        try await group.shutdownGracefully()
    }

    /// The inotifies that this process has open.
    private static var inotifies: Int {
        let directory = "/proc/self/fd"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        return names.count {
            let target = try? FileManager.default.destinationOfSymbolicLink(
                atPath: "\(directory)/\($0)")
            return target?.hasSuffix("inotify") == true
        }
    }

    @Test func `the inotify is closed with the last watch`() async throws {
        let before = Self.inotifies
        let (number, _) = try await watch("/data/one")
        try await group.next().submit { [watches] in watches.value.remove(number) }.get()
        try await until { Self.inotifies <= before }
        try await group.shutdownGracefully()
    }

    @Test func `what can't be watched is refused with the reason`() async throws {
        for (path, reason) in [
            ("/none/one", "its folder is not there"), ("/pipe", "neither a file nor a folder"),
        ] {
            if path == "/pipe" { #expect(mkfifo(folder.path + path, 0o600) == 0) }
            let refusal = await #expect(throws: Refusal.self) { _ = try await watch(path) }
            #expect(refusal?.reason.contains(reason) == true, "\(refusal?.reason ?? "")")
        }
        try await group.shutdownGracefully()
    }
}
