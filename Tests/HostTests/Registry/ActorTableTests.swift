import AtriumKit
import Store
import StoreFaults
import Testing

@testable import Host

@Suite(.timeLimit(.minutes(3))) struct ActorTableTests {
    private func known(_ host: TestRegistry) async -> Int {
        // Of what was called before nothing is under way.
        await host.on { $0.domain.actors.count }
    }

    @Test func `calls that are refused leave nobody behind`() async throws {
        let host = try await TestRegistry.start()
        try await host.apply(.films)
        try await host.put(.film("heat"))
        let before = await known(host)
        let missing = try await host.callAll(200) { registry, index, reply in
            registry.cast(
                SubjectAddress(container: "films", item: "gone"), value: 3,
                by: Caller(actor: "web:\(index)"), reply)
        }
        let beyond = try await host.callAll(200) { registry, index, reply in
            registry.cast(
                SubjectAddress(container: "films", item: "heat"), value: 77,
                by: Caller(actor: "web:\(index)"), reply)
        }
        let late = try await host.callAll(200) { registry, index, reply in
            registry.edit(
                "films", component: nil, comment: "none", text: "x",
                by: Caller(actor: "web:\(index)"), reply)
        }
        for result in missing + beyond {
            #expect(throws: HostError.self) { try result.get() }
        }
        for result in late { #expect(throws: HostError.self) { try result.get() } }
        #expect(await known(host) == before)
        try await host.end()
    }

    @Test func `a person is known whose first write was refused and whose second was not`()
        async throws
    {
        var host = try await TestRegistry.start()
        try await host.apply(.films)
        try await host.put(.film("heat"))
        let results = try await host.callAll(200) { registry, index, reply in
            registry.cast(
                SubjectAddress(container: "films", item: "heat"), value: index % 2 == 0 ? 77 : 3,
                by: Caller(actor: "web:\(index / 2)"), reply)
        }
        #expect(results.count { (try? $0.get()) != nil } == 100)
        let known = await known(host)
        host = try await host.restarted()
        #expect(await self.known(host) == known)
        let ballots: BallotPage = try await host.call {
            $0.ballots(
                SubjectAddress(container: "films", item: "heat"), limit: 1_000, cursor: nil, $1)
        }
        #expect(Set(ballots.ballots.map(\.actor)) == Set((0..<100).map { "web:\($0)" }))
        try await host.end()
    }

    @Test func `an entry that fails takes its new person along`() async throws {
        let host = try await TestRegistry.start()
        try await host.apply(.films)
        try await host.put(.film("heat"))
        let before = await known(host)
        let fault = try host.refuseEntries()
        let address = SubjectAddress(container: "films", item: "heat")
        await #expect(throws: HostError.self) {
            _ = try await host.call {
                $0.cast(address, value: 3, by: Caller(actor: "web:1"), $1)
            }
        }
        #expect(await known(host) == before)
        try fault.heal()
        try await host.end()
    }

    @Test func `of people who only say what is not stored as many are known as can be heard`() {
        let actors = ActorTable()
        for number in 0..<50 { actors.retainRecent(actors.intern("web:\(number)"), atMost: 10) }
        actors.removeIdle()
        #expect(actors.count == 10)
        #expect(actors.number(of: "web:39") == nil)
        #expect(actors.number(of: "web:40").flatMap(actors.name) == "web:40")
        // Whoever is stored by then stays.
        let stored = actors.intern("web:40")
        #expect(actors.unstored(stored).map(\.name) == ["web:40"])
        actors.stored(stored)
        for number in 100..<150 { actors.retainRecent(actors.intern("web:\(number)"), atMost: 10) }
        #expect(actors.name(of: stored) == "web:40")
    }

    @Test func `of a front end's namespace only so many people write, and those go on`()
        async throws
    {
        var limits = HostLimits()
        limits.frontendPeople = 3
        var host = try await TestRegistry.start(limits: limits)
        try await host.apply(.films)
        try await host.put(.film("heat"))
        func vote(_ actor: String, _ pace: Caller.Pace, _ host: TestRegistry) async throws {
            let caller = Caller(actor: actor, pace: pace)
            let _: VoteResult = try await host.call { registry, reply in
                if let error = registry.refusal(ofWriting: 1, by: caller) {
                    return reply(.failure(error))
                }
                registry.cast(
                    SubjectAddress(container: "films", item: "heat"), value: 3, by: caller, reply)
            }
        }
        let web = Caller.Pace.frontend("unix:33")
        for number in 0..<3 { try await vote("web:\(number)", web, host) }
        for restart in 0..<2 {
            let present = host
            await #expect(
                throws: HostError.limitExceeded(
                    limit: "frontendPeople", value: 3, retryAfter: nil)
            ) {
                try await vote("web:new", web, present)
            }
            try await vote("web:2", web, host)
            try await vote("mail:\(restart)", .frontend("unix:8"), host)
            try await vote("unix:\(33 + restart)", web, host)
            try await vote("unix:\(1_000 + restart)", .person, host)
            // An admin imports whom they like.
            try await vote("club:\(restart)", .free, host)
            if restart == 0 { host = try await host.restarted() }
            await host.on { [limits] in $0.limit(to: limits) }
        }
        try await host.end()
    }
}
