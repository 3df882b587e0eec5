import AtriumKit
import Testing

@testable import Host

/// A container that takes no votes or comments for a while.
@Suite(.timeLimit(.minutes(3))) struct ClosureTests {
    private func setOpen(
        _ host: TestRegistry, votes: Bool? = nil, comments: Bool? = nil
    ) async throws -> Int64 {
        try await host.call {
            $0.setOpen("films", votes: votes, comments: comments, by: .moderator, $1)
        }
    }

    private func expectClosed(_ body: () async throws -> Void) async {
        let error = await #expect(throws: HostError.self) { try await body() }
        guard case .closed("films", _)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test func `closed for votes, it refuses them until it is opened, over a restart and an apply`()
        async throws
    {
        var host = try await TestRegistry.start()
        try await host.apply(.films)
        try await host.put(.film("heat"))
        try await host.cast(4, on: "heat")
        let closed = try await setOpen(host, votes: false)
        #expect(try await setOpen(host, votes: false) == closed, "it is so already")
        for _ in 0..<2 {
            await expectClosed { try await host.cast(5, on: "heat") }
            await expectClosed {
                _ = try await host.call {
                    $0.retract(SubjectAddress(container: "films", item: "heat"), by: .ann, $1)
                }
            }
            #expect(try await host.tally(of: "heat").tally.tally.score == 4)
            try await host.post("Still open")
            try await host.apply(.films.changed { $0.title = "Films" })
            host = try await host.restarted()
        }
        _ = try await setOpen(host, votes: true)
        try await host.cast(5, on: "heat")
        try await host.end()
    }

    @Test func `closed for comments, nobody posts or edits, and deleting and moderating go on`()
        async throws
    {
        let host = try await TestRegistry.start()
        try await host.apply(.films)
        for id in ["c1", "c2"] { try await host.post("Said", id: id) }
        _ = try await setOpen(host, comments: false)
        await expectClosed { try await host.post("More") }
        await expectClosed { try await host.edit("c1", text: "Other") }
        try await host.delete("c1")
        _ = try await host.call {
            $0.moderate(
                "films", component: nil, comment: "c2", state: .removed, reason: nil,
                by: .moderator, $1)
        }
        try await host.cast(3)
        #expect(try await host.thread().total == 0)
        try await host.end()
    }

    @Test func `screens and descriptions say what is closed`() async throws {
        let host = try await TestRegistry.start()
        try await host.apply(.films)
        let client = try await ScreenClient(host, ScreenRequest(container: "films"))
        try await client.catchUp()
        func closed() -> [Bool] {
            client.copy.components.compactMap { component -> Bool? in
                switch component.facts {
                case .votes(let facts): facts.isClosed
                case .comments(let facts): facts.isClosed
                default: nil
                }
            }
        }
        #expect(closed() == [false, false])
        _ = try await setOpen(host, votes: false)
        try await client.catchUp { closed() == [true, false] }
        let described = try await host.status().components.first { $0.kind == .votes }
        guard case .votes(let facts)? = described?.facts else {
            Issue.record("the stars tell no facts")
            return
        }
        #expect(facts.isClosed)
        _ = try await setOpen(host, votes: true, comments: false)
        try await client.catchUp { closed() == [false, true] }
        try await host.end()
    }
}
