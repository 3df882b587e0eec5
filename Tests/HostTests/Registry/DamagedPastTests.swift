import AtriumKit
import Index
import JSONCodec
import Store
import StoreFaults
import TestSupport
import Testing

@testable import Host

/// Damaged notifications and comments hide themselves, and nothing else of the past.
@Suite(.timeLimit(.minutes(3))) struct DamagedPastTests {
    /// What a subscriber was told.
    private struct Told {
        var notifications: [NotificationView] = []
        /// Each with the sequence of what was told right behind it; 0: nothing was yet.
        var gaps: [(gap: SubscriptionBatch.Gap, next: Int64)] = []

        var gapNames: [String] {
            gaps.map { "\($0.gap.reason.rawValue) \($0.gap.from) to \($0.gap.to)" }
        }

        var texts: [String?] {
            notifications.filter { $0.topic == "films.comments.posted" }.map {
                (try? Value(jsonBytes: $0.payload))?.object?["text"]?.text
            }
        }
    }

    /// Tells a new subscriber all of the past.
    private func past(_ host: TestRegistry, after: Int64 = 0) async throws -> Told {
        let id: SubscriptionID = try await host.call { registry, reply in
            reply(
                Result { () throws(HostError) in
                    try registry.bus.subscribe(
                        patterns: ["films.>"], after: after, seesRestricted: true, wake: {})
                })
        }
        var told = Told()
        while let batch = try await host.call({ $0.bus.pull(id, maxBytes: 1 << 20, reply: $1) }) {
            if let gap = batch.content.gap {
                told.gaps.append((gap, batch.content.notifications.first?.sequence ?? 0))
            }
            told.notifications += batch.content.notifications
            if batch.content.live { break }
        }
        return told
    }

    /// A film club with three comments, in whose file something was then changed.
    private func films(_ sql: String, logger: CapturedLog? = nil) async throws -> TestRegistry {
        let host = try await TestRegistry.start()
        try await host.apply(.films)
        try await host.put(.film("heat"))
        for (id, text) in [("a", "Fast."), ("b", "Loud."), ("c", "Long.")] {
            try await host.post(text, on: "heat", id: id)
        }
        try await host.stop()
        try OtherProgram(at: host.store.file).execute(sql)
        return try await .start(in: host.directory, logger: logger?.logger ?? .silent)
    }

    /// The sequences of what is stored about the films.
    private func stored(_ host: TestRegistry) throws -> [Int64] {
        try host.store.notifications(after: 0, limit: 100) { $0.hasPrefix("films.") }
            .notifications.map(\.sequence)
    }

    @Test
    func `a comment whose record is damaged is delivered without its text, and the rest whole`()
        async throws
    {
        let log = CapturedLog()
        let host = try await films(
            "UPDATE records SET sum = sum + 1 WHERE CAST(key AS TEXT) = 'b'", logger: log)
        for _ in 0..<2 {
            let told = try await past(host)
            #expect(told.texts == ["Fast.", nil, "Long."])
            #expect(told.gaps.isEmpty)
            #expect(told.notifications.compactMap(\.sequence) == (try stored(host)))
        }
        let problems = await host.on { $0.status(hasDetails: true) }.problems
        #expect(
            problems.contains {
                $0.contains("1 comment does not match its checksum ('b' of films/talk)")
            })
        #expect(try await host.status().state == .degraded)
        #expect(
            log.messages.filter { $0.hasPrefix("past notifications in the store are damaged") }
                .count == 1)
        try await host.end()
    }

    @Test func `a damaged notification is a gap, and the others are delivered`() async throws {
        let log = CapturedLog()
        // The comments b and c, and after them those of d and e.
        let host = try await films(
            """
            UPDATE entries SET public = x'7b7d' WHERE topic = 'films.comments.posted'
                AND CAST(public AS TEXT) LIKE '%"b"%';
            UPDATE entries SET time = time + 1 WHERE topic = 'films.items.put';
            """, logger: log)
        let all = try stored(host)
        let told = try await past(host)
        #expect(
            told.gapNames == ["damaged \(all[0]) to \(all[0])", "damaged \(all[2]) to \(all[2])"])
        #expect(told.gaps.map(\.next) == [all[1], all[3]])
        #expect(told.notifications.compactMap(\.sequence) == [all[1], all[3]])
        #expect(told.texts == ["Fast.", "Long."])
        // From a cursor behind it nothing is missing.
        #expect(try await past(host, after: all[2]).gaps.isEmpty)
        let problem = await host.on { $0.status(hasDetails: true) }.problems.joined()
        #expect(problem.contains("2 past notifications do not match their checksums"), "\(problem)")
        #expect(problem.contains("sequence \(all[0]), \(all[2])"))
        #expect(
            try await host.status().reason?.contains("past notifications of it are damaged") == true
        )
        #expect(
            log.messages.filter { $0.hasPrefix("past notifications in the store are damaged") }
                .count == 1)
        try await host.end()
    }

    @Test func `damaged ones side by side, and with none behind them, are one gap`() async throws {
        let host = try await films(
            "UPDATE entries SET restricted = x'7b7d' WHERE topic = 'films.comments.posted'")
        let all = try stored(host)
        let told = try await past(host)
        #expect(told.gapNames == ["damaged \(all[1]) to \(all[3])"])
        #expect(told.notifications.compactMap(\.sequence) == [all[0]])
        try await host.cast(4, on: "heat")
        #expect(try await past(host).notifications.last?.topic == "films.votes.cast")
        try await host.end()
    }

    @Test func `entries that are gone are a gap, and the status counts them`() async throws {
        let host = try await films(
            """
            DELETE FROM entries WHERE topic = 'films.comments.posted'
                AND CAST(public AS TEXT) NOT LIKE '%"c"%'
            """)
        let all = try stored(host)
        try #require(all.count == 2 && all[1] == all[0] + 3)
        for _ in 0..<2 {
            let told = try await past(host)
            #expect(told.gapNames == ["damaged \(all[0] + 1) to \(all[0] + 2)"])
            #expect(told.gaps.map(\.next) == [all[1]])
            #expect(told.notifications.compactMap(\.sequence) == all)
        }
        // From among them, too, and not from behind them.
        let rest = try await past(host, after: all[0] + 1)
        #expect(rest.gapNames == ["damaged \(all[0] + 2) to \(all[0] + 2)"])
        #expect(try await past(host, after: all[0] + 2).gaps.isEmpty)
        host.store.setRetention(Retention())
        host.store.waitForTrimming()
        let problem = await host.on { $0.status(hasDetails: true) }.problems.joined()
        #expect(problem.contains("entries of the log are missing (2)"), "\(problem)")
        #expect(try await host.status().state == .degraded)
        try await host.end()
    }

    @Test func `the last entries are a gap where they are gone`() async throws {
        let host = try await films(
            "DELETE FROM entries WHERE sequence = (SELECT MAX(sequence) FROM entries)")
        let all = try stored(host)
        let last = host.store.lastSequence
        for _ in 0..<2 {
            let told = try await past(host)
            #expect(told.gapNames == ["damaged \(last) to \(last)"])
            #expect(told.notifications.compactMap(\.sequence).starts(with: all))
            try await host.cast(4, on: "heat")
        }
        try await host.end()
    }

    @Test func `what was trimmed and what is damaged behind it are two gaps`() async throws {
        let host = try await films("SELECT 1")
        host.store.setRetention(Retention(count: 3))
        host.store.waitForTrimming()
        let trimmed = try host.store.trimmedThrough()
        #expect(trimmed > 0)
        try OtherProgram(at: host.store.file).execute(
            "UPDATE entries SET time = 1 WHERE sequence = (SELECT MIN(sequence) FROM entries)")
        let told = try await past(host)
        #expect(
            told.gapNames == [
                "trimmed 1 to \(trimmed)", "damaged \(trimmed + 1) to \(trimmed + 1)",
            ])
        #expect(told.texts.count == 2)
        try await host.end()
    }

    @Test func `a failed command is undone also where one of its records is damaged`() async throws
    {
        let host = try await films("SELECT 1")
        try OtherProgram(at: host.store.file).execute(
            "UPDATE records SET sum = sum + 1 WHERE CAST(key AS TEXT) = 'heat'")
        let fault = try host.refuseEntries()
        await expectUnavailable { try await host.put(.film("heat", rating: 3), .film("ronin")) }
        try fault.heal()
        try await host.undone()
        // It is written anew.
        try await host.put(.film("heat", rating: 4))
        #expect(try await host.list().items.map(\.id) == ["heat"])
        try await host.end()
    }

    @Test func `a record is restored in the place of a damaged one`() async throws {
        let host = try await films("SELECT 1")
        let export: ExportID = try await host.call { $0.export("films", $1) }
        let records = try await host.call { $0.exports.pull(export, $1) }.records
        let damaged = try await host.restarted()
        try OtherProgram(at: damaged.store.file).execute(
            "UPDATE records SET value = x'7b7d' WHERE CAST(key AS TEXT) IN ('heat', 'b')")
        let result = try await damaged.restore(records)
        #expect(result.restored == 2)
        let again = try await damaged.restarted()
        #expect(try await again.status().state == .ready)
        #expect(try await past(again).texts == ["Fast.", "Loud.", "Long."])
        try await again.end()
    }
}
