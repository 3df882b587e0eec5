import AtriumKit
import Dispatch
import Store
import StoreFaults
import Synchronization
import Testing

@testable import Host

/// Reads of what only a component knows: they show what is committed, and hold nobody up.
@Suite(.timeLimit(.minutes(2))) struct QuietReadTests {
    private func films(_ limits: HostLimits = HostLimits()) async throws -> TestRegistry {
        let host = try await TestRegistry.start(limits: limits)
        try await host.apply(.films)
        try await host.put(.film("heat"))
        return host
    }

    private static let heat = SubjectAddress(container: "films", item: "heat")

    @Test func `while a read waits, thousands of votes go on, and none is refused`() async throws {
        let host = try await films()
        let writer = try host.heldWriter()
        async let vote = host.cast(4, on: "heat")
        await host.reach(writer)
        async let results = host.callAll(3_001) { registry, index, reply in
            guard index > 0 else {
                return registry.tally(Self.heat, actor: "unix:1000") {
                    reply($0.map { $0.tally.mine ?? 0 })
                }
            }
            registry.cast(Self.heat, value: 2, by: Caller(actor: "unix:\(5_000 + index)")) {
                reply($0.map { Double($0.tally.tally.count) })
            }
        }
        // All are decided while the first one is being written: nothing of them waits for the read.
        while await host.on({ $0.containers["films"]?.lane.count }) != 3_001 { await Task.yield() }
        try writer.release()
        let answers = try await results.map { try $0.get() }
        #expect(answers[0] == 4)
        #expect(answers.last == 3_001)
        #expect(try await vote.tally.tally.count == 1)
        try await host.end()
    }

    @Test func `a read that nobody waits for any more is not made`() async throws {
        let host = try await films()
        let writer = try host.heldWriter()
        async let vote = host.cast(4, on: "heat")
        await host.reach(writer)
        let asked = Mutex(0)
        let answered = Mutex(0)
        await host.on { registry in
            let reply: Reply<BallotPage> = { _ in answered.withLock { $0 += 1 } }
            registry.with("films", reply) {
                $0.votes.ballots(
                    on: "heat", in: nil, limit: 10, cursor: nil,
                    while: {
                        asked.withLock { $0 += 1 }
                        return false
                    }, reply)
            }
        }
        #expect(asked.withLock { $0 } == 0, "it waits until the vote is committed")
        try writer.release()
        _ = try await vote
        let page: BallotPage = try await host.call {
            $0.ballots(Self.heat, limit: 10, cursor: nil, $1)
        }
        #expect(page.ballots.map(\.value) == [4])
        #expect(asked.withLock { $0 } == 1)
        #expect(answered.withLock { $0 } == 0)
        try await host.end()
    }

    @Test func `where votes never pause, a read is answered after a few commits`() async throws {
        let host = try await films()
        let votes = VoteChain()
        async let end: Void = host.call { votes.cast($0, $1) }
        while votes.count < 10 { await Task.yield() }
        let passed: Int = try await host.call { registry, reply in
            let before = votes.count
            registry.tally(Self.heat, actor: "unix:1001") { result in
                let after = votes.count
                votes.stop()
                reply(result.map { $0.tally.mine == nil ? -1 : after - before })
            }
        }
        #expect(passed >= 0 && passed <= QuietReads.patience + 2, "\(passed)")
        try await end
        try await host.end()
    }

    @Test func `a read shows what was sent before it, whatever waits`() async throws {
        let host = try await films()
        for round in 0..<20 {
            let value = Double(1 + round % 5)
            let answers = try await host.callAll(4) { registry, index, reply in
                switch index {
                case 0:
                    // Closes the gates for a moment.
                    registry.move("films", "talk", to: round % 4, by: .ann) {
                        reply($0.map { _ in value })
                    }
                case 1:
                    registry.tally(Self.heat, actor: "unix:1000") { reply($0.map { _ in value }) }
                case 2:
                    registry.cast(Self.heat, value: value, by: .ann) {
                        reply($0.map { _ in value })
                    }
                default:
                    registry.tally(Self.heat, actor: "unix:1000") {
                        reply($0.map { $0.tally.mine ?? 0 })
                    }
                }
            }
            #expect(try answers.map { try $0.get() } == [value, value, value, value])
        }
        try await host.end()
    }

    @Test func `a put that names a revision lets nobody behind it be refused`() async throws {
        let host = try await films()
        let writer = try host.heldWriter()
        async let first = host.put(.film("first"))
        await host.reach(writer)
        async let results = host.callAll(2_000) { registry, index, reply in
            var draft = ItemDraft(item: .film("item-\(index)"))
            if index == 0 { draft.ifRevision = 0 }
            registry.put("films", component: nil, [draft], by: .ann, reply)
        }
        try writer.release()
        for result in try await results { #expect(try result.get().inserted == 1) }
        #expect(try await first.inserted == 1)
        try await host.end()
    }

    @Test func `too many reads are refused, and votes are not`() async throws {
        var limits = HostLimits()
        limits.waitingCalls = 10
        let host = try await films(limits)
        let writer = try host.heldWriter()
        async let vote = host.cast(4, on: "heat")
        await host.reach(writer)
        async let results = host.callAll(40) { registry, index, reply in
            guard index < 20 else {
                return registry.cast(Self.heat, value: 3, by: Caller(actor: "unix:\(index)")) {
                    reply($0.map { _ in true })
                }
            }
            registry.ballots(Self.heat, limit: 100, cursor: nil, by: "\(index % 2)") {
                reply($0.map { $0.ballots.contains { $0.value == 4 } })
            }
        }
        while await host.on({ $0.containers["films"]?.lane.count }) != 21 { await Task.yield() }
        try writer.release()
        let answers = try await results
        for (index, answer) in answers.enumerated() {
            switch answer {
            case .success(let isRight): #expect(isRight && !(7..<20).contains(index))
            case .failure(let error):
                #expect(
                    error.absence?.component == "stars" && (7..<20).contains(index), "\(error)")
            }
        }
        _ = try await vote
        try await host.end()
    }

    @Test func `rounds end with the operations that were on their way, and then commands wait`() {
        func read(_ number: UInt64) -> Request {
            let question = Question(needsQuiet: true, make: { nil }, done: { _ in })
            question.number = number
            return question
        }
        var reads = QuietReads()
        let later = read(100)
        reads.append(read(5), newest: 4)
        reads.append(read(6), newest: 5)
        reads.follow(oldest: 3, newest: 7)
        #expect(!reads.mustWait(later))
        var newest: UInt64 = 10
        for _ in 0..<QuietReads.patience {
            #expect(!reads.mustWait(later))
            reads.follow(oldest: newest - 1, newest: newest)
            newest += 10
        }
        #expect(reads.mustWait(later))
        #expect(!reads.mustWait(read(2)), "what came before goes first")
        _ = reads.removeFirst()
        #expect(reads.mustWait(later), "the next has waited as long")
        _ = reads.removeFirst()
        #expect(!reads.mustWait(later))
    }
}

/// Votes each of which casts the next one when it is committed: their component is never quiet.
private final class VoteChain: Sendable {
    private let state = Mutex((count: 0, isEnough: false))

    var count: Int { state.withLock { $0.count } }

    func stop() { state.withLock { $0.isEnough = true } }

    func cast(_ registry: Registry, _ done: @escaping Reply<Void>) {
        let count = state.withLock { $0.isEnough ? nil : $0.count }
        guard let count else { return done(.success(())) }
        registry.cast(
            SubjectAddress(container: "films", item: "heat"), value: Double(1 + count % 5),
            by: .bob
        ) { _ in
            self.state.withLock { $0.count += 1 }
            self.cast(registry, done)
        }
    }
}
