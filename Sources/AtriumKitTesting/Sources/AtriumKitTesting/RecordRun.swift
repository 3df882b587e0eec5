import AtriumKit

/// The part of a suite that is specific to a kind with records.
protocol RecordSuite: Sendable {
    /// Returns a random command.
    mutating func command(_ random: inout SeededRandom, _ context: CommandContext)
        -> ComponentCommand
    /// Records the decision on a command, for better commands to come.
    mutating func record(_ command: ComponentCommand, _ decision: Decision)
    /// Checks that the command may be accepted, and the events that the component reported.
    mutating func check(
        _ command: ComponentCommand, _ context: CommandContext, _ decision: Decision, _ bench: Bench
    ) throws
    /// Turns the events of a component into facts: absolute values that replace those before.
    func fold(_ events: [ComponentEvent], into reported: inout Observation)
    /// Reads the whole observable state of a component, including its events.
    func observe(_ component: any ConformanceDriver, reported: Observation) async throws
        -> Observation
    /// Checks that the reads agree with each other.
    func checkReads(_ component: any ConformanceDriver, _ bench: Bench) async throws
    /// The subjects that exist.
    var subjects: [Subject] { get }
    /// The rules that `checkReads` checks.
    var rules: [String] { get }
}

extension RecordSuite {
    /// Checks nothing.
    mutating func check(
        _ command: ComponentCommand, _ context: CommandContext, _ decision: Decision, _ bench: Bench
    ) throws {}
}

/// Runs the suite of a kind with records.
struct RecordRun {
    let bench: Bench
    var suite: any RecordSuite
    var random: SeededRandom
    var report: ConformanceReport
    var records: [String: Value] = [:]
    var history: [Change] = []
    var reported = Observation()
    var time: Int64 = 1_767_225_600_000
    var ids = 0
    var isReadOnly = false
    /// The commands of the first part of the run.
    var past: [PastCommand] = []

    init(_ bench: Bench, _ suite: any RecordSuite) {
        self.bench = bench
        self.suite = suite
        random = SeededRandom(seed: bench.seed)
        report = ConformanceReport(kind: bench.kind, seed: bench.seed)
    }

    mutating func run(commands: Int) async throws -> ConformanceReport {
        let component = try await bench.freshComponent()
        do {
            suite.fold(try await component.restore([]), into: &reported)
            for _ in 0..<commands { try await step(component) }
            try checkAcceptedAny(of: commands)
            try await checkReported(component)
            try await checkSameDecisions()
            try await checkRestores(against: component)
            try await checkDecisionsOfRestored(component)
            try await checkUndo(component)
            try await checkUnreadable(component)
            try await suite.checkReads(component, bench)
            report.rules += suite.rules
            try await checkErasing(component)
            await component.stop()
        } catch {
            await component.stop()
            throw error
        }
        return report
    }

    /// Runs one command: an accepted one is sometimes repeated; a refused one must leave no trace.
    @discardableResult
    mutating func step(_ component: any ConformanceDriver) async throws -> [Change] {
        let context = nextContext()
        let command = suite.command(&random, context)
        let before = random.oneIn(5) ? try await observe(component) : nil
        let outcome = try await Self.outcome(of: command, context, on: component)
        past.append(PastCommand(command: command, context: context, outcome: outcome))
        guard case .decision(let decision) = outcome else {
            report.declined += 1
            guard case .refusal(let refusal) = outcome else { return [] }
            try check(refusal, of: command)
            if refusal.code == .readOnly { isReadOnly = true }
            if let before {
                try same(
                    try await observe(component), before, "what is refused leaves no trace")
            }
            return []
        }
        try suite.check(command, context, decision, bench)
        commit(command, decision)
        if decision.events.contains(.contents(.replaceAll)) {
            // A host reads the items then, too.
            suite.fold(try await component.restore([]), into: &reported)
        }
        if random.oneIn(4) {
            let again: Decision
            switch try await Self.outcome(of: command, context, on: component) {
            case .decision(let decision): again = decision
            case .refusal(let refusal):
                throw bench.failure(
                    "a command that is repeated changes nothing",
                    "\(command) is refused the second time: \(refusal.reason)")
            }
            past.append(PastCommand(command: command, context: context, outcome: .decision(again)))
            try bench.check(
                "a command that is repeated changes nothing", again.changes.isEmpty,
                "\(command) changed \(again.changes) the second time")
        }
        return decision.changes
    }

    mutating func commit(_ command: ComponentCommand, _ decision: Decision) {
        if decision.changes.isEmpty { report.declined += 1 } else { report.accepted += 1 }
        for change in decision.changes { records[change.key] = change.value }
        history += decision.changes
        suite.fold(decision.events, into: &reported)
        suite.record(command, decision)
    }

    mutating func nextContext() -> CommandContext {
        // Now and then two commands come in the same millisecond.
        time += Int64.random(in: 0...3, using: &random) * 500
        ids += 1
        return CommandContext(
            actor: ActorID(Int64.random(in: 1...5, using: &random)),
            time: Timestamp(milliseconds: time), freshID: "fresh-\(ids)",
            isModerator: random.oneIn(3))
    }

    private func checkAcceptedAny(of commands: Int) throws {
        try bench.check(
            "a component accepts something", report.accepted > 0 || isReadOnly,
            "it accepted none of \(commands) commands, so nothing was proved; give settings under "
                + "which it accepts some")
    }
}

extension RecordRun {
    /// Reads the observable state of a component.
    func observe(_ component: any ConformanceDriver) async throws -> Observation {
        var absolute = Observation()
        suite.fold(try await component.restore([]), into: &absolute)
        return try await suite.observe(component, reported: absolute)
    }

    func same(_ found: Observation, _ expected: Observation, _ rule: String) throws {
        if let difference = found.difference(from: expected) {
            throw bench.failure(rule, difference)
        }
    }

    private mutating func checkReported(_ component: any ConformanceDriver) async throws {
        let rule = "what is reported to the delegate is what there is"
        var absolute = Observation()
        suite.fold(try await component.restore([]), into: &absolute)
        try same(reported, absolute, rule)
        report.rules += [
            "what is refused leaves no trace", "a refusal says why, in a sentence",
            "a command that is repeated changes nothing", rule,
        ]
    }

    private mutating func checkRestores(against component: any ConformanceDriver) async throws {
        let expected = try await observe(component)
        let set = records.sorted { $0.key < $1.key }.map {
            Change.put(key: $0.key, value: $0.value)
        }
        let orders: [(rule: String, changes: [Change])] = [
            ("restored from its records it is the same", set),
            ("the order of records does not matter", set.shuffled(using: &random)),
            ("the last record may come first", set.reversed()),
            ("records that come twice count once", (set + set).shuffled(using: &random)),
            ("changes of different keys may come in any order", interleaved()),
        ]
        for (rule, changes) in orders {
            let fresh = try await bench.freshComponent()
            _ = try await fresh.restore(changes)
            try same(try await observe(fresh), expected, rule)
            if rule == orders.first?.rule {
                try await fresh.restartAtOnce()
                try await bench.awaitItems(of: fresh)
                try same(
                    try await observe(fresh), expected, "handed its records at once it is the same")
            }
            await fresh.stop()
            report.rules.append(rule)
        }
    }

    /// Returns the history in another order, in which changes of the same key keep theirs.
    private mutating func interleaved() -> [Change] {
        var queues: [String: [Change]] = [:]
        for change in history.reversed() { queues[change.key, default: []].append(change) }
        let keys = history.map(\.key).sorted().shuffled(using: &random)
        return keys.compactMap { queues[$0]?.popLast() }
    }

    private mutating func checkUndo(_ component: any ConformanceDriver) async throws {
        let rule = "commands that were undone left no trace"
        for _ in 0..<10 {
            let (before, kept) = (try await observe(component), self)
            var touched: Set<String> = []
            for _ in 0..<Int.random(in: 1...8, using: &random) {
                touched.formUnion(try await step(component).map(\.key))
            }
            let (counts, later) = (report, (random, time, ids))
            let changes = touched.sorted().shuffled(using: &random).map { key in
                kept.records[key].map { Change.put(key: key, value: $0) } ?? .removed(key: key)
            }
            self = kept
            report = counts
            (random, time, ids) = later
            try await component.undo(changes)
            try same(try await observe(component), before, rule)
        }
        report.rules.append(rule)
        // Later commands must work on the right state after an undo.
        for _ in 0..<20 { try await step(component) }
        let fresh = try await bench.freshComponent()
        _ = try await fresh.restore(
            records.sorted { $0.key > $1.key }.map { .put(key: $0.key, value: $0.value) })
        try same(
            try await observe(component), try await observe(fresh),
            "after an undo it goes on as if restored")
        await fresh.stop()
    }

    private mutating func checkErasing(_ component: any ConformanceDriver) async throws {
        let rule = "the keys about a subject are all its records, and no other's"
        var keys: [String] = []
        for subject in suite.subjects {
            if case .recordKeys(let about) = try await component.answer(.recordKeys([subject])) {
                keys += about
            }
        }
        if bench.kind == .comments { try await checkKeyPages(component, keys) }
        try bench.check(rule, "the set of keys", keys.sorted(), is: records.keys.sorted())
        try await component.undo(keys.map { .removed(key: $0) })
        let fresh = try await bench.freshComponent()
        try same(
            try await observe(component), try await observe(fresh),
            "without its records it is as new")
        await fresh.stop()
        report.rules.append(rule)
    }

    private mutating func checkKeyPages(
        _ component: any ConformanceDriver, _ keys: [String]
    ) async throws {
        let rule = "the keys about a subject come in pages, too"
        var paged: [String] = []
        for subject in suite.subjects {
            var after: String?
            while case .recordKeys(let page) = try await component.answer(
                .recordKeyPage([subject], after: after, limit: 2))
            {
                paged += page
                guard page.count >= 2, paged.count <= keys.count else { break }
                after = page.last
            }
        }
        try bench.check(rule, "the keys of all pages", paged.sorted(), is: keys.sorted())
        report.rules.append(rule)
    }
}
