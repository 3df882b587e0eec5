import AtriumKit
import AtriumKitTesting
import Catalog
import CommentThreads
import Facets
import Stars
import Testing
import Threads

@Suite struct `The built-in plugins conform to their kinds` {
    @Test(arguments: 1...10)
    func `the catalog`(seed: Int) async throws {
        let report = try await Conformance.run(Catalog.self, seed: UInt64(seed))
        #expect(report.accepted > 100)
    }

    @Test(arguments: 1...10)
    func `the facets, with the settings of their manifest`(seed: Int) async throws {
        let manifest = try Manifest(of: "Facets")
        let report = try await Conformance.run(
            Facets.self, settings: manifest.conformanceSettings, seed: UInt64(seed))
        #expect(report.accepted > 100)
    }

    @Test(arguments: 1...10)
    func `the stars`(seed: Int) async throws {
        let report = try await Conformance.run(Stars.self, seed: UInt64(seed))
        #expect(report.accepted > 80)
    }

    @Test(arguments: 1...10)
    func `the threads`(seed: Int) async throws {
        let report = try await Conformance.run(Threads.self, seed: UInt64(seed))
        #expect(report.accepted > 80)
    }

    @Test func `the stars in halves that may not be changed`() async throws {
        try await Conformance.run(Stars.self, settings: ["step": 0.5, "mayChange": false])
    }

    @Test func `the stars with a Bayesian mean`() async throws {
        try await Conformance.run(Stars.self, settings: ["score": "bayesian"], seed: 3)
    }

    @Test func `the threads with a moderator`() async throws {
        try await Conformance.run(Threads.self, settings: ["moderated": true], seed: 7)
    }

    @Test func `the same seed gives the same run`() async throws {
        let first = try await Conformance.run(Threads.self, seed: 3)
        let second = try await Conformance.run(Threads.self, seed: 3)
        #expect(first == second)
    }
}

@Suite struct `The conformance suite finds what is broken` {
    private func failure(_ type: any Component.Type) async throws -> ConformanceFailure {
        try #require(
            await #expect(throws: ConformanceFailure.self) {
                try await Conformance.run(type, seed: 5)
            })
    }

    // Which one finds it first depends on the seed.
    private let restoreRules = [
        "restored from its records it is the same", "the order of records does not matter",
        "the last record may come first", "changes of different keys may come in any order",
    ]

    @Test func `votes that count when they should only decide`() async throws {
        let failure = try await failure(HastyStars.self)
        #expect(failure.kind == .votes)
        #expect(failure.seed == 5)
        #expect(failure.description.contains("seed 5"))
    }

    @Test func `a score that depends on the order of the ballots`() async throws {
        let failure = try await failure(LatestStars.self)
        #expect(restoreRules.contains(failure.rule))
    }

    @Test func `ballots that its facts know nothing of`() async throws {
        let failure = try await failure(ModestStars.self)
        #expect(failure.rule == "the ballots that are there are such as its facts say")
    }

    @Test func `ballots that can't be taken back`() async throws {
        let failure = try await failure(StickyStars.self)
        #expect(failure.rule == "an accepted vote is the one that was cast, and changes no other")
    }

    @Test func `replies that are lost when they come before their parent`() async throws {
        let failure = try await failure(ForgetfulThreads.self)
        #expect(restoreRules.contains(failure.rule))
    }

    @Test func `comments that undo leaves behind`() async throws {
        let failure = try await failure(IndelibleThreads.self)
        #expect(failure.rule == "commands that were undone left no trace")
    }

    @Test func `a source that does not report what it removed`() async throws {
        let failure = try await failure(QuietCatalog.self)
        #expect(failure.rule == "what is reported to the delegate is what there is")
    }

    @Test func `filters that pile up`() async throws {
        let failure = try await failure(PilingFilters.self)
        #expect(failure.rule.hasPrefix("the sections follow from the last values"))
    }

    @Test func `a component that accepts nothing`() async throws {
        let failure = try await failure(RefusingStars.self)
        #expect(failure.rule == "a component accepts something")
    }

    @Test func `decisions that chance has a say in`() async throws {
        let failure = try await failure(MoodyStars.self)
        #expect(failure.rule == "the same commands come to the same decisions")
    }

    @Test func `decisions that follow from what no record has`() async throws {
        let failure = try await failure(CountingStars.self)
        #expect(
            failure.rule
                == "restored from its records it decides as the one that lived through the calls")
    }

    @Test func `a refusal without a reason`() async throws {
        let failure = try await failure(TerseStars.self)
        #expect(failure.rule == "a refusal says why, in a sentence")
        #expect(failure.difference.contains("'No.'"))
    }

    @Test func `votes that are of another time than their calls`() async throws {
        let failure = try await failure(TimelessStars.self)
        #expect(failure.rule == "an accepted vote is the one that was cast, and changes no other")
    }

    @Test func `comments that are somebody else's`() async throws {
        let failure = try await failure(GhostThreads.self)
        #expect(
            failure.rule
                == "a comment is its author's, stands where it was put, and is of that moment")
    }

    @Test func `comments that stay when their records can't be read any more`() async throws {
        let failure = try await failure(LenientThreads.self)
        #expect(failure.rule == "a record that can't be read counts for nothing, until it can")
    }
}
