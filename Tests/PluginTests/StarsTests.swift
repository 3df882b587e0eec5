import AtriumKit
import AtriumKitTesting
import Stars
import Testing

@Suite struct `The stars` {
    private let film = Subject.item("the-godfather-1972")

    private func tally(_ decision: Decision) -> Tally? {
        if case .ballot(let tally, _, _) = decision.answer { tally } else { nil }
    }

    private func refusal(
        _ host: MemoryHost, _ command: ComponentCommand, as actor: Int64 = 1
    ) throws -> Refusal {
        try #require(#expect(throws: Refusal.self) { try host.run(command, as: actor) })
    }

    @Test func `the score is the mean, the histogram counts by value`() throws {
        let host = try MemoryHost(Stars.self)
        for (actor, value) in [(1, 5.0), (2, 4), (3, 4)] {
            try host.run(.castBallot(subject: film, value: value), as: Int64(actor))
        }
        let tally = Tally(count: 3, score: 13.0 / 3, histogram: ["4": 2, "5": 1])
        #expect(host.events.last == .tally(film, tally))
    }

    @Test func `by a Bayesian mean few votes stay near the prior, and one does not outrank four`()
        throws
    {
        let host = try MemoryHost(Stars.self, settings: ["score": "bayesian"])
        let one = try host.run(.castBallot(subject: film, value: 5))
        // Five more of 3, the middle of 1 to 5.
        #expect(tally(one) == Tally(count: 1, score: 20.0 / 6, histogram: ["5": 1]))
        let other = Subject.item("alien-1979")
        for (actor, value) in [(1, 5.0), (2, 5), (3, 4)] {
            try host.run(.castBallot(subject: other, value: value), as: Int64(actor))
        }
        let four = try host.run(.castBallot(subject: other, value: 4), as: 4)
        #expect(tally(four) == Tally(count: 4, score: 33.0 / 9, histogram: ["4": 2, "5": 2]))
        let lower = try MemoryHost(
            Stars.self, settings: ["score": "bayesian", "prior": 2, "priorWeight": 1])
        let lone = try lower.run(.castBallot(subject: film, value: 5))
        #expect(tally(lone) == Tally(count: 1, score: 3.5, histogram: ["5": 1]))
        let wrong = try #require(
            #expect(throws: SettingError.self) {
                try MemoryHost(
                    Stars.self, settings: ["scale": 3, "score": "bayesian", "prior": 4])
            })
        #expect(wrong.setting == "prior")
    }

    @Test func `they go on with settings that no score depends on`() throws {
        let host = try MemoryHost(Stars.self)
        try host.run(.castBallot(subject: film, value: 5))
        #expect(try host.change(settings: ["mayChange": false, "subjects": ["items"]]))
        #expect(
            try refusal(host, .castBallot(subject: film, value: 4)).reason.contains("mayChange"))
        #expect(
            try refusal(host, .castBallot(subject: .container, value: 4)).reason.contains("item"))
        #expect(
            host.facts == .votes(VoteFacts(min: 1, max: 5, step: 1, subjects: [.items])))
        for others in [["scale": 10], ["step": 0.5], ["score": "bayesian"]] as [[String: Value]] {
            #expect(try !host.change(settings: others), "\(others)")
        }
        #expect(try tally(host.run(.castBallot(subject: film, value: 4)))?.histogram == ["4": 1])
    }

    @Test func `their facts are the scale and the subjects of the settings`() throws {
        #expect(
            try MemoryHost(Stars.self).facts
                == .votes(VoteFacts(min: 1, max: 5, step: 1, subjects: [.items, .container])))
        let host = try MemoryHost(
            Stars.self, settings: ["scale": 10, "step": 0.5, "subjects": ["items"]])
        #expect(host.facts == .votes(VoteFacts(min: 1, max: 10, step: 0.5, subjects: [.items])))
    }

    @Test func `a vote is changed and taken back`() throws {
        let host = try MemoryHost(Stars.self)
        try host.run(.castBallot(subject: film, value: 5))
        let changed = try host.run(.castBallot(subject: film, value: 2))
        let tally = Tally(count: 1, score: 2, histogram: ["2": 1])
        #expect(changed.answer == .ballot(tally: tally, previous: 5, current: 2))
        let retracted = try host.run(.retractBallot(subject: film))
        #expect(retracted.answer == .ballot(tally: Tally(), previous: 2, current: nil))
        #expect(host.records.isEmpty)
    }

    @Test func `ballots that are handed over at a start count as their records do`() throws {
        let host = try MemoryHost(Stars.self, settings: ["scale": 10])
        let films = ["alien-1979", "brazil-1985", "the-godfather-1972"].map(Subject.item)
        for (number, film) in films.enumerated() {
            for actor in 1...9 {
                try host.run(
                    .castBallot(subject: film, value: Double((number + actor) % 9 + 1)),
                    as: Int64(actor))
            }
        }
        func state() throws -> [[Ballot]] {
            try films.map { film in
                guard case .ballots(let found) = try host.ask(.ballots(film, after: nil, limit: 99))
                else { return [] }
                return found
            }
        }
        let before = try state()
        try host.restart()
        #expect(try state() == before)
        try host.restart(atOnce: true)
        #expect(try state() == before && before.allSatisfy { $0.count == 9 })
        let changed = try host.run(.castBallot(subject: films[0], value: 10), as: 1)
        #expect(tally(changed)?.count == 9)
    }

    @Test func `ballots on one subject may be handed over in several parts`() throws {
        let harness = try ComponentHarness(
            Stars.self, container: "films", component: "stars", settings: [:], fields: [],
            services: MemoryHost(Stars.self).services)
        for part in 0..<12 {
            harness.restore(
                ballots: (0..<100).map { number in
                    Ballot(
                        subject: film, actor: ActorID(Int64(number * 12 + part)), value: 4,
                        cast: Timestamp(milliseconds: 1))
                })
            let told = Array(harness.finishRestore()).flatMap { $0 }
            let count = (part + 1) * 100
            #expect(
                told == [.tally(film, Tally(count: count, score: 4, histogram: ["4": count]))])
        }
    }

    @Test func `a ballot that is handed over and not on the scale does not count`() throws {
        let harness = try ComponentHarness(
            Stars.self, container: "films", component: "stars", settings: ["scale": 3], fields: [],
            services: MemoryHost(Stars.self).services)
        let cast = Timestamp(milliseconds: 1)
        harness.restore(ballots: [
            Ballot(subject: film, actor: ActorID(1), value: 5, cast: cast),
            Ballot(subject: .item("other"), actor: ActorID(1), value: 4, cast: cast),
            Ballot(subject: film, actor: ActorID(2), value: 3, cast: cast),
        ])
        let told = Array(harness.finishRestore()).flatMap { $0 }
        #expect(told == [.tally(film, Tally(count: 1, score: 3, histogram: ["3": 1]))])
    }

    @Test func `the same vote again, or none to take back, changes nothing`() throws {
        let host = try MemoryHost(Stars.self)
        try host.run(.castBallot(subject: film, value: 5))
        let events = host.events
        #expect(try host.run(.castBallot(subject: film, value: 5)).changes == [])
        #expect(try host.run(.retractBallot(subject: film), as: 2).changes == [])
        #expect(host.events == events)
    }

    @Test func `votes on the container and on items are apart`() throws {
        let host = try MemoryHost(Stars.self)
        try host.run(.castBallot(subject: .container, value: 1))
        let decision = try host.run(.castBallot(subject: film, value: 5))
        #expect(tally(decision) == Tally(count: 1, score: 5, histogram: ["5": 1]))
    }

    @Test(arguments: [0, -1, 6, 3.5, .nan, .infinity, 5.000001] as [Double])
    func `a value off the scale is refused, naming both`(value: Double) throws {
        let host = try MemoryHost(Stars.self)
        let refusal = try refusal(host, .castBallot(subject: film, value: value))
        #expect(refusal.reason.contains("1 to 5"))
        #expect(refusal.evidence["value"] == Value.number(value).plainText)
        #expect(host.records.isEmpty)
    }

    @Test func `steps allow fractions of a star, exactly`() throws {
        let host = try MemoryHost(Stars.self, settings: ["step": 0.1])
        for actor in 1...3 {
            try host.run(.castBallot(subject: film, value: 4.3), as: Int64(actor))
        }
        let tally = Tally(count: 3, score: 4.3, histogram: ["4.3": 3])
        #expect(host.events.last == .tally(film, tally))
        #expect(throws: Refusal.self) {
            try host.run(.castBallot(subject: film, value: 4.25))
        }
    }

    @Test func `votes that may not be changed stay`() throws {
        let host = try MemoryHost(Stars.self, settings: ["mayChange": false])
        try host.run(.castBallot(subject: film, value: 3))
        #expect(try host.run(.castBallot(subject: film, value: 3)).changes == [])
        #expect(try refusal(host, .castBallot(subject: film, value: 4)).code == .refused)
        #expect(try refusal(host, .retractBallot(subject: film)).code == .refused)
    }

    @Test func `only the subjects of the settings are voted on`() throws {
        let items = try MemoryHost(Stars.self, settings: ["subjects": ["items"]])
        #expect(throws: Refusal.self) {
            try items.run(.castBallot(subject: .container, value: 3))
        }
        let container = try MemoryHost(Stars.self, settings: ["subjects": ["container"]])
        #expect(throws: Refusal.self) {
            try container.run(.castBallot(subject: film, value: 3))
        }
    }

    @Test(
        arguments: [
            ("scale", 1), ("scale", 101), ("scale", 2.5), ("scale", "five"), ("step", 0.3),
            ("step", 2), ("subjects", []), ("mayChange", "yes"), ("scael", 5),
        ] as [(String, Value)])
    func `a setting that makes no sense is named`(name: String, value: Value) throws {
        let error = try #require(
            #expect(throws: SettingError.self) {
                try MemoryHost(Stars.self, settings: [name: value])
            })
        #expect(error.setting == name)
    }

    @Test func `an unknown setting is refused with the nearest known one`() throws {
        let error = try #require(
            #expect(throws: SettingError.self) {
                try MemoryHost(Stars.self, settings: ["scael": 5])
            })
        #expect(error.reason.contains("did you mean 'scale'?"))
    }

    @Test func `a record off the scale is skipped and logged, not counted`() throws {
        let host = try MemoryHost(Stars.self)
        let ballots = (1...20).map { actor in
            Ballot(
                subject: film, actor: ActorID(Int64(actor)), value: actor == 1 ? 4 : 9,
                cast: Timestamp(milliseconds: 0))
        }
        let events = host.restore(ballots.map(\.record) + [.put(key: "nonsense", value: 1)])
        #expect(events == [.tally(film, Tally(count: 1, score: 4, histogram: ["4": 1]))])
        #expect(host.services.messages.count == 11)
    }

    @Test func `ballots are paged by actor, in whatever order they came`() throws {
        let host = try MemoryHost(Stars.self)
        for actor in [5, 1, 4, 2, 3] as [Int64] {
            try host.run(.castBallot(subject: film, value: Double(actor)), as: actor)
        }
        try host.run(.retractBallot(subject: film), as: 4)
        let answer = try host.ask(.ballots(film, after: ActorID(1), limit: 2))
        guard case .ballots(let ballots) = answer else { return }
        #expect(ballots.map(\.actor.number) == [2, 3])
        #expect(ballots.map(\.value) == [2, 3])
    }
}
