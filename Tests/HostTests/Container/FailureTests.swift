import AtriumKit
import FaultVFS
import Foundation
import Store
import StoreFaults
import TestSupport
import Testing

@testable import Host

/// The rules on failure: what is not acknowledged has not happened, and nobody has seen it.
@Suite(.timeLimit(.minutes(3))) struct FailureTests {
    private func films(in directory: TemporaryDirectory? = nil) async throws -> TestRegistry {
        let host = try await TestRegistry.start(in: directory)
        try await host.apply(.films)
        try await host.put(.film("heat"))
        return host
    }

    @Test func `a refusal has a reason, and a time to try again that somebody can wait for`() {
        func error(_ reason: String, _ retryAfter: Double) -> HostError {
            HostError(
                Refusal(.refused, reason, retryAfter: retryAfter), container: "films",
                component: "stars")
        }
        #expect(error("No.", 60) == .refused(reason: "No.", retryAfter: 60))
        #expect(
            error("", 0)
                == .refused(
                    reason: "The component 'stars' refused the call and gave no reason.",
                    retryAfter: 0))
        for time in [.nan, .infinity, -1, 1e300] {
            #expect(error("No.", time) == .refused(reason: "No.", retryAfter: nil))
        }
    }

    @Test func `an entry that is not written is undone in its component, and shown nowhere`()
        async throws
    {
        let host = try await films()
        try await host.cast(2, on: "heat")
        let before = host.store.lastSequence
        let fault = try host.refuseEntries()
        await expectUnavailable { try await host.cast(5, on: "heat") }
        try fault.heal()
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

    @Test
    func
        `what was decided before somebody else wrote for the container is refused, and decided anew`()
        async throws
    {
        let host = try await films()
        try await host.cast(2, on: "heat")
        let before = host.store.lastSequence
        // Behind the host's back, as another node's entry would come.
        host.store.append(
            Entry(container: "films", epoch: .max, time: 1), ticket: .max)
        await expectUnavailable { try await host.cast(5, on: "heat") }
        #expect(try await host.tally(of: "heat", actor: "unix:1000").tally.mine == 2)
        #expect(try await host.cast(4, on: "heat").previous == 2)
        #expect(host.store.lastSequence == before + 2)
        try await host.end()
    }

    @Test func `whatever was judged on an entry that is not written fails with it`() async throws {
        let host = try await films()
        let before = host.store.lastSequence
        let fault = try host.refuseEntries()
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
        try fault.heal()
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
        let fault = try host.refuseEntries(
            where: "(SELECT name FROM containers WHERE id = NEW.container) = 'films'")
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
        try fault.heal()
        try await host.end()
    }

    @Test func `after a storage error writes fail at once until the store can be written again`()
        async throws
    {
        let host = try await films()
        let fault = try OtherProgram(at: host.store.file)
        try fault.lockOut(host.store)
        await expectUnavailable { try await host.cast(5, on: "heat") }
        await expectUnavailable { try await host.post("Hello") }
        await expectUnavailable { try await host.apply(.films.changed { $0.title = "New" }) }
        // Reads go on.
        #expect(try await host.tally(of: "heat").tally.tally.count == 0)
        #expect(try await host.thread().total == 0)
        #expect(await host.on { $0.status(hasDetails: true).problems.count } == 1)
        try fault.heal()
        host.store.probe()
        #expect(try await host.cast(5, on: "heat").tally.tally.count == 1)
        #expect(try await host.status().definition.title == "Film club")
        try await host.end()
    }

    @Test func `a failed group is retried entry by entry, and its good entries are kept`()
        async throws
    {
        let directory = try TemporaryDirectory()
        let files = FaultFiles(directory.path)
        let host = try await films(in: directory)
        let writer = try host.heldWriter()
        async let first = host.cast(4, on: "heat")
        await host.reach(writer)
        // The others are one group: they wait while the first is written. Their first write fails.
        files.fail(FaultError, afterSyncs: 1)
        async let later = host.callAll(4) { registry, index, reply in
            registry.cast(
                SubjectAddress(container: "films", item: "heat"), value: 4,
                by: Caller(actor: "unix:\(index)"), reply)
        }
        while host.store.waitingCount < 4 { await Task.yield() }
        try writer.release()
        let others = try await later
        let sequences = [try await first.sequence] + (try others.map { try $0.get().sequence })
        #expect(sequences == Array(sequences[0]..<(sequences[0] + 5)))
        #expect(files.hasFailed)
        #expect(try await host.tally(of: "heat").tally.tally.count == 5)
        try await host.end()
    }

    @Test func `a read that only the component can answer waits for what is pending`()
        async throws
    {
        let host = try await films()
        let writer = try host.heldWriter()
        async let vote = host.cast(4, on: "heat")
        await host.reach(writer)
        async let mine = host.tally(of: "heat", actor: "unix:1000")
        // What the index answers does not wait, and shows nothing of it.
        #expect(try await host.tally(of: "heat").tally.tally.count == 0)
        #expect(try await host.list().items[0].votes?.tally.count == 0)
        try writer.release()
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
        let fault = try host.refuseEntries()
        await expectUnavailable { try await host.remove("heat", purge: true) }
        try fault.heal()
        let item = try await host.list(actor: "unix:1000").items[0]
        #expect(item.votes?.mine == 4)
        #expect(item.comments == 1)
        #expect(try await host.remove("heat", purge: true).removed == 1)
        try await host.end()
    }

    @Test func `what is no entry of the store is refused with its limit, and undone`() async throws
    {
        let host = try await films()
        // Each has two bytes in its record.
        let long = Item(
            id: "heat", fields: ["title": .text(String(repeating: "\"", count: 600_000))])
        let before = try await host.list()
        await expect(.limitExceeded(limit: "entryBytes", value: 1 << 20, retryAfter: nil)) {
            try await host.put(long)
        }
        try await host.undone()
        #expect(try await host.list().items == before.items)
        #expect(host.store.unavailability == nil)
        // The component does not know of it either: it has the one of before.
        #expect(try await host.put(.film("heat")).unchanged == 1)
        #expect(try await host.put(.film("heat", ["crime"])).updated == 1)
        try await host.end()
    }

    /// `FaultNone`: by entries that the database refuses, one by one.
    @Test(arguments: [FaultNone, FaultError, FaultFull])
    func `thousands that fail together are answered in slices, and undone`(kind: FaultKind)
        async throws
    {
        let directory = try TemporaryDirectory()
        let files = FaultFiles(directory.path)
        let host = try await films(in: directory)
        try await host.cast(2, on: "heat", by: Caller(actor: "unix:7"))
        let fault = try OtherProgram(at: host.store.file)
        if kind == FaultNone { try fault.refuseEntries() }
        let writer = try host.heldWriter()
        // The first fails once the last is on its way.
        files.fail(kind, at: files.calls, count: .max, seed: 0)
        let steps = await host.on { $0.domain.slices.steps }
        async let answers = host.callAll(5_000) { registry, index, reply in
            // Every other one is a repetition, which rests on the one before.
            registry.cast(
                SubjectAddress(container: "films", item: "heat"), value: 4,
                by: Caller(actor: "unix:\(10_000 + index / 2)"), reply)
        }
        while await host.on({ $0.containers["films"]?.lane.count }) != 5_000 { await Task.yield() }
        try writer.release()
        let results = try await answers
        for result in results {
            guard case .failure(.storeUnavailable) = result else {
                Issue.record("\(result)")
                break
            }
        }
        #expect(await host.on { $0.domain.slices.steps } > steps + 2)
        #expect((host.store.unavailability != nil) == (kind != FaultNone))
        files.fail(FaultNone, at: 0, count: 0, seed: 0)
        try fault.heal()
        host.store.probe()
        #expect(
            try await host.tally(of: "heat", actor: "unix:7").tally
                == TallyView(tally: Tally(count: 1, score: 2, histogram: ["2": 1]), mine: 2))
        #expect(try await host.cast(4, on: "heat").tally.tally.count == 2)
        try await host.end()
    }

    /// A host of a film with a vote.
    private func votedFilm(
        in directory: TemporaryDirectory, _ log: CapturedLog
    ) async throws -> TestRegistry {
        let host = try await TestRegistry.start(in: directory, logger: log.logger)
        try await host.apply(.films)
        try await host.put(.film("heat"))
        try await host.cast(2, on: "heat")
        return host
    }

    private static let undoDelayed =
        "a failed change can't be rolled back yet: the store can't be read"

    @Test
    func `as long as a failed entry can't be undone, reads of its component are refused`()
        async throws
    {
        let directory = try TemporaryDirectory()
        let files = FaultFiles(directory.path)
        let log = CapturedLog()
        let host = try await votedFilm(in: directory, log)
        let fault = try host.refuseEntries()
        files.fail(FaultRead, at: files.reads, count: .max, seed: 0)
        await expectUnavailable { try await host.cast(5, on: "heat") }
        // Asked while it is tried, and after it has failed.
        await expectUnavailable { try await host.tally(of: "heat", actor: "unix:1000") }
        #expect(log.messages.contains(Self.undoDelayed))
        await expectUnavailable { try await host.tally(of: "heat", actor: "unix:1000") }
        await expectUnavailable { try await host.cast(5, on: "heat") }
        // What the index answers needs no component.
        #expect(try await host.tally(of: "heat").tally.tally.count == 1)
        files.fail(FaultNone, at: 0, count: 0, seed: 0)
        try fault.heal()
        host.store.probe()
        while await !host.on({ $0.containers["films"]?.lane.isOpen ?? true }) {
            await Task.yield()
        }
        #expect(try await host.tally(of: "heat", actor: "unix:1000").tally.mine == 2)
        #expect(try await host.cast(5, on: "heat").previous == 2)
        try await host.end()
    }

    @Test
    func `an entry that can't be undone since a file is lost keeps no read and no stop waiting`()
        async throws
    {
        let directory = try TemporaryDirectory()
        let files = FaultFiles(directory.path)
        let log = CapturedLog()
        let host = try await votedFilm(in: directory, log)
        _ = try host.refuseEntries()
        let writer = try host.heldWriter()
        let vote = Task { try await host.cast(5, on: "heat") }
        await host.reach(writer)
        let tally = Task { try await host.tally(of: "heat", actor: "unix:1000") }
        try FileManager.default.removeItem(atPath: "\(directory.path)/atrium.lock")
        host.store.checkFiles()
        files.fail(FaultRead, at: files.reads, count: .max, seed: 0)
        try writer.release()
        await expectUnavailable { try await vote.value }
        await #expect {
            _ = try await tally.value
        } throws: { error in
            guard case .storeUnavailable(let reason, retryAfter: nil)? = error as? HostError else {
                return false
            }
            return reason.contains("was removed or replaced")
        }
        files.fail(FaultNone, at: 0, count: 0, seed: 0)
        let time = try await ContinuousClock().measure { try await host.end() }
        // A stop waits ten seconds for accepted changes.
        #expect(time < .seconds(5))
        #expect(log.messages.filter { $0 == Self.undoDelayed }.count == 1)
    }

    @Test func `answers that rest on a vote come in order, after it and in slices`() async throws {
        let host = try await films()
        let steps = await host.on { $0.domain.slices.steps }
        let results = try await host.callAll(5_000) { registry, index, reply in
            registry.cast(
                SubjectAddress(container: "films", item: "heat"), value: 4, by: .ann, reply)
        }
        let sequences = try results.map { try $0.get().sequence }
        #expect(Set(sequences).count == 1)
        #expect(await host.on { $0.domain.slices.steps } > steps + 2)
        try await host.end()
    }
}
