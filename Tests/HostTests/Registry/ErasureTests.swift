import AtriumKit
import Foundation
import Logging
import Store
import StoreFaults
import TestSupport
import Testing

@testable import Host

/// A person is erased, and nobody else.
@Suite(.timeLimit(.minutes(3))) struct ErasureTests {
    private static let name = "web:margarete-4711"
    private static let margarete = Caller(actor: name)
    /// What she wrote; none of it may be left.
    private static let words = [
        "Answered-by-bob", "Without-an-answer", "Taken-back", "Before-the-edit", "After-the-edit",
        "To-herself", "She-of-herself", "Published-by-her", name,
    ]

    /// A film club in which she voted, wrote and published, among others.
    private func films(logger: Logger = .silent) async throws -> TestRegistry {
        let host = try await TestRegistry.start(logger: logger)
        try await host.apply(.films)
        try await host.put(.film("heat"), .film("ronin"))
        try await host.cast(4, on: "heat", by: .bob)
        try await host.cast(2, on: "heat", by: Self.margarete)
        try await host.cast(1, on: "ronin", by: Self.margarete)
        try await host.cast(5, by: Self.margarete)
        for (id, text, parent) in [
            ("c1", "Answered-by-bob", nil), ("c2", "Without-an-answer", nil),
            ("c3", "Taken-back", nil), ("c4", "Before-the-edit", nil), ("c5", "To-herself", nil),
            ("c6", "She-of-herself", "c5"),
        ] {
            try await host.post(text, on: "heat", under: parent, id: id, by: Self.margarete)
        }
        try await host.post("Bobs-answer", on: "heat", under: "c1", id: "b1", by: .bob)
        try await host.post("She answers", on: "heat", under: "b1", id: "c7", by: Self.margarete)
        _ = try await host.call {
            $0.delete("films", component: nil, comment: "c3", by: Self.margarete, $1)
        }
        try await host.edit("c4", text: "After-the-edit", by: Self.margarete)
        _ = try await host.call {
            $0.moderate(
                "films", component: nil, comment: "c2", state: .pending,
                reason: "She-of-herself again", by: .moderator, $1)
        }
        _ = try await host.call {
            $0.publish(
                "films.app.said", payload: Array(#"{"word":"Published-by-her"}"#.utf8),
                durable: true, by: Self.margarete, $1)
        }
        return host
    }

    @discardableResult
    private func erase(
        _ host: TestRegistry, _ name: String = ErasureTests.name
    ) async throws -> ErasureResult {
        try await host.call { $0.erasures.erase(name, $1) }
    }

    /// Of words those that stand in some file of the store.
    private func left(of words: [String], in host: TestRegistry) throws -> Set<String> {
        var left: Set<String> = []
        for name in try FileManager.default.contentsOfDirectory(atPath: host.directory.path) {
            let data = try Data(
                contentsOf: URL(filePath: "\(host.directory.path)/\(name)"))
            for word in words where data.range(of: Data(word.utf8)) != nil { left.insert(word) }
        }
        return left
    }

    /// All that a subscriber is told who sees who did what.
    private func told(
        _ host: TestRegistry, _ id: SubscriptionID? = nil
    ) async throws -> [NotificationView] {
        let subscription: SubscriptionID =
            if let id { id } else {
                try await host.call { registry, reply in
                    reply(
                        Result { () throws(HostError) in
                            try registry.bus.subscribe(
                                patterns: [">"], after: 0, seesRestricted: true, wake: {})
                        })
                }
            }
        return try await host.call { $0.bus.pull(subscription, maxBytes: 1 << 20, reply: $1) }?
            .content
            .notifications ?? []
    }

    /// What stands against her being erased, and nobody else.
    private func check(_ host: TestRegistry) async throws {
        let heat = try await host.tally(of: "heat", actor: Self.name).tally
        #expect(heat.tally == Tally(count: 1, score: 4, histogram: ["4": 1]))
        #expect(heat.mine == nil)
        #expect(try await host.tally(of: "ronin").tally.tally == Tally())
        #expect(try await host.tally().tally.tally == Tally())
        let thread = try await host.thread(of: "heat")
        #expect(thread.comments.map(\.entry.comment.id) == ["c1", "b1"])
        #expect(thread.comments.map(\.entry.comment.text) == [nil, "Bobs-answer"])
        #expect(thread.comments.map(\.author) == [nil, "unix:1001"])
        #expect(thread.total == 1)
        let told = try await told(host)
        for notification in told {
            #expect(notification.actor != Self.name)
            let payload = String(decoding: notification.payload, as: UTF8.self)
            #expect(!Self.words.contains { payload.contains($0) }, "\(payload)")
        }
        let topics = told.map(\.topic)
        #expect(topics.filter { $0 == "films.votes.cast" }.count == 1)
        #expect(topics.filter { $0.hasPrefix("films.comments.") } == ["films.comments.posted"])
        #expect(topics.contains("films.items.put"))
        #expect(!topics.contains("films.app.said"))
        #expect(told.first { $0.topic == "films.votes.cast" }?.actor == "unix:1001")
    }

    /// Whoever asks again is told why her erasure is unfinished, and so is an administrator.
    private func checkUnfinished(_ host: TestRegistry) async throws {
        await #expect {
            try await erase(host)
        } throws: {
            guard case .storeUnavailable(let reason, nil) = $0 as? HostError else { return false }
            return reason.contains("films/talk has 1 record that can't be read ('c4')")
        }
        #expect(
            await host.on { $0.status(hasDetails: true) }.problems.contains {
                $0.contains("The erasure of a person") && $0.contains("('c4')")
            })
    }

    @Test func `nothing of a person is left in replies, the past and the files`()
        async throws
    {
        var host = try await films()
        #expect(try left(of: Self.words, in: host).isSuperset(of: ["Answered-by-bob", Self.name]))
        let result = try await erase(host)
        #expect(result.ballots == 3)
        #expect(result.comments == 7)
        #expect(try left(of: Self.words, in: host) == [])
        #expect(try left(of: ["Bobs-answer"], in: host) == ["Bobs-answer"])
        try await check(host)
        host = try await host.restarted()
        try await check(host)
        #expect(try left(of: Self.words, in: host) == [])
        try await host.end()
    }

    @Test func `who comes back is a new person, and the number is never another's`() async throws {
        var host = try await films()
        let before = try #require(await host.on { $0.domain.actors.number(of: Self.name) })
        try await erase(host)
        await #expect(throws: HostError.actorNotFound(Self.name)) { try await erase(host) }
        host = try await host.restarted()
        try await host.cast(3, on: "heat", by: Self.margarete)
        let now = try #require(await host.on { $0.domain.actors.number(of: Self.name) })
        #expect(now != before)
        #expect(try await host.tally(of: "heat", actor: Self.name).tally.mine == 3)
        #expect(try await told(host).filter { $0.actor == Self.name }.count == 1)
        let numbers = try host.store.actors().filter { $0.name.isEmpty }.map(\.number)
        #expect(numbers == [before.number])
        try await host.end()
    }

    @Test func `what a person begins as they are erased goes with them`() async throws {
        let host = try await films()
        let heat = SubjectAddress(container: "films", item: "heat")
        let results = try await host.callAll(3) { registry, index, reply in
            switch index {
            case 0: registry.erasures.erase(Self.name) { reply($0.map { _ in }) }
            case 1: registry.cast(heat, value: 5, by: Self.margarete) { reply($0.map { _ in }) }
            default:
                registry.post(
                    heat, parent: nil, text: "To-herself", id: "c9", by: Self.margarete
                ) { reply($0.map { _ in }) }
            }
        }
        _ = try results[0].get()
        #expect(try left(of: Self.words, in: host) == [])
        try await check(host)
        try await host.end()
    }

    @Test func `an erasure that could not be noted has not begun, and says so`() async throws {
        let host = try await films()
        let fault = try host.refuseEntries()
        await #expect {
            try await erase(host)
        } throws: {
            guard case .storeUnavailable(let reason, _) = $0 as? HostError else { return false }
            return reason.contains("Nothing of the person is erased")
        }
        #expect(try await host.tally(of: "heat", actor: Self.name).tally.mine == 2)
        try fault.heal()
        try await erase(host)
        #expect(try left(of: Self.words, in: host) == [])
        try await check(host)
        try await host.end()
    }

    /// Erases the person, and expects that it can't be finished now.
    private func expectUnfinished(_ host: TestRegistry) async {
        await #expect {
            try await erase(host)
        } throws: {
            guard case .storeUnavailable = $0 as? HostError else { return false }
            return true
        }
    }

    @Test func `an erasure that a crash ends goes on with the next start`() async throws {
        var host = try await films()
        let fault = try host.refuseEntries(where: "NEW.topic = 'films.records.erased'")
        await expectUnfinished(host)
        try await host.kill()
        try fault.heal()
        host = try await .start(in: host.directory)
        // It is under way, or over.
        do {
            try await erase(host)
        } catch {
            #expect(error as? HostError == .actorNotFound(Self.name))
        }
        #expect(try left(of: Self.words, in: host) == [])
        try await check(host)
        try await host.end()
    }

    @Test func `who comes back during an unfinished erasure and is erased again is gone, too`()
        async throws
    {
        let host = try await films()
        let fault = try host.refuseEntries(where: "NEW.topic = 'films.records.erased'")
        await expectUnfinished(host)
        #expect(
            await host.on { $0.status(hasDetails: true) }.problems.contains {
                $0.contains("The erasure of a person") && $0.contains("goes on by itself")
            })
        // The refused entry's epoch ends first.
        try await until {
            do {
                try await host.cast(3, on: "ronin", by: Self.margarete)
                return true
            } catch HostError.storeUnavailable {
                return false
            }
        }
        try await host.post("After-the-edit", on: "heat", id: "c8", by: Self.margarete)
        try fault.heal()
        let result = try await erase(host)
        #expect(result.ballots == 1)
        #expect(result.comments == 1)
        #expect(try left(of: Self.words, in: host) == [])
        try await check(host)
        #expect(
            !(await host.on { $0.status(hasDetails: true) }.problems.contains {
                $0.contains("The erasure of a person")
            }))
        try await host.end()
    }

    @Test
    func `an erasure that a damaged purge stands against is not tried again before the next start`()
        async throws
    {
        let log = CapturedLog()
        let host = try await films(logger: log.logger)
        try OtherProgram(at: host.store.file).execute(
            """
            INSERT INTO purges(component, item, first, last, through, rowsum)
            VALUES (1, x'', x'78', x'79', 0, 1)
            """)
        await #expect {
            try await erase(host)
        } throws: {
            guard case .storeUnavailable(let reason, nil) = $0 as? HostError else { return false }
            return reason.contains("table purges")
        }
        #expect(await host.on { $0.erasures.waiting.isEmpty })
        #expect(
            log.messages.filter { $0.contains("erased") } == [
                "a person can't be erased from a damaged store: the next start retries"
            ])
        try await host.end()
    }

    @Test func `a damaged comment may be hers: the rest goes, and the erasure says what is left`()
        async throws
    {
        var host = try await films()
        _ = try host.store.recordRows()
        try OtherProgram(at: host.store.file).execute(
            "UPDATE records SET sum = sum + 1 WHERE CAST(key AS TEXT) = 'c4'")
        await #expect {
            try await erase(host)
        } throws: {
            guard case .storeUnavailable(let reason, nil) = $0 as? HostError else { return false }
            return reason.contains("films/talk has 1 record that can't be read ('c4')")
                && reason.contains("the next start tries it again")
        }
        #expect(try left(of: Self.words, in: host) == ["After-the-edit"])
        try await checkUnfinished(host)
        // Nor is it shown any more.
        #expect(
            !(try await host.thread(of: "heat").comments.map(\.entry.comment.id).contains("c4")))
        // Its remains, a copy among them, go with the record; then the next start ends it.
        host = try await host.restarted()
        while await host.on({ !$0.erasures.waiting.isEmpty }) { await Task.yield() }
        #expect(try left(of: Self.words, in: host) == ["After-the-edit"])
        try await checkUnfinished(host)
        try OtherProgram(at: host.store.file).execute(
            "UPDATE records SET sum = sum - 1 WHERE CAST(key AS TEXT) = 'c4'")
        host = try await host.restarted()
        while await host.on({ !$0.erasures.waiting.isEmpty }) { await Task.yield() }
        for copy in host.store.copies { try FileManager.default.removeItem(atPath: copy) }
        #expect(try left(of: Self.words, in: host) == [])
        try await host.end()
    }

    @Test(arguments: [
        "time = time + 1", "actor = 1", "topic = NULL", "container = 99",
        "actor = NULL, topic = NULL",
    ])
    func `of a damaged notification everything goes, whosever it may be`(
        change: String
    ) async throws {
        let host = try await films()
        try OtherProgram(at: host.store.file).execute(
            "UPDATE entries SET \(change) WHERE topic = 'films.app.said'")
        try await erase(host)
        #expect(try left(of: Self.words, in: host) == [])
        // It is found as before.
        #expect(try await host.verify().damage.contains { $0.kind == .log })
        try await host.end()
    }

    @Test func `a verification that goes on ends, and says why`() async throws {
        let host = try await films()
        let id = try await host.beginVerification()
        try await erase(host)
        await #expect {
            // Until then it may have told how far it is.
            while true {
                let news: VerificationNews = try await host.call { $0.verifications.pull(id, $1) }
                if news.report != nil { break }
            }
        } throws: {
            guard case .storeUnavailable(let reason, 10) = $0 as? HostError else { return false }
            return reason.contains("erased")
        }
        #expect(try await host.verify().damage == [])
        #expect(try left(of: Self.words, in: host) == [])
        try await host.end()
    }

    @Test func `records of components that are not there go, too`() async throws {
        var host = try await films()
        for component in ["talk", "stars"] {
            _ = try await host.call {
                $0.detach("films", component, purge: false, by: .ann, $1)
            }
        }
        try await erase(host)
        #expect(try left(of: Self.words, in: host) == [])
        try await host.apply(.films)
        for (name, plugin) in [("stars", "org.atrium.stars"), ("talk", "org.atrium.threads")] {
            _ = try await host.call {
                $0.attach(
                    "films", ComponentDefinition(name: name, plugin: plugin), at: nil, by: .ann, $1)
            }
        }
        try await check(host)
        host = try await host.restarted()
        try await check(host)
        try await host.end()
    }

    @Test func `a subscriber who is behind receives nothing of the person`() async throws {
        let host = try await films()
        let late: SubscriptionID = try await host.call { registry, reply in
            reply(
                Result { () throws(HostError) in
                    try registry.bus.subscribe(
                        patterns: ["films.>"], after: 0, seesRestricted: true, wake: {})
                })
        }
        try await erase(host)
        for notification in try await told(host, late) {
            #expect(notification.actor != Self.name)
            let payload = String(decoding: notification.payload, as: UTF8.self)
            #expect(!Self.words.contains { payload.contains($0) }, "\(payload)")
            #expect(notification.topic != "films.app.said")
        }
        try await host.end()
    }

    @Test func `an open screen of hers goes on, and shows none of it`() async throws {
        let host = try await films()
        try await host.post("She answers", id: "club", by: Self.margarete)
        let client = try await ScreenClient(
            host, ScreenRequest(container: "films", actor: Self.name))
        try await client.catchUp()
        #expect(client.copy.tally?.mine == 5)
        #expect(client.copy.comments.map(\.author) == [Self.name])
        #expect(client.copy.lists["list"]?.map { $0.votes?.mine } == [2, 1])
        try await erase(host)
        try await client.catchUp()
        #expect(client.copy.tally == TallyView(tally: Tally(), mine: nil))
        #expect(client.copy.comments.isEmpty)
        #expect(client.copy.lists["list"]?.map { $0.votes?.mine } == [nil, nil])
        try await host.end()
    }

    @Test func `what was purged before is in no file either, when the reply comes`() async throws {
        let host = try await TestRegistry.start()
        try await host.apply(.films)
        try await host.put(.film("heat"))
        let posted = try await host.callAll(2_500) { registry, index, reply in
            registry.post(
                SubjectAddress(container: "films", item: "heat"), parent: nil,
                text: "Without-an-answer", id: "c\(index)", by: Self.margarete, reply)
        }
        for result in posted { _ = try result.get() }
        try await host.remove("heat", purge: true)
        try await erase(host)
        #expect(try left(of: Self.words, in: host) == [])
        try await host.end()
    }

    @Test func `an export of before ends, and says why`() async throws {
        let host = try await films()
        let export: ExportID = try await host.call { $0.export("films", $1) }
        try await erase(host)
        await #expect {
            _ = try await host.call { $0.exports.pull(export, $1) }
        } throws: {
            guard case .storeUnavailable(let reason, _) = $0 as? HostError else { return false }
            return reason.contains("erased")
        }
        #expect(try left(of: Self.words, in: host) == [])
        try await host.end()
    }

    @Test(arguments: [false, true])
    func `a thousand ballots go in slices, and those of others stay`(fails: Bool) async throws {
        let host = try await TestRegistry.start()
        try await host.apply(.films)
        try await host.put((0..<1_000).map { .film("film-\($0)") })
        for caller in [Caller.bob, Self.margarete] {
            let cast = try await host.callAll(1_000) { registry, index, reply in
                registry.cast(
                    SubjectAddress(container: "films", item: "film-\(index)"), value: 3,
                    by: caller, reply)
            }
            for result in cast { _ = try result.get() }
        }
        if fails {
            let erased = "topic = 'films.records.erased'"
            let fault = try host.refuseEntries(
                where: "NEW.\(erased) AND EXISTS (SELECT 1 FROM entries WHERE \(erased))")
            await expectUnfinished(host)
            try fault.heal()
        }
        let result = try await erase(host)
        #expect(result.ballots == 1_000)
        #expect(result.notifications == 1_000)
        for index in [0, 500, 999] {
            let tally = try await host.tally(of: "film-\(index)").tally.tally
            #expect(tally == Tally(count: 1, score: 3, histogram: ["3": 1]))
        }
        #expect(try left(of: [Self.name], in: host) == [])
        try await host.end()
    }

    @Test func `an erasure that is tried again counts all notifications once`() async throws {
        let other = try await films()
        let whole = try await erase(other)
        try await other.end()
        let host = try await films()
        let fault = try OtherProgram(at: host.store.file)
        try fault.execute(
            """
            CREATE TRIGGER kept BEFORE UPDATE OF topic ON entries
            BEGIN SELECT RAISE(ABORT, 'kept by a test'); END;
            """)
        await expectUnfinished(host)
        try fault.heal()
        let result = try await erase(host)
        #expect(result.ballots == whole.ballots)
        #expect(result.comments == whole.comments)
        #expect(result.notifications == whole.notifications)
        #expect(try left(of: Self.words, in: host) == [])
        try await check(host)
        try await host.end()
    }
}
