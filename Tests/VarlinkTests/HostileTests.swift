import Foundation
import Glibc
import TestSupport
import Testing
import Varlink

/// Whatever some peers do, others go on being served, and memory stays bounded.
@Suite(.timeLimit(.minutes(3))) struct HostileTests {
    /// What a peer sends, again and again, until it is closed or has had enough; it reads no answers.
    struct Attack: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let bytes: [UInt8]

        init(_ name: String, _ text: String) {
            self.init(name, Array(text.utf8) + [0])
        }

        init(_ name: String, _ bytes: [UInt8]) {
            testDescription = name
            self.bytes = bytes
        }
    }

    static let echo = #"{"method":"org.example.test.Echo","parameters":"#

    static let attacks = [
        Attack("NULs", [UInt8](repeating: 0, count: 1 << 20)),
        Attack("no JSON", [UInt8](repeating: 0xFF, count: 1 << 20)),
        Attack("an endless string", [UInt8](repeating: 0x22, count: 1 << 20)),
        Attack("deep nesting", echo + String(repeating: "[", count: 1 << 20)),
        Attack("deep objects", echo + String(repeating: #"{"a":"#, count: 200_000)),
        Attack("deep nesting that ends", echo + #"{"text":\#(ViolationTests.nested(64))}}"#),
        Attack("a huge number", echo + #"{"text":\#(String(repeating: "9", count: 1 << 20))}}"#),
        Attack("a huge exponent", echo + #"{"text":1e99999999999999999999}}"#),
        Attack("a number too big", echo + #"{"text":-99999999999999999999}}"#),
        Attack("a lone surrogate", echo + #"{"text":"\udead"}}"#),
        Attack("surrogates the wrong way round", echo + #"{"text":"\udc00\ud800"}}"#),
        Attack(
            "an overlong NUL",
            Array((echo + #"{"text":""#).utf8) + [0xC0, 0x80, 0x22, 0x7D, 0x7D, 0]),
        Attack("a surrogate in UTF-8", Array((echo + #"{"text":""#).utf8) + [0xED, 0xA0, 0x80, 0]),
        Attack("a key twice", echo + #"{"text":"a","text":"b"}}"#),
        Attack("a key twice, escaped", echo + #"{"text":"a","te\u0078t":"b"}}"#),
        Attack(
            "very many keys",
            echo + "{" + (0..<50_000).map { #""k\#($0)":0"# }.joined(separator: ",") + "}}"),
        Attack(
            "very many vendors",
            "{" + (0..<50_000).map { #""k.\#($0)":0"# }.joined(separator: ",") + "}"),
        Attack("an unknown method", #"{"method":"\#(String(repeating: "a.", count: 100_000))b"}"#),
        Attack(
            "long answers that nobody reads",
            echo + #"{"text":"\#(String(repeating: "x", count: 100_000))"}}"#),
        Attack(
            "calls without answers", #"{"method":"org.example.test.Nothing","oneway":true}"#
        ),
    ]

    @Test(arguments: attacks)
    func `while some peers attack, others are served and memory stays bounded`(
        _ attack: Attack
    ) async throws {
        try await withService { service in
            let before = try Memory.resident
            let other = try await service.client()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<8 {
                    group.addTask { try await Self.carryOut(attack, service) }
                }
                for number in 0..<50 {
                    let reply = try await other.call(Example.Echo.self, Text("\(number)"))
                    #expect(reply == Text("\(number)"))
                }
                try await group.waitForAll()
            }
            #expect(try await other.call(Example.Echo.self, Text("after")) == Text("after"))
            let grown = try Memory.resident - before
            #expect(grown < 128 << 20, "\(grown >> 20) MiB more than before")
            // Eight closed connections are told of one by one; their reasons are one line each.
            for line in service.log.lines {
                #expect(line.contains(" peer-uid=") && line.utf8.count < 600, "\(line)")
            }
        }
    }

    private static func carryOut(_ attack: Attack, _ service: Service) async throws {
        let client = try service.raw()
        client.limit(SO_SNDTIMEO, milliseconds: 200)
        let rounds = max(1, (8 << 20) / max(attack.bytes.count, 8 << 10))
        let assault = Assault(client: client, attack: attack, rounds: rounds)
        try await onThread { assault.run() }
    }

    @Test func `half-closed sockets are answered and closed, and cost nothing after`() async throws
    {
        try await withService { service in
            let clients = try (0..<500).map { _ in try service.raw() }
            for (number, client) in clients.enumerated() {
                if number % 2 == 0 {
                    try client.send(
                        #"{"method":"org.example.test.Echo","parameters":{"text":"a"}}"#)
                } else {
                    try client.send(bytes: Array(#"{"method":"#.utf8))
                }
                client.sendNoMore()
            }
            for (number, client) in clients.enumerated() {
                if number % 2 == 0 {
                    #expect(try await client.receive() == #"{"parameters":{"text":"a"}}"#)
                }
                #expect(try await client.receive() == nil)
            }
            // The peers keep their half open; ours is gone.
            try await until { await service.server.currentStatistics().connections == 0 }
            #expect(try await service.isAlive())
        }
    }

    @Test func `a flood of bad connections fills neither the log nor the memory`() async throws {
        try await withService { service in
            for _ in 0..<2_000 {
                let client = try service.raw()
                try client.send("no call")
                client.close()
            }
            #expect(try await service.isAlive())
            try await until {
                await service.server.currentStatistics().protocolViolations == 2_000
            }
            #expect(service.log.lines.count == 10)
            let statistics = await service.server.currentStatistics()
            #expect(statistics.violations == [.malformed: 2_000])
            await service.server.stop(within: .zero)
            #expect(service.log.lines[10].contains(" count=1990 "))
        }
    }

    @Test func `ten thousand connections are served, and one more is refused`() async throws {
        let room = try FileLimit.raise()
        var limits = VarlinkLimits()
        limits.connections = min(limits.connections, room * 7 / 8 - 500)
        try await withService(limits: limits) { service in
            let before = try Memory.resident
            let count = limits.connections
            try await withCrowd(of: count, at: service.path) { crowd in
                #expect(await service.server.currentStatistics().connections == count)
                let grown = try Memory.resident - before
                #expect(grown < 200 << 20, "\(grown >> 20) MiB for \(count) connections")
                let late = try service.raw()
                #expect(try await late.receive()?.contains("connections") == true)
                #expect(try await late.receive() == nil)
                // Those who are in are served as before.
                try await crowd.callAll()
            }
            try await until { await service.server.currentStatistics().connections == 0 }
            #expect(try await service.isAlive())
        }
    }

    /// Unchecked: made by one thread, and run by one other.
    private struct Assault: @unchecked Sendable {
        let client: RawClient
        let attack: Attack
        let rounds: Int

        func run() {
            for _ in 0..<rounds where client.trySending(attack.bytes) < attack.bytes.count {
                return
            }
        }
    }
}
