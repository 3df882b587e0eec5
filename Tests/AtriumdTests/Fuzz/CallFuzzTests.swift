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
    /// What the daemon may keep in memory at the end, whatever was sent to it, in MiB.
    ///
    /// Half of it is what a debug build with these containers and the records that calls can leave takes; the other is
    /// `bytesPerUser` of the world's settings for each of the roles.
    private static let memory = 256

    private static var environment: [String: String] { ProcessInfo.processInfo.environment }

    private static let seconds = environment["FUZZ_SECONDS"].flatMap { Int($0) } ?? 60
    private static let seed =
        environment["FUZZ_SEED"].flatMap { UInt64($0) } ?? UInt64.random(in: 1...1_000_000)

    @Test func `no call that can be made up hangs, breaks or fills the daemon`() async throws {
        let interfaces = try PublishedInterfaces.all.map { try InterfaceDefinition($0.description) }
        let world = try FuzzWorld()
        try await withDaemon(world.options) { daemon in
            let made = try await world.make(in: daemon)
            try #require(made.status == 0, "\(made)")
            let pid = try #require(daemon.pid)
            let end = ContinuousClock.now + .seconds(Self.seconds)
            let counts = try await withThrowingTaskGroup(of: Int.self) { group in
                for (number, role) in FuzzWorld.roles.enumerated() {
                    let calls = CallGenerator(
                        seed: Self.seed &* 16 &+ UInt64(number), interfaces: interfaces,
                        known: FuzzWorld.known)
                    group.addTask {
                        var caller = FuzzCaller(
                            daemon, role, calls, ReplyCheck(interfaces: interfaces))
                        do {
                            return try await caller.call(until: end)
                        } catch {
                            let last = "after the \(role.name)'s \(caller.last)"
                            Issue.record("seed \(Self.seed): \(error)\n\(last)")
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
    private let role: FuzzWorld.Role
    private let check: ReplyCheck
    private var calls: CallGenerator
    private var peer: Peer?
    private var streams: [Peer] = []

    /// What was called last, for who looks for what broke the daemon.
    private(set) var last = ""

    private static let mostStreams = 8

    init(
        _ daemon: DaemonUnderTest, _ role: FuzzWorld.Role, _ calls: CallGenerator,
        _ check: ReplyCheck
    ) {
        self.daemon = daemon
        self.role = role
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
            let peer = try await connected()
            // One that the daemon has no room for, or that it can't read, ends the connection.
            guard try await onThread({ peer.trySending(call.frame) }) == call.frame.count,
                let reply = try await peer.receive()
            else {
                self.peer = nil
                continue
            }
            if let problem = check.problem(reply, to: call) {
                Issue.record("the \(role.name)'s \(last)\nis answered wrongly: \(problem)")
            }
            learn(reply["parameters"] ?? [:], "")
            if reply["continues"]?.bool == true { keep(peer) }
            if role.credentials == nil, count.isMultiple(of: 200) { try await repair() }
        }
        return count
    }

    private mutating func connected() async throws -> Peer {
        if let peer { return peer }
        let new =
            if let credentials = role.credentials {
                try await Peer(daemon.socket, as: credentials)
            } else {
                try daemon.peer()
            }
        peer = new
        return new
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
        _ = try await daemon.type("\(FuzzWorld.apply); \(FuzzWorld.fill)")
    }
}
