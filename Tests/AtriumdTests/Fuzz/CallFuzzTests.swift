import Foundation
import Interfaces
import JSONCodec
import TestSupport
import Testing
import Varlink
import VarlinkIDL

/// Calls that are made up from the interfaces' definitions, to a real daemon with components of every kind, in its own
/// process and in workers.
///
/// `FUZZ_SECONDS` says for how long (60), `FUZZ_SEED` which calls: another one each time, which a failure tells.
@Suite(.serialized, .timeLimit(.minutes(60)))
struct CallFuzzTests {
    /// Connections that call at the same time.
    private static let callers = 4
    /// What the daemon may keep in memory at the end, whatever was sent to it, in MiB.
    ///
    /// Half of it is what a debug build with the examples and the records that calls can leave takes; the other is
    /// `bytesPerUser` of the settings below.
    private static let memory = 256

    private static let settings = """
        limits: {bytesPerUser: 128M, queuedBytes: 32M, screensPerUser: 200, screenLinger: 1}

        """

    private static var environment: [String: String] { ProcessInfo.processInfo.environment }

    private static let seconds = environment["FUZZ_SECONDS"].flatMap { Int($0) } ?? 60
    private static let seed =
        environment["FUZZ_SEED"].flatMap { UInt64($0) } ?? UInt64.random(in: 1...1_000_000)

    /// The film club, and another one whose components live in workers.
    private static let clubs = """
        sed '/settings:/!s/plugin: org.atrium.\\(catalog\\)/& , isolation: process/; \
        s/plugin: org.atrium.\\(stars\\|threads\\),/& isolation: process,/; \
        s/container: films/container: workers/' $EXAMPLES/films.yaml >w.yaml \
        && atriumctl apply -f $EXAMPLES/films.yaml -f w.yaml \
        && head -n 40 $EXAMPLES/films.ndjson >some.ndjson \
        && atriumctl import films some.ndjson && atriumctl import workers some.ndjson
        """

    /// What makes sense in fields of these names.
    private static let known = [
        "container": ["films", "films", "films", "workers", "workers", "none"],
        "component": ["list", "stars", "talk", "filters", "none"],
        "item": ["alien-1979", "heat-1995", "the-godfather-1972", "none"],
        "items": ["alien-1979", "heat-1995"], "id": ["alien-1979", "new", "other"],
        "parent": ["alien-1979", "none"], "section": ["genre", "rating", "duration", "title"],
        "filter": ["drama", "8+", "1970s", "long"], "filters": ["drama", "8+", "godfather"],
        "search": ["alien", "the", "a b"], "text": ["the", "An offer.", "alien"],
        "sort": ["title", "-rating", "year", "-votes.score", "none"],
        "fields": ["title", "genres", "rating", "none"],
        "field": ["title", "genres", "duration", "rating", "year"],
        "actor": ["unix:0", "unix:30001", "web:ann"], "comment": ["none"], "cursor": ["AAAA"],
        "topics": ["films.>", ">", "*.votes.>", "none"], "topic": ["films.app.x", "workers.app.y"],
        "plugin": ["org.atrium.stars", "org.atrium.catalog", "org.atrium.none"],
        "level": ["info", "notice"], "scope": ["none"], "screen": ["none"],
        "interface": ["org.atrium.Votes"], "key": ["alien-1979"], "kind": ["votes", "contents"],
        "file": ["x.yaml"], "name": ["x"],
    ]

    @Test func `no call that can be made up hangs, breaks or fills the daemon`() async throws {
        let interfaces = try PublishedInterfaces.all.map { try InterfaceDefinition($0.description) }
        var options = DaemonUnderTest.Options()
        options.configuration["atrium.yaml"] = Self.settings
        try await withDaemon(options) { daemon in
            let filled = try await daemon.type(Self.clubs)
            try #require(filled.status == 0, "\(filled)")
            let pid = try #require(daemon.pid)
            let end = ContinuousClock.now + .seconds(Self.seconds)
            let counts = try await withThrowingTaskGroup(of: Int.self) { group in
                for caller in 0..<Self.callers {
                    let calls = CallGenerator(
                        seed: Self.seed &* 16 &+ UInt64(caller), interfaces: interfaces,
                        known: Self.known)
                    group.addTask {
                        var caller = FuzzCaller(daemon, calls, ReplyCheck(interfaces: interfaces))
                        do {
                            return try await caller.call(until: end)
                        } catch {
                            Issue.record("seed \(Self.seed): \(error)\nafter \(caller.last)")
                            throw error
                        }
                    }
                }
                return try await group.reduce(0, +)
            }
            #expect(counts > 100)
            #expect(daemon.pid == pid && Glibc.kill(pid, 0) == 0)
            let status = try await daemon.type("atriumctl status --json")
            #expect(status.status == 0, "\(status)")
            let memory = try Self.residentMebibytes(of: pid)
            #expect(memory < Self.memory, "seed \(Self.seed)")
            print("calls: \(counts) of seed \(Self.seed), then \(memory) MiB resident")
        }
    }

    private static func residentMebibytes(of pid: pid_t) throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
        return (line?.split(whereSeparator: \.isWhitespace).dropFirst().first).flatMap { Int($0) }
            .map { $0 / 1_024 } ?? .max
    }
}

/// One who makes such calls, one after the other, and keeps some streams open that it does not read.
private struct FuzzCaller {
    private let daemon: DaemonUnderTest
    private let check: ReplyCheck
    private var calls: CallGenerator
    private var peer: Peer?
    private var streams: [Peer] = []

    /// What was called last, for who looks for what broke the daemon.
    private(set) var last = ""

    private static let mostStreams = 8

    init(_ daemon: DaemonUnderTest, _ calls: CallGenerator, _ check: ReplyCheck) {
        self.daemon = daemon
        self.calls = calls
        self.check = check
    }

    /// Calls until it is this late.
    ///
    /// - Returns: how many calls that were.
    mutating func call(until end: ContinuousClock.Instant) async throws -> Int {
        var count = 0
        while ContinuousClock.now < end {
            let call = calls.next()
            last = "\(call.name) more=\(call.more) \(call.parameters.prefix(2_000))"
            count += 1
            let peer = try peer ?? daemon.peer()
            self.peer = peer
            // One that the daemon has no room for, or that it can't read, ends the connection.
            guard try await onThread({ peer.trySending(call.frame) }) == call.frame.count,
                let reply = try await peer.receive()
            else {
                self.peer = nil
                continue
            }
            if let problem = check.problem(reply, to: call) {
                Issue.record("\(last)\nis answered wrongly: \(problem)")
            }
            learn(reply["parameters"] ?? [:], "")
            if reply["continues"]?.bool == true { keep(peer) }
            if count.isMultiple(of: 200) { try await repair() }
        }
        return count
    }

    /// Keeps a stream open: some others end for it.
    private mutating func keep(_ stream: Peer) {
        peer = nil
        streams.append(stream)
        if streams.count > Self.mostStreams {
            streams.remove(at: calls.chance(0.5) ? 0 : streams.count / 2)
        }
    }

    /// Remembers what can be said again: screens, cursors, comments.
    private mutating func learn(_ value: JSONValue, _ name: String) {
        switch value {
        case .string(let text):
            switch name {
            case "screen": calls.learn("screen", text)
            case "next": calls.learn("cursor", text)
            case "id": calls.learn("comment", text)
            default: break
            }
        case .object(let members): for member in members { learn(member.value, member.name) }
        case .array(let list): for element in list.prefix(3) { learn(element, name) }
        default: break
        }
    }

    /// Brings back what the calls took away.
    private func repair() async throws {
        _ = try await daemon.type(
            "atriumctl apply -f $EXAMPLES/films.yaml -f w.yaml; atriumctl import films some.ndjson; "
                + "atriumctl import workers some.ndjson")
    }
}
