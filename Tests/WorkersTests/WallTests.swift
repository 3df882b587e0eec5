import AtriumKit
import CProcess
import Foundation
import Glibc
import Host
import PluginLoader
import TestSupport
import Testing

@testable import Workers

@Suite(
    .timeLimit(.minutes(3)),
    .enabled(if: WorkerWalls.missing.isEmpty, "this kernel has not all that it takes"))
struct `The walls around a worker` {
    private let directory: TemporaryDirectory
    private let file: String

    init() throws {
        directory = try TemporaryDirectory()
        file = try directory.write("outside/diary", "secret")
        try directory.write("inside/song", "la")
    }

    /// What came of it when a component tries what it should not.
    private func attempt(_ what: String, in component: WorkerComponent) async throws -> String {
        let refusal = await #expect(throws: Refusal.self) { try await component.put("try-\(what)") }
        return refusal.map { String($0.reason.dropFirst("try-\(what): ".count)) } ?? ""
    }

    private func attempts(_ names: [String], in component: WorkerComponent) async throws -> [String]
    {
        var outcomes: [String] = []
        for name in names { outcomes.append(try await attempt(name, in: component)) }
        return outcomes
    }

    @Test func `it connects to nobody`() async throws {
        // Where a socket can be made, there is none at this path.
        let component = Installed.component(of: Installed.breaker)
        try await component.start()
        let tried = ["connect=/x", "datagrams", "network", "netlink"]
        let outcomes = try await attempts(tried, in: component)
        #expect(outcomes == Array(repeating: "Permission denied", count: 4))
        await component.stop()
    }

    @Test func `it speaks to the internet where it may, and still to nobody here`() async throws {
        let component = Installed.component(of: Installed.breaker, mayUseNetwork: true)
        try await component.start()
        let outcomes = try await attempts(["network", "connect=/x", "datagrams"], in: component)
        #expect(outcomes == ["succeeded", "Permission denied", "Permission denied"])
        await component.stop()
    }

    @Test func `it neither reads nor changes what is not its own`() async throws {
        let component = Installed.component(of: Installed.breaker)
        try await component.start()
        let tried = ["read=\(file)", "read=/etc/passwd", "truncate=\(file)", "change-mode=\(file)"]
        let outcomes = try await attempts(tried, in: component)
        let (denied, refused) = ("Permission denied", "Operation not permitted")
        #expect(outcomes == [denied, denied, refused, refused])
        #expect(try await attempt("write", in: component) == denied)
        #expect(
            try await attempt("read=\(Installed.breaker.path)", in: component) == "succeeded")
        #expect(try String(contentsOfFile: file, encoding: .utf8) == "secret")
        await component.stop()
    }

    @Test func `what it starts is inside too`() async throws {
        let component = Installed.component(of: Installed.breaker)
        try await component.start()
        #expect(try await attempt("cat=\(file)", in: component) == "status 1")
        #expect(try await attempt("cat=/usr/bin/env", in: component) == "succeeded")
        await component.stop()
    }

    @Test(arguments: ["kill", "trace", "limit"])
    func `it does nothing to another process`(what: String) async throws {
        let component = Installed.component(of: Installed.breaker)
        try await component.start()
        #expect(
            try await attempt("\(what)=\(getpid())", in: component) == "Operation not permitted")
        await component.stop()
    }

    @Test(arguments: [
        "queue", "fetch", "own-namespace", "peek=PARENT", "compare=PARENT", "set-owner=PARENT",
    ])
    func `it finds no way around by calls that few know`(what: String) async throws {
        let component = Installed.component(of: Installed.breaker)
        // Newer ones look at whom the kernel tells of a file themselves.
        if what.hasPrefix("set-owner") { await component.build(for: 2) }
        try await component.start()
        let what = what.replacingOccurrences(of: "PARENT", with: "\(getpid())")
        #expect(try await attempt(what, in: component) == "Operation not permitted")
        await component.stop()
    }

    @Test func `it reads what a setting names that the manifest lists, and nothing beside it`()
        async throws
    {
        var plugin = Installed.breaker
        plugin.paths = ["folder"]
        let component = Installed.component(of: plugin)
        try await component.start(["folder": .text(directory.path + "/inside")])
        let song = directory.path + "/inside/song"
        #expect(try await attempt("read=\(song)", in: component) == "succeeded")
        #expect(try await attempt("truncate=\(song)", in: component) == "Operation not permitted")
        for way in ["empty", "empty-unopened"] {
            #expect(try await attempt("\(way)=\(song)", in: component) == "Permission denied")
        }
        #expect(try await attempt("read=\(file)", in: component) == "Permission denied")
        await component.stop()
    }

    @Test func `a kernel of Debian 12 walls it in as well`() async throws {
        var plugin = Installed.breaker
        plugin.paths = ["folder"]
        let component = Installed.component(of: plugin)
        await component.build(for: 2)
        try await component.start(["folder": .text(directory.path + "/inside")])
        let (denied, refused) = ("Permission denied", "Operation not permitted")
        let song = directory.path + "/inside/song"
        #expect(try await attempt("read=\(song)", in: component) == "succeeded")
        let unreadable = ["connect=/x", "datagrams", "network", "read=\(file)", "write"]
        // Which this version of Landlock does not look at.
        let emptied = ["empty=\(song)", "empty-unopened=\(song)"]
        #expect(
            try await attempts(unreadable + emptied, in: component)
                == Array(repeating: denied, count: 7))
        let others = ["truncate=\(song)", "change-mode=\(file)", "kill=\(getpid())"]
        #expect(
            try await attempts(others, in: component) == Array(repeating: refused, count: 3))
        #expect(try String(contentsOfFile: song, encoding: .utf8) == "la")
        await component.stop()
    }

    @Test func `a kernel is asked for no right that its Landlock does not know`() {
        #expect(
            [0, 1, 2, 3, 4, 5, 7].map { process_landlock_rights($0).nonzeroBitCount }
                == [0, 13, 14, 15, 15, 16, 16])
    }

    @Test func `what a kernel lacks is logged`() {
        func missing(_ version: Int32, _ hasFilters: Bool) -> [String] {
            WorkerWalls.missing(landlock: version, hasFilters: hasFilters)
                .map { String($0.prefix { $0 != ":" }) }
        }
        let files = "Workers may read and write all files of the daemon's user"
        let others = "Workers may reach the daemon's socket and other processes of its user"
        #expect(missing(2, true) == [], "the filter of calls closes what is open")
        #expect(missing(2, false) == ["Workers may empty files of the daemon's user", others])
        #expect(missing(3, false) == [others])
        #expect(missing(0, true) == [files])
        #expect(missing(0, false) == [files, others])
    }

    @Test func `a path that is one by default has to stand in the definition`() async throws {
        var plugin = Installed.diary
        plugin.paths = ["file"]
        let failure = await #expect(throws: LaunchFailure.self) {
            try await Installed.component(of: plugin).start()
        }
        guard case .setting(let error) = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(error.setting == "file")
        #expect(error.reason.hasPrefix("/etc/passwd, which it is by default, can't be read"))
        #expect(error.reason.hasSuffix("so write 'file' into the component's settings"))
        let component = Installed.component(of: plugin)
        try await component.start(["file": .text(file)])
        await component.stop()
    }

    @Test func `a path that the manifest does not list is refused by its setting`() async throws {
        let component = Installed.component(of: Installed.breaker)
        let failure = await #expect(throws: LaunchFailure.self) {
            try await component.start(["folder": .text(directory.path)])
        }
        guard case .setting(let error) = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(error.setting == "folder")
        #expect(error.reason.contains("\(directory.path) can't be read"))
        #expect(error.reason.contains("paths"))
    }
}
