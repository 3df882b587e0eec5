import AtriumKit
import Dispatch
import Glibc
import Store
import Synchronization
import Testing

@testable import Host

/// The rules on failure: what is not acknowledged has not happened, and nobody has seen it.
@Suite(.timeLimit(.minutes(3))) struct FailureTests {
    /// Fails all entries until `heal` is called.
    private func fail(_ host: TestRegistry, storage: Bool = false) {
        host.store.inject(
            Faults(beforeEntry: { _, _ in throw InjectedFault(isStorage: storage) }))
    }

    private func heal(_ host: TestRegistry) { host.store.inject(Faults()) }

    private func films() async throws -> TestRegistry {
        let host = try await TestRegistry.start()
        try await host.apply(.films)
        try await host.put(.film("heat"))
        return host
    }

    @Test func `an entry that is not written is undone in its component, and shown nowhere`()
        async throws
    {
        let host = try await films()
        try await host.cast(2, on: "heat")
        let before = host.store.lastSequence
        fail(host)
        await expectUnavailable { try await host.cast(5, on: "heat") }
        heal(host)
        // The read waits until the component is as the store has it.
        let tally = try await host.tally(of: "heat", actor: "unix:1000")
        #expect(
            tally.tally
                == TallyView(
                    tally: Tally(count: 1, score: 2, histogram: ["2": 1]), mine: 2))
        #expect(tally.sequence == before)
        #expect(try await host.cast(5, on: "heat").previous == 2)
        #expect(host.store.lastSequence == before + 1)
        try await host.end()
    }

    @Test func `whatever was judged on an entry that is not written fails with it`() async throws {
        let host = try await films()
        let before = host.store.lastSequence
        fail(host)
        // One turn of the loop, so one group: a vote, the same again, another one on top.
        let results = try await host.callAll(4) { registry, index, reply in
            registry.cast(
                SubjectAddress(container: "films", item: "heat"), value: index == 1 ? 1 : 4,
                by: index == 3 ? .bob : .ann, reply)
        }
        for result in results {
            guard case .failure(.storeUnavailable) = result else {
                Issue.record("\(result)")
                continue
            }
        }
        heal(host)
        #expect(host.store.lastSequence == before)
        #expect(try await host.tally(of: "heat", actor: "unix:1000").tally.mine == nil)
        let vote = try await host.cast(4, on: "heat", by: .bob)
        #expect(vote.tally.tally == Tally(count: 1, score: 4, histogram: ["4": 1]))
        try await host.end()
    }

    @Test func `one container's failure does not touch another's entries in the same group`()
        async throws
    {
        let host = try await films()
        try await host.apply(
            ContainerDefinition(
                name: "club", components: [.init(name: "stars", plugin: "org.atrium.stars")]))
        host.store.inject(
            Faults(beforeEntry: { entry, _ in
                if entry.container == "films" { throw InjectedFault(isStorage: false) }
            }))
        let results = try await host.callAll(2) { registry, index, reply in
            registry.cast(
                SubjectAddress(container: index == 0 ? "films" : "club"), value: 4, by: .ann,
                reply)
        }
        guard case .failure(.storeUnavailable) = results[0] else {
            Issue.record("\(results[0])")
            return
        }
        #expect(try results[1].get().tally.tally.count == 1)
        try await host.end()
    }

    @Test func `after a storage error writes fail at once until the store can be written again`()
        async throws
    {
        let host = try await films()
        fail(host, storage: true)
        await expectUnavailable { try await host.cast(5, on: "heat") }
        await expectUnavailable { try await host.post("Hello") }
        await expectUnavailable { try await host.apply(.films.changed { $0.title = "New" }) }
        // Reads go on.
        #expect(try await host.tally(of: "heat").tally.tally.count == 0)
        #expect(try await host.thread().total == 0)
        #expect(await host.on { $0.status().problems.count } == 1)
        heal(host)
        host.store.probe()
        #expect(try await host.cast(5, on: "heat").tally.tally.count == 1)
        #expect(try await host.status().definition.title == "Film club")
        try await host.end()
    }

    @Test func `a failed group is retried entry by entry, and its good entries are kept`()
        async throws
    {
        let host = try await films()
        let written = Mutex(0)
        let reached = AsyncStream<Void>.makeStream()
        host.store.inject(
            Faults(beforeEntry: { [store = host.store] _, _ in
                let number = written.withLock { written in
                    written += 1
                    return written
                }
                if number == 1 { reached.continuation.finish() }
                // The others are one group: they wait while the first is written.
                while number == 1, store.waitingCount < 4 { sched_yield() }
                if number == 3 { throw InjectedFault(isStorage: false) }
            }))
        async let first = host.cast(4, on: "heat")
        for await _ in reached.stream {}
        let others = try await host.callAll(4) { registry, index, reply in
            registry.cast(
                SubjectAddress(container: "films", item: "heat"), value: 4,
                by: Caller(actor: "unix:\(index)"), reply)
        }
        let sequences = [try await first.sequence] + (try others.map { try $0.get().sequence })
        #expect(sequences == Array(sequences[0]..<(sequences[0] + 5)))
        // The first, two of the group, and that one by one.
        #expect(written.withLock { $0 } == 7)
        #expect(try await host.tally(of: "heat").tally.tally.count == 5)
        try await host.end()
    }

    @Test func `a read that only the component can answer waits for what is pending`()
        async throws
    {
        let host = try await films()
        let gate = DispatchSemaphore(value: 0)
        let reached = AsyncStream<Void>.makeStream()
        host.store.inject(
            Faults(beforeEntry: { _, _ in
                reached.continuation.finish()
                gate.wait()
            }))
        async let vote = host.cast(4, on: "heat")
        for await _ in reached.stream {}
        async let mine = host.tally(of: "heat", actor: "unix:1000")
        // What the index answers does not wait, and shows nothing of it.
        #expect(try await host.tally(of: "heat").tally.tally.count == 0)
        #expect(try await host.list().items[0].votes?.tally.count == 0)
        host.store.inject(Faults())
        gate.signal()
        let read = try await mine
        #expect(read.tally.mine == 4)
        #expect(read.sequence >= (try await vote.sequence))
        try await host.end()
    }

    @Test func `what was not acknowledged before a kill is whole or not at all`() async throws {
        var host = try await films()
        try await host.cast(4, on: "heat")
        try await host.kill()
        host = try await .start(in: host.directory)
        #expect(try await host.tally(of: "heat", actor: "unix:1000").tally.mine == 4)
        // Epochs and actors go on as if nothing had been.
        #expect(try await host.cast(2, on: "heat", by: .bob).tally.tally.count == 2)
        try await host.end()
    }

    @Test func `a purge that is not written leaves everything as it was`() async throws {
        let host = try await films()
        try await host.cast(4, on: "heat")
        try await host.post("Slow.", on: "heat")
        fail(host)
        await expectUnavailable { try await host.remove("heat", purge: true) }
        heal(host)
        let item = try await host.list(actor: "unix:1000").items[0]
        #expect(item.votes?.mine == 4)
        #expect(item.comments == 1)
        #expect(try await host.remove("heat", purge: true).removed == 1)
        try await host.end()
    }

    @Test func `thousands that fail together are answered in slices, and undone`() async throws {
        let host = try await films()
        try await host.cast(2, on: "heat", by: Caller(actor: "unix:7"))
        // The first fails once the last is on its way.
        let gate = DispatchSemaphore(value: 0)
        host.store.inject(
            Faults(beforeEntry: { _, _ in
                gate.wait()
                throw InjectedFault(isStorage: true)
            }))
        let steps = await host.on { $0.domain.steps }
        async let answers = host.callAll(5_000) { registry, index, reply in
            // Every other one is a repetition, which rests on the one before.
            registry.cast(
                SubjectAddress(container: "films", item: "heat"), value: 4,
                by: Caller(actor: "unix:\(10_000 + index / 2)"), reply)
        }
        while await host.on({ $0.containers["films"]?.lane.count }) != 5_000 { await Task.yield() }
        // Once for the group, and once for its first entry.
        gate.signal()
        gate.signal()
        let results = try await answers
        for result in results {
            guard case .failure(.storeUnavailable) = result else {
                Issue.record("\(result)")
                break
            }
        }
        #expect(await host.on { $0.domain.steps } > steps + 2)
        heal(host)
        host.store.probe()
        #expect(
            try await host.tally(of: "heat", actor: "unix:7").tally
                == TallyView(tally: Tally(count: 1, score: 2, histogram: ["2": 1]), mine: 2))
        #expect(try await host.cast(4, on: "heat").tally.tally.count == 2)
        try await host.end()
    }

    @Test func `answers that rest on a vote come in order, after it and in slices`() async throws {
        let host = try await films()
        let steps = await host.on { $0.domain.steps }
        let results = try await host.callAll(5_000) { registry, index, reply in
            registry.cast(
                SubjectAddress(container: "films", item: "heat"), value: 4, by: .ann, reply)
        }
        let sequences = try results.map { try $0.get().sequence }
        #expect(Set(sequences).count == 1)
        #expect(await host.on { $0.domain.steps } > steps + 2)
        try await host.end()
    }
}
