import AtriumKit
import Index
import JSONCodec
import Logging
import PluginLoader
import Store
import StoreFaults
import TestSupport
import Testing

@testable import Host

/// What notifications tell of comments whose texts were taken back.
@Suite(.timeLimit(.minutes(3))) struct CommentTextTests {
    /// A notification as a test looks at it.
    private struct Told: Equatable {
        var topic: String
        var text: String?
        var actor: String?
    }

    /// A way in which a text is taken back.
    enum Withdrawal: String, CaseIterable {
        case delete, edit, hold, removeItem, purgeItem, detach, purgeComponent, deleteContainer

        /// Whether it takes all comments.
        var takesAll: Bool { self == .purgeComponent || self == .deleteContainer }
    }

    private func told(
        _ host: TestRegistry, seesRestricted: Bool = false
    ) async throws -> [Told] {
        try await told(host, subscribe(to: host, seesRestricted: seesRestricted))
    }

    private func subscribe(
        to host: TestRegistry, seesRestricted: Bool = false, after: Int64? = 0
    ) async throws -> SubscriptionID {
        try await host.call { registry, reply in
            reply(
                Result { () throws(HostError) in
                    try registry.bus.subscribe(
                        patterns: ["films.comments.*"], after: after,
                        seesRestricted: seesRestricted, wake: {})
                })
        }
    }

    private func told(_ host: TestRegistry, _ id: SubscriptionID) async throws -> [Told] {
        let batch = try await host.call { $0.bus.pull(id, maxBytes: 1 << 20, reply: $1) }
        return try (batch?.content.notifications ?? []).map {
            Told(
                topic: $0.topic, text: try Value(jsonBytes: $0.payload).object?["text"]?.text,
                actor: $0.actor)
        }
    }

    private func withdraw(
        _ comment: String, by withdrawal: Withdrawal, _ host: TestRegistry
    ) async throws {
        switch withdrawal {
        case .delete: try await host.delete(comment)
        case .edit: try await host.edit(comment, text: "Better")
        case .hold:
            _ = try await host.call {
                $0.moderate(
                    "films", component: nil, comment: comment, state: .pending, reason: nil,
                    by: .moderator, $1)
            }
        case .removeItem: try await host.remove("alien")
        case .purgeItem: try await host.remove("alien", purge: true)
        case .detach, .purgeComponent:
            _ = try await host.call {
                $0.detach("films", "talk", purge: withdrawal == .purgeComponent, by: .ann, $1)
            }
        case .deleteContainer:
            _ = try await host.call { $0.structure.delete("films", purge: true, by: .ann, $1) }
        }
    }

    @Test(arguments: Withdrawal.allCases)
    func `no subscriber receives a text that was taken back, before a restart and after it`(
        _ withdrawal: Withdrawal
    ) async throws {
        var host = try await TestRegistry.start()
        try await host.apply(.films)
        try await host.put(Item(id: "alien", fields: ["title": "Alien"]))
        let comment = try await host.post("Awful", on: "alien").comment.entry.comment.id
        #expect(
            try await told(host)
                == [Told(topic: "films.comments.posted", text: "Awful", actor: "unix:1000")])
        try await withdraw(comment, by: withdrawal, host)
        for _ in 0..<2 {
            let first = try #require(try await told(host).first)
            #expect(first.text == (withdrawal == .edit ? "Better" : nil))
            #expect(first.actor == (withdrawal == .edit ? "unix:1000" : nil))
            let moderators = try #require(try await told(host, seesRestricted: true).first)
            switch withdrawal {
            case .edit: #expect(moderators.text == "Better")
            case .hold: #expect(moderators.text == "Awful")
            default: #expect(moderators.text == nil)
            }
            host = try await host.restarted()
        }
        try await host.end()
    }

    @Test(arguments: Withdrawal.allCases, [Isolation.daemon, .process])
    func `no text of a comment is logged, whatever becomes of it and whatever fails`(
        _ withdrawal: Withdrawal, _ isolation: Isolation
    ) async throws {
        let (log, script) = (CapturedLog(), RemoteLauncher.Script())
        var logger = log.logger
        logger.logLevel = .trace
        var host = try await TestRegistry.start(
            logger: logger, storeLogger: logger, workers: RemoteLauncher(script))
        try await host.apply(.films.changed { $0.components[3].isolation = isolation })
        try await host.put(Item(id: "alien", fields: ["title": "Alien"]))
        let comment = try await host.post("Awful", on: "alien").comment.entry.comment.id
        try await host.post("Awful and damaged", id: "damaged")
        let fault = try host.refuseEntries()
        await expectUnavailable { try await host.post("Awful and not written", on: "alien") }
        try fault.heal()
        try await host.undone()
        if isolation == .process {
            // It ends the component's worker, twice, and is blamed for it.
            script.lose(2)
            await #expect(throws: HostError.self) {
                try await host.post("Awful and lost", on: "alien", id: "lost")
            }
            while try await host.status().components[3].state != .attached {
                await Task.yield()
            }
        }
        try await withdraw(comment, by: withdrawal, host)
        _ = try host.store.recordRows()
        try OtherProgram(at: host.store.file).execute(
            "UPDATE records SET sum = sum + 1 WHERE CAST(key AS TEXT) = 'damaged'")
        try await host.stop()
        host = try await .start(
            in: host.directory, logger: logger, storeLogger: logger,
            workers: RemoteLauncher(script))
        _ = try await told(host, seesRestricted: true)
        _ = try await host.verify()
        try await host.end()
        #expect(log.messages.contains("a change could not be written"))
        #expect(
            log.lines.contains { $0.contains("damaged") && $0.contains("'damaged'") }
                || withdrawal.takesAll)
        for text in ["Awful", "Better"] {
            #expect(log.lines.filter { $0.contains(text) } == [])
        }
    }

    @Test func `an export that goes on has no text that was taken back since it began`()
        async throws
    {
        let host = try await TestRegistry.start()
        try await host.apply(.films)
        for (id, text) in [("c1", "Stays"), ("c2", "Deleted"), ("c3", "Edited"), ("c4", "Purged")] {
            if id == "c4" { try await host.put(.film("heat")) }
            try await host.post(text, on: id == "c4" ? "heat" : nil, id: id)
        }
        let export: ExportID = try await host.call { $0.export("films", $1) }
        try await host.delete("c2")
        try await host.edit("c3", text: "Better")
        try await host.remove("heat", purge: true)
        let part = try await host.call { $0.exports.pull(export, $1) }
        let comments = part.records.filter { $0.kind == "comments" }
        #expect(comments.map(\.key) == ["c1", "c2", "c3"])
        let texts = try comments.map { try Value(jsonBytes: $0.value).object?["text"]?.text }
        #expect(texts == ["Stays", nil, "Better"])
        try await host.end()
    }

    @Test(arguments: [false, true])
    func `an export that goes on has no item and no vote that is gone since it began`(
        purges: Bool
    ) async throws {
        let host = try await TestRegistry.start()
        try await host.apply(.films)
        try await host.put(.film("heat"), .film("ronin"))
        try await host.cast(4, on: "heat")
        try await host.cast(3, on: "ronin", by: .bob)
        try await host.cast(2, on: "ronin")
        let export: ExportID = try await host.call { $0.export("films", $1) }
        try await host.remove("heat", purge: purges)
        _ = try await host.call {
            $0.retract(SubjectAddress(container: "films", item: "ronin"), by: .ann, $1)
        }
        let records = try await host.call { $0.exports.pull(export, $1) }.records
        #expect(records.filter { $0.kind == "contents" }.map(\.key) == ["ronin"])
        let votes = records.filter { $0.kind == "votes" && ($0.key != "heat" || purges) }
        #expect(votes.map(\.actor) == ["unix:1001"])
        try await host.end()
    }

    @Test func `what is kept for slow subscribers is put together anew`() async throws {
        let host = try await TestRegistry.start()
        try await host.apply(.films)
        let ids = [try await subscribe(to: host), try await subscribe(to: host)]
        let comment = try await host.post("Awful").comment.entry.comment.id
        #expect(try await told(host, ids[0]).map(\.text) == ["Awful"])
        try await host.delete(comment)
        let late = try await told(host, ids[1])
        #expect(late.map(\.topic) == ["films.comments.posted", "films.comments.removed"])
        #expect(late.map(\.text) == [nil, nil])
        try await host.end()
    }

    @Test func `a text stands in its record alone`() async throws {
        let host = try await TestRegistry.start()
        try await host.apply(.films.changed { $0.components[3].settings = ["moderated": true] })
        let held = try await host.post("Held", by: .bob).comment.entry.comment.id
        _ = try await host.call {
            $0.moderate(
                "films", component: nil, comment: held, state: .shown, reason: nil,
                by: .moderator, $1)
        }
        try await host.edit(held, text: "Held twice", by: .bob)
        for notification in try host.store.notifications(after: 0, limit: 100).notifications {
            let bytes = notification.payload + (notification.restricted ?? [])
            #expect(!String(decoding: bytes, as: UTF8.self).contains("Held"))
        }
        try await host.end()
    }

    @Test func `a text that an older daemon wrote into a notification is not sent`() {
        let stored = BusNotification(
            StoredNotification(
                sequence: 1, time: 0, topic: "films.comments.posted", actor: 1,
                payload: Array(#"{"component":"talk","comment":"c","text":"Awful"}"#.utf8),
                restricted: Array(#"{"text":"Worse"}"#.utf8)))
        #expect(
            stored.comment == RecordKey(container: "films", component: "talk", key: "c"))
        let view = stored.view(seesRestricted: true, names: { _ in nil })
        #expect(
            String(decoding: view.payload, as: UTF8.self) == #"{"comment":"c","component":"talk"}"#)
    }

    @Test func `a part of the past is read again where its comment changed meanwhile`() async throws
    {
        let comment = RecordKey(container: "films", component: "talk", key: "c")
        var posted = note("films.comments.posted", sequence: 1)
        posted.comment = comment
        let bench = try await BusBench(stored: [posted])
        bench.past.say(
            [([comment: CommentText(text: "Awful")], asOf: 3), ([:], asOf: 4)])
        let id = try await bench.subscribe("films.>", after: 0)
        try await bench.run { $0.change(comment, to: nil, at: 4) }
        let batch = try #require(try await bench.pull(id))
        #expect(bench.past.reads == 2)
        #expect(batch.notifications.map(\.payload) == [posted.payload])
    }
}
