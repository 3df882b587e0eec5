import AtriumKit
import JSONCodec
import PluginLoader
import Store
import TestSupport
import Testing

@testable import Host
@testable import Index

/// Whether what is shown is what the store holds.
@Suite(.timeLimit(.minutes(3))) struct VerificationTests {
    @Test func `a container of which all is well is verified whole`() async throws {
        let host = try await TestRegistry.filled()
        for first in [0, 600] {
            try await host.put(
                (first..<first + 600).map { .film("film-\($0)", ["drama", "war", "drama"]) })
        }
        for sort in ["-votes.score", "title", "genres", "id"] {
            for _ in 0..<6 { _ = try await host.list(sort: [sort], facets: true, limit: 5) }
        }
        try await host.remove("alien", "film-7")
        try await host.cast(3, on: "film-8")
        let _: VoteResult = try await host.call { registry, reply in
            registry.retract(SubjectAddress(container: "films", item: "film-8"), by: .ann, reply)
        }
        for number in 0..<250 { try await host.post("\(number)", on: "film-9", id: "c\(number)") }
        try await host.post("Gone.", on: "film-10", id: "gone")
        try await host.delete("gone")
        try await host.delete("a")
        let whole = try await host.verify()
        #expect(whole.damage == [])
        #expect(whole.checked.suffix(3).map(\.kind) == ["definitions", "log", "file"])
        #expect(whole.checked.suffix(3).map(\.records) == [1, Int(host.store.lastSequence), 0])
        let report = try await host.verify("films")
        #expect(report.damage == [])
        #expect(report.checked == Array(whole.checked.dropLast(3)))
        #expect(report.checked.map(\.component) == ["list", "stars", "talk"])
        #expect(report.checked.map(\.records) == [1_200, 3, 253])
        #expect(report.checked.allSatisfy { $0.skipped == nil })
        #expect(try await host.status().state == .ready)
        let again = try await host.restarted()
        #expect(try await again.verify("films") == report)
        try await again.end()
    }

    /// A record that is written, or with nil removed, without anybody being told.
    struct Secret: Sendable, CustomTestStringConvertible {
        var component: String
        var key: String
        var value: String?
        var found: String
        var testDescription: String { "\(component) \(key) \(value ?? "")" }
    }

    @Test(arguments: [
        Secret(
            component: "list", key: "heat", value: #"{"fields":{"title":"Hest"}}"#,
            found: "1 item differs from what the store holds: 'heat' is shown with other values"),
        Secret(
            component: "list", key: "new", value: #"{"fields":{"title":"New"}}"#,
            found: "'new' is in the store, and not shown"),
        Secret(
            component: "list", key: "heat",
            found: "'heat' is shown, and the store does not hold it"),
        Secret(
            component: "stars", key: "heat\n77", value: #"{"value":1,"cast":1}"#,
            found: "'heat' is shown with 2 ballots, where the store holds 3 ballots"),
        Secret(
            component: "stars", key: "\n77", value: #"{"value":1,"cast":1}"#,
            found: "the container is shown with 1 ballot, where the store holds 2 ballots"),
        Secret(
            component: "talk", key: "a",
            value: #"{"state":"shown","created":1,"item":"heat","text":"Slov."}"#,
            found: "1 comment differs from what the store holds: 'a' is shown otherwise"),
        Secret(
            component: "talk", key: "c",
            value: #"{"state":"shown","created":1,"item":"alien","text":"New."}"#,
            found: "'c' is in the store, and not shown"),
    ])
    func `what the store holds and is not shown is found, reported and forgotten by a start`(
        _ secret: Secret
    ) async throws {
        let host = try await TestRegistry.filled()
        try await host.write(secret.component, secret.key, secret.value)
        let report = try await host.verify()
        let damage = try #require(report.damage.first)
        #expect(damage.kind == .shown && damage.component == secret.component)
        #expect(damage.found.contains(secret.found), "\(damage.found)")
        #expect(damage.count == 1 && damage.keys.count == 1)
        let status = try await host.status()
        #expect(status.state == .degraded)
        #expect(status.reason?.contains(damage.found) == true)
        let after = try await host.restarted()
        #expect(try await after.verify().damage == [])
        #expect(try await after.status().state == .ready)
        try await after.end()
    }

    @Test func `ballots that are gone are found, also where they were all there were`()
        async throws
    {
        let host = try await TestRegistry.filled()
        let number = try host.store.actors().first { $0.name == "unix:1000" }?.number ?? 0
        try await host.write("stars", "\n\(number)", nil)
        let found = try await host.verify().damage.map(\.found)
        #expect(
            found == ["1 tally differs from what the store holds: the store has no records of it"])
        try await host.end()
    }

    @Test func `what was derived wrongly from votes, counts and texts is found`() async throws {
        let host = try await TestRegistry.filled()
        await host.on { registry in
            let container = registry.containers["films"]
            container?.slot("list")?.list?.setTally(Tally(count: 9, score: 5), for: "alien")
            container?.slot("talk")?.own.comments?.set(7, of: .item("heat"))
            let votes = container?.slot("stars")?.own.votes
            votes?.set(Tally(count: 1, score: 1), of: .item("nowhere"))
        }
        let found = try await host.verify().damage.map(\.found)
        #expect(
            found == [
                // The other one is shown with a number of comments that no component tells.
                "2 items differ from what the store holds: 'alien' is not found by its own values",
                "1 tally differs from what the store holds: the store has no records of it",
                "1 thread differs from what the store holds: 'heat' is shown with 7 comments, where "
                    + "the store holds 2",
            ])
        try await host.end()
    }

    /// What is wrong with what an index keeps beside its items.
    enum IndexHarm: CaseIterable {
        case rowGone
        case valueElsewhere
        case textOfAnother

        /// The field whose order or counts are wrong, and how.
        var found: String {
            switch self {
            case .rowGone: "is not of all items"
            case .valueElsewhere: "the order by title is wrong"
            case .textOfAnother: "the counts of genres are wrong"
            }
        }

        fileprivate func happen(to list: ContentIndex) {
            let texts = Dictionary(
                uniqueKeysWithValues: list.columns.names.compactMap { name, column in
                    guard case .text(let texts) = list.columns.numbered[column] else {
                        return (String, TextColumn)?.none
                    }
                    return (name, texts)
                })
            switch self {
            case .rowGone: list.orders.remove(3)
            case .valueElsewhere: texts["title"]?.set(.text("Zulu"), row: 3)
            case .textOfAnother: _ = texts["genres"]?.values.insert("crime", row: 3)
            }
        }
    }

    @Test(arguments: IndexHarm.allCases)
    func `an order or a count that does not follow its items is found`(
        _ harm: IndexHarm
    ) async throws {
        let host = try await TestRegistry.start()
        try await host.apply(.films)
        try await host.put((0..<300).map { .film("film-\($0)", [$0 == 7 ? "crime" : "drama"]) })
        // Enough of them that an order is made.
        for _ in 0..<20 { _ = try await host.list(sort: ["title"], facets: true, limit: 5) }
        #expect(try await host.verify("films").damage == [])
        await host.on { registry in
            guard let list = registry.containers["films"]?.slot("list")?.list else { return }
            #expect(!list.orders.isEmpty)
            harm.happen(to: list)
        }
        let damage = try await host.verify("films").damage
        #expect(
            damage.contains {
                $0.kind == .shown && $0.component == "list" && $0.found.contains(" differ")
                    && $0.found.contains(harm.found)
            }, "\(damage)")
        #expect(damage.allSatisfy { $0.advice.contains("Restart the daemon") })
        try await host.end()
    }

    @Test func `a votes component that counts otherwise is found out`() async throws {
        let plugins =
            [Plugin].builtIn.filter { $0.kind != .votes }
            + [.inProcess("org.atrium.stars", .votes, Flatterer.self)]
        let host = try await TestRegistry.start(plugins: plugins)
        try await host.apply(.films)
        try await host.put(.film("heat"), .film("alien"))
        try await host.cast(4, on: "heat")
        let damage = try await host.verify().damage
        #expect(
            damage.map(\.found) == [
                "1 tally differs from what the store holds: 'heat' is shown with 2 ballots, where the "
                    + "store holds 1 ballot"
            ])
        #expect(damage.first?.advice.contains("the plugin does not count all ballots") == true)
        try await host.end()
    }

    @Test func `a record that can't be read is found while the daemon runs`() async throws {
        let host = try await TestRegistry.filled()
        try await host.write("talk", "b", #"{"state":"#)
        let damage = try await host.verify().damage
        #expect(damage.first?.kind == .unreadable && damage.first?.keys == ["b"])
        #expect(damage.first?.found == "1 record can't be read")
        #expect(try await host.status().reason?.contains("1 record can't be read") == true)
        try await host.end()
    }

    @Test func `no false alarm is raised while items, votes and comments are written`()
        async throws
    {
        let host = try await TestRegistry.start()
        try await host.apply(.films)
        try await host.put((0..<400).map { .film("film-\($0)") })
        async let writing: Void = host.writeMuch(rounds: 60)
        var reports: [VerificationReport] = []
        for _ in 0..<8 { reports.append(try await host.verify()) }
        try await writing
        reports.append(try await host.verify())
        #expect(reports.flatMap(\.damage) == [])
        #expect(reports.flatMap(\.checked).allSatisfy { $0.skipped == nil })
        try await host.end()
    }

    @Test func `there is one at a time, and one that nobody asks for any more ends`() async throws {
        let host = try await TestRegistry.filled()
        let id = try await host.beginVerification()
        await expect(.limitExceeded(limit: "verifications", value: 1, retryAfter: 10)) {
            _ = try await host.beginVerification()
        }
        await host.on { $0.verifications.close(id) }
        await expectUnavailable {
            let _: VerificationNews = try await host.call { $0.verifications.pull(id, $1) }
        }
        await expect(.containerNotFound("books")) { _ = try await host.verify("books") }
        #expect(try await host.verify().damage == [])
        try await host.cast(1, on: "alien")
        try await host.end()
    }

    @Test func `what a delegate of its own shows is read and not compared`() async throws {
        let host = try await TestRegistry.start(
            delegates: [DelegatePlugin(id: "test.quiet", delegate: QuietDelegate.self)])
        try await host.apply(
            .films.changed { $0.delegate = DelegateDefinition(plugin: "test.quiet") })
        try await host.put(.film("heat"))
        let report = try await host.verify("films")
        #expect(report.damage == [])
        #expect(
            report.checked.map(\.skipped)
                == Array(repeating: "A delegate of the container decides what is shown.", count: 3))
        try await host.end()
    }
}

/// Shows nothing.
private final class QuietDelegate: ContainerDelegate {
    override func contents(
        _ component: ComponentReference, didChange change: ContentChange
    ) {}
}

/// Counts each ballot twice.
private final class Flatterer: Voting {
    static let settings: [Setting] = []
    weak var delegate: (any VotingDelegate)?
    private var counts: [Subject: Int] = [:]

    init(context: ComponentContext) throws {}

    var tallies: [(subject: Subject, tally: Tally)] {
        counts.keys.map { ($0, tally(of: $0)) }
    }

    func cast(_ ballot: Ballot, _ context: CommandContext) throws(Refusal) -> [Change] {
        [ballot.record]
    }

    func retract(
        actor: ActorID, subject: Subject, _ context: CommandContext
    ) throws(Refusal) -> [Change] { [] }

    func tally(of subject: Subject) -> Tally {
        let count = counts[subject, default: 0] * 2
        return Tally(count: count, score: 5, histogram: ["5": count])
    }

    func ballot(of actor: ActorID, on subject: Subject) -> Ballot? { nil }
    func ballots(on subject: Subject, after: ActorID?, limit: Int) -> [Ballot] { [] }
    func recordKeys(about subject: Subject) -> [String] { [] }

    func apply(_ change: Change) {
        guard let (subject, _) = Ballot.parse(key: change.key) else { return }
        counts[subject, default: 0] += 1
        delegate?.voting(self, didChange: tally(of: subject), of: subject)
    }
}

extension TestRegistry {
    /// Begins to verify one container, or all.
    func beginVerification(of container: String? = nil) async throws -> VerificationID {
        try await call { (registry: Registry, reply: @escaping Reply<VerificationID>) in
            let begin = { (container: Container?) in
                reply(
                    Result { () throws(HostError) in
                        try registry.verifications.begin(of: container)
                    })
            }
            guard let container else { return begin(nil) }
            registry.with(container, reply) { begin($0) }
        }
    }

    /// Verifies one container, or all, to the end.
    func verify(_ container: String? = nil) async throws -> VerificationReport {
        let id = try await beginVerification(of: container)
        while true {
            let news: VerificationNews = try await call { $0.verifications.pull(id, $1) }
            if let report = news.report { return report }
        }
    }

    /// Writes a record, or with nil removes it, without anybody being told.
    fileprivate func write(_ component: String, _ key: String, _ value: String?) async throws {
        store.append(
            Entry(
                container: "", epoch: .max, time: 0,
                changes: [
                    RecordChange(
                        container: "films", component: component, key: key,
                        value: value.map { Array($0.utf8) })
                ]), ticket: 0)
        try await callback { done in store.enqueueRead { _ in done() } }
    }

    /// Puts and removes items, votes and comments, many at a time.
    fileprivate func writeMuch(rounds: Int) async throws {
        for round in 0..<rounds {
            let votes: [Result<VoteResult, HostError>] = try await callAll(200) {
                registry, index, reply in
                registry.cast(
                    SubjectAddress(container: "films", item: "film-\(20 + index % 40)"),
                    value: Double(1 + (round + index) % 5), by: Caller(actor: "unix:\(index)"),
                    reply)
            }
            #expect(votes.allSatisfy { (try? $0.get()) != nil })
            try await put([
                .film("film-\(20 + round)", rating: Double(round % 10)), .film("more-\(round)"),
            ])
            let posted = try await post("\(round)", on: "film-\(round % 9)").comment
            try await post("No.", on: "film-\(round % 9)", under: posted.entry.comment.id)
            if round % 3 == 0 { try await delete(posted.entry.comment.id) }
            if round % 4 == 0 { try await remove("film-\(round % 20)", purge: round % 8 == 0) }
            try await put(.film("film-\(round % 20)"))
        }
    }
}
