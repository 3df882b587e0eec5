import AtriumKit

/// The kind `votes`.
struct VotesSuite: RecordSuite {
    let subjects: [Subject] = [.container] + (1...4).map { .item("item-\($0)") }
    let rules = [
        "a tally counts the ballots that are there", "pages of ballots make up the whole",
        "the ballots that are there are such as its facts say",
        "an accepted vote is the one that was cast, and changes no other",
    ]

    func command(_ random: inout SeededRandom, _ context: CommandContext) -> ComponentCommand {
        let subject = random.pick(subjects, or: .container)
        if random.oneIn(4) { return .retractBallot(subject: subject) }
        let values: [Double] = [1, 2, 3, 4, 5, 1, 2, 3, 4, 5, 1.5, 0, -1, 6, 1e9]
        return .castBallot(subject: subject, value: random.pick(values, or: 1))
    }

    func record(_ command: ComponentCommand, _ decision: Decision) {}

    mutating func check(
        _ command: ComponentCommand, _ context: CommandContext, _ decision: Decision, _ bench: Bench
    ) throws {
        let (subject, value): (Subject, Double?)
        switch command {
        case .castBallot(let about, let cast): (subject, value) = (about, cast)
        case .retractBallot(let about): (subject, value) = (about, nil)
        default: return
        }
        guard case .ballot(_, _, let current) = decision.answer else {
            throw bench.failure(rules[3], "the answer to \(command) is \(decision.answer)")
        }
        try bench.check(rules[3], "the ballot after \(command)", current, is: value)
        let key = Ballot.key(actor: context.actor, subject: subject)
        for change in decision.changes {
            try bench.check(rules[3], "the key that \(command) changes", change.key, is: key)
            let ballot = change.value.flatMap { Ballot(key: key, value: $0) }
            try bench.check(rules[3], "what \(command) writes", ballot?.value, is: value)
            try bench.check(
                rules[3], ballot.map { $0.cast == context.time } ?? true,
                "\(command) at \(context.time) writes a ballot of another time")
        }
    }

    func fold(_ events: [ComponentEvent], into reported: inout Observation) {
        for case .tally(let subject, let tally) in events {
            // No ballots and no tally are equivalent.
            reported.facts["reported tally of \(subject)"] = tally.count == 0 ? nil : .tally(tally)
        }
    }

    func observe(
        _ component: any ConformanceDriver, reported: Observation
    ) async throws -> Observation {
        var seen = reported
        for subject in subjects {
            seen.facts["ballots on \(subject)"] = .ballots(
                try await ballots(component, on: subject, page: 100))
        }
        return seen
    }

    func checkReads(_ component: any ConformanceDriver, _ bench: Bench) async throws {
        var reported = Observation()
        fold(try await component.restore([]), into: &reported)
        guard case .votes(let facts) = try await component.facts() else {
            throw bench.failure(rules[2], "it has none")
        }
        for subject in subjects {
            let whole = try await ballots(component, on: subject, page: 100)
            for ballot in whole {
                try bench.check(
                    rules[2], facts.allow(ballot), "\(ballot.value) on \(subject), with \(facts)")
            }
            for page in 1...3 {
                try bench.check(
                    rules[1], "the ballots on \(subject) in pages of \(page)",
                    try await ballots(component, on: subject, page: page), is: whole)
            }
            try bench.check(
                rules[1], "the order of actors on \(subject)", whole.map(\.actor),
                is: whole.map(\.actor).sorted())
            for ballot in whole {
                let single = try await component.answer(
                    .ballotsOf(ballot.actor, subjects: [subject]))
                try bench.check(
                    rules[1], "an actor's ballot on \(subject)", single, is: .ballotsOf([ballot]))
            }
            var tally = Tally()
            if case .tally(let found) = reported.facts["reported tally of \(subject)"] {
                tally = found
            }
            try check(tally, of: subject, counts: whole, bench)
        }
        try await checkMany(facts, bench)
    }

    /// Lets many people vote on one subject, and some retract their votes.
    private func checkMany(_ facts: VoteFacts, _ bench: Bench) async throws {
        let subject: Subject = facts.subjects.contains(.items) ? .item("item-1") : .container
        let (value, count) = (facts.min ?? 1, 1_500)
        let component = try await bench.freshComponent()
        let ballots = (1...count).map { number in
            // Not in the order of their numbers, and one much older than the others.
            Ballot(
                subject: subject, actor: ActorID(Int64(number * 7 % (count + 1))), value: value,
                cast: Timestamp(
                    milliseconds: (number == 1_000 ? 0 : 1_767_225_600_000) + Int64(number)))
        }
        _ = try await component.restore(ballots.map(\.record))
        try await component.undo(
            ballots.filter { $0.actor.number % 3 == 0 }.map {
                .removed(key: Ballot.key(actor: $0.actor, subject: subject))
            })
        var left = ballots.filter { $0.actor.number % 3 != 0 }.sorted { $0.actor < $1.actor }
        for round in 0..<3 {
            if round == 1 { try await component.restartAtOnce() }
            if round == 2 {
                // Neighbours, so that a whole piece of the storage becomes empty.
                let gone = left[100..<900]
                left.removeSubrange(100..<900)
                try await component.undo(gone.map { .removed(key: $0.record.key) })
            }
            let beyond = ActorID(Int64(count + 9))
            try bench.check(
                rules[1], "what comes after the last of \(count) actors",
                try await component.answer(.ballots(subject, after: beyond, limit: 9)),
                is: .ballots([]))
            try bench.check(
                rules[1], "the ballot of somebody who has none",
                try await component.answer(.ballotsOf(beyond, subjects: [subject])),
                is: .ballotsOf([nil]))
            for page in [7, 100, 1_000] {
                let found = try await self.ballots(
                    component, on: subject, page: page, most: 2 * count)
                try bench.check(
                    rules[1], "\(count) ballots, some taken back, in pages of \(page)", found,
                    is: left)
            }
            var reported = Observation()
            fold(try await component.restore([]), into: &reported)
            guard case .tally(let tally) = reported.facts["reported tally of \(subject)"] else {
                throw bench.failure(rules[0], "there is none of \(left.count) ballots")
            }
            try check(tally, of: subject, counts: left, bench)
        }
        await component.stop()
    }

    private func check(
        _ tally: Tally, of subject: Subject, counts ballots: [Ballot], _ bench: Bench
    ) throws {
        var histogram: [String: Int] = [:]
        for ballot in ballots {
            histogram[Value.number(ballot.value).plainText ?? "", default: 0] += 1
        }
        try bench.check(rules[0], "the count of \(subject)", tally.count, is: ballots.count)
        try bench.check(rules[0], "the histogram of \(subject)", tally.histogram, is: histogram)
        try bench.check(
            rules[0], (tally.score == nil) == ballots.isEmpty,
            "the score of \(subject) is \(tally.score.map { "\($0)" } ?? "none") with "
                + "\(ballots.count) ballots")
    }

    private func ballots(
        _ component: any ConformanceDriver, on subject: Subject, page: Int, most: Int = 1_000
    ) async throws -> [Ballot] {
        var all: [Ballot] = []
        while true {
            let query = ComponentQuery.ballots(subject, after: all.last?.actor, limit: page)
            guard case .ballots(let ballots) = try await component.answer(query),
                !ballots.isEmpty, all.count < most
            else { return all }
            all += ballots
        }
    }
}

extension VoteFacts {
    /// Whether a ballot agrees with these facts.
    fileprivate func allow(_ ballot: Ballot) -> Bool {
        let steps = step.map { (ballot.value - (min ?? 0)) / $0 } ?? 0
        return subjects.contains(SubjectKind(ballot.subject)) && ballot.value >= min ?? ballot.value
            && ballot.value <= max ?? ballot.value && abs(steps - steps.rounded()) < 1e-6
    }
}
