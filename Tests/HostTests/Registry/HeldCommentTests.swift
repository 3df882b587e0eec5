import AtriumKit
import Foundation
import JSONCodec
import Store
import TestSupport
import Testing

@testable import Host

/// Who is shown comments that wait for a moderator, and why one was removed.
@Suite(.timeLimit(.minutes(3))) struct HeldCommentTests {
    private static let moderated = ContainerDefinition.films.changed {
        $0.components[3].settings = ["moderated": true]
    }

    private func held(
        _ host: TestRegistry, by reader: Caller, of item: String? = nil
    ) async throws -> [CommentView] {
        try await thread(host, by: reader, of: item).held
    }

    private func thread(
        _ host: TestRegistry, by reader: Caller?, of item: String? = nil
    ) async throws -> ThreadResult {
        try await host.call { registry, reply in
            registry.with("films", reply) {
                $0.comments.thread(
                    ThreadQuery(subject: Subject(item: item)), in: nil, by: reader, reply)
            }
        }
    }

    private func pending(
        _ host: TestRegistry, limit: Int = 100, cursor: String? = nil
    ) async throws -> ThreadResult {
        try await host.call { registry, reply in
            registry.with("films", reply) {
                $0.comments.pending(in: nil, limit: limit, cursor: cursor, reply)
            }
        }
    }

    @discardableResult
    private func moderate(
        _ host: TestRegistry, _ comment: String, _ state: AtriumKit.Comment.State,
        _ reason: String? = nil, seen: String? = nil, by caller: Caller = .moderator
    ) async throws -> CommentResult {
        try await host.call {
            $0.moderate(
                "films", component: nil, comment: comment, state: state, reason: reason,
                seen: seen, by: caller, $1)
        }
    }

    @Test func `a held comment is its author's and the moderators' to see, nobody else's`()
        async throws
    {
        var host = try await TestRegistry.start()
        try await host.apply(Self.moderated)
        try await host.put(.film("heat"))
        try await host.post("Held", on: "heat", id: "c1", by: .bob)
        for _ in 0..<2 {
            #expect(
                try await held(host, by: .bob, of: "heat").map(\.entry.comment.text) == ["Held"])
            for other in [Caller.ann, .moderator] {
                let seen = try await thread(host, by: other, of: "heat")
                #expect(seen.held == [] && seen.comments == [] && seen.total == 0)
            }
            #expect(try await host.list().items.first?.comments ?? 0 == 0)
            let queue = try await pending(host)
            #expect(queue.comments.map(\.entry.comment.text) == ["Held"])
            #expect(queue.comments.map(\.author) == [Caller.bob.actor])
            #expect(queue.total == 1)
            host = try await host.restarted()
        }
        try await host.remove("heat")
        #expect(try await pending(host).comments == [], "it is gone with its item")
        try await host.end()
    }

    @Test func `what was removed is removed once, and a refusal says who did it`() async throws {
        let host = try await TestRegistry.start()
        try await host.apply(.films)
        try await host.post("Rude", id: "c1", by: .bob)
        try await host.post("Mine", id: "c2")
        #expect(try await !moderate(host, "c1", .removed, "No insults").isUnchanged)
        let deleted: CommentResult = try await host.call {
            $0.delete("films", component: nil, comment: "c1", by: .bob, $1)
        }
        #expect(deleted.isUnchanged)
        #expect(try await !host.delete("c2").isUnchanged)
        #expect(try await host.delete("c2").isUnchanged)
        for (comment, words) in [
            ("c1", "was removed by a moderator and its text is gone"),
            ("c2", "was removed and its text is gone"),
        ] {
            let error = await #expect(throws: HostError.self) {
                try await moderate(host, comment, .shown)
            }
            #expect("\(try #require(error))".contains(words), "\(String(describing: error))")
        }
        try await host.end()
    }

    @Test
    func `a reason is shown to the author and moderators, is in no notification, and is bounded`()
        async throws
    {
        let host = try await TestRegistry.start()
        try await host.apply(.films)
        try await host.post("Rude", id: "c1", by: .bob)
        try await host.post("Answer", under: "c1", id: "c2")
        await #expect(throws: HostError.self) {
            try await moderate(host, "c1", .removed, String(repeating: "x", count: 501))
        }
        let done = try await moderate(host, "c1", .removed, "No-insults")
        #expect(done.comment.entry.comment.reason == "No-insults")
        #expect(
            try await held(host, by: .bob).map(\.entry.comment.reason) == ["No-insults"])
        for reader in [Caller.ann, .bob] {
            let tombstone = try #require(try await thread(host, by: reader).comments.first)
            #expect(tombstone.entry.comment.id == "c1" && tombstone.entry.comment.reason == nil)
        }
        #expect(
            try await thread(host, by: .moderator).comments.first?.entry.comment.reason
                == "No-insults")
        for notification in try host.store.notifications(after: 0, limit: 100).notifications {
            let bytes = notification.payload + (notification.restricted ?? [])
            #expect(!String(decoding: bytes, as: UTF8.self).contains("insults"))
        }
        try await moderate(host, "c1", .removed)
        #expect(try await held(host, by: .bob) == [])
        try await host.end()
    }

    @Test func `a moderator decides on the text that they saw, and on no other`() async throws {
        let host = try await TestRegistry.start()
        try await host.apply(Self.moderated)
        try await host.put(.film("heat"))
        try await host.post("Harmless", on: "heat", id: "c1", by: .bob)
        let seen = try #require(try await pending(host).comments.first).entry.comment
        try await host.edit("c1", text: "Worse", by: .bob)
        let failed = await #expect(throws: HostError.self) {
            try await moderate(host, "c1", .shown, seen: seen.created.text)
        }
        guard case .conflict("c1", let reason) = failed else {
            Issue.record("\(String(describing: failed))")
            return
        }
        let waiting = try #require(try await pending(host).comments.first).entry.comment
        #expect(waiting.text == "Worse" && waiting.state == .pending)
        let edited = try #require(waiting.edited)
        #expect(reason.contains(edited.text), "\(reason)")
        // Nothing that was decided in vain holds up what follows.
        try await host.post("Another", on: "heat", id: "c2", by: .ann)
        try await moderate(host, "c1", .shown, seen: edited.text)
        #expect(try await pending(host).comments.map(\.entry.comment.id) == ["c2"])
        let other = try #require(try await pending(host).comments.first).entry.comment
        try await moderate(host, "c2", .shown, seen: other.created.text)
        #expect(try await thread(host, by: nil, of: "heat").comments.count == 2)
        try await host.end()
    }

    @Test func `of a comment that was never edited nobody says that its author changed it`()
        async throws
    {
        let host = try await TestRegistry.start()
        try await host.apply(.films)
        try await host.post("Harmless", id: "c1", by: .bob)
        let failed = await #expect(throws: HostError.self) {
            try await moderate(host, "c1", .pending, seen: "2020-01-01T00:00:00Z")
        }
        guard case .conflict("c1", let reason) = failed else {
            Issue.record("\(String(describing: failed))")
            return
        }
        #expect(reason.contains("not changed since, and you decided on the text of 2020"))
        #expect(!reason.contains("Its author changed it"), "\(reason)")
        try await host.end()
    }

    @Test func `a comment is shown without a reason, and nothing is decided with one`()
        async throws
    {
        let host = try await TestRegistry.start()
        try await host.apply(Self.moderated)
        try await host.put(.film("heat"))
        try await host.post("Harmless", on: "heat", id: "c1", by: .bob)
        let failed = await #expect(throws: HostError.self) {
            try await moderate(host, "c1", .shown, "Fine")
        }
        guard case .parameterInvalid("reason", _) = failed else {
            Issue.record("\(String(describing: failed))")
            return
        }
        #expect(try await pending(host).comments.map(\.entry.comment.id) == ["c1"])
        // Blanks are none.
        try await moderate(host, "c1", .shown, " ")
        #expect(try await pending(host).comments.isEmpty)
        try await host.end()
    }

    @Test func `a moderator who is erased takes the reasons along, and the comments stay`()
        async throws
    {
        var host = try await TestRegistry.start()
        try await host.apply(.films)
        try await host.post("Rude", id: "c1", by: .bob)
        let margarete = Caller(actor: "web:margarete", isModerator: true)
        try await moderate(host, "c1", .removed, "She-says-so", by: margarete)
        _ = try await host.call { $0.erasures.erase("web:margarete", $1) }
        for _ in 0..<2 {
            #expect(try await held(host, by: .bob) == [])
            host = try await host.restarted()
        }
        for name in try FileManager.default.contentsOfDirectory(atPath: host.directory.path) {
            let data = try Data(contentsOf: URL(filePath: "\(host.directory.path)/\(name)"))
            #expect(data.range(of: Data("She-says-so".utf8)) == nil, "\(name)")
        }
        try await host.end()
    }

    @Test func `records that are taken out and put back have their reasons`() async throws {
        let host = try await TestRegistry.start()
        try await host.apply(.films)
        try await host.post("Rude", id: "c1", by: .bob)
        try await moderate(host, "c1", .removed, "No insults")
        let export: ExportID = try await host.call { $0.export("films", $1) }
        let records = try await host.call { $0.exports.pull(export, $1) }.records
        let other = try await TestRegistry.start()
        try await other.apply(.films)
        _ = try await other.call { $0.restore("films", records, by: .ann, $1) }
        #expect(
            try await held(other, by: .bob).map(\.entry.comment.reason) == ["No insults"])
        _ = try await other.call { $0.erasures.erase(Caller.moderator.actor, $1) }
        #expect(try await held(other, by: .bob) == [], "it is still known whose it was")
        try await host.end()
        try await other.end()
    }

    @Test func `an author's screens show what waits, others' are not even woken to a revision`()
        async throws
    {
        let host = try await TestRegistry.start()
        try await host.apply(Self.moderated)
        let own = try await ScreenClient(
            host, ScreenRequest(container: "films", actor: Caller.bob.actor))
        let other = try await ScreenClient(
            host, ScreenRequest(container: "films", actor: Caller.ann.actor))
        for client in [own, other] { try await client.catchUp() }
        try await host.post("Held", id: "c1", by: .bob)
        try await own.catchUp(until: { own.copy.held.map(\.entry.comment.text) == ["Held"] })
        #expect(own.copy.comments == [] && own.copy.totals["talk"] == 0)
        #expect(try await other.pull() == nil)
        try await moderate(host, "c1", .removed, "Why")
        try await own.catchUp(until: { own.copy.held.map(\.entry.comment.reason) == ["Why"] })
        #expect(try await other.pull() == nil)
        try await moderate(host, "c1", .removed)
        try await own.catchUp(until: { own.copy.held.isEmpty })
        #expect(other.copy.held == [])
        try await host.end()
    }
}
