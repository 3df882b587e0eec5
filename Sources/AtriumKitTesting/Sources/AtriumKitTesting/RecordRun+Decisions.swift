import AtriumKit

/// The outcome of a command.
enum Outcome: Sendable, Equatable {
    case decision(Decision)
    case refusal(Refusal)
}

/// A command that was run, and its outcome.
struct PastCommand: Sendable {
    let command: ComponentCommand
    let context: CommandContext
    let outcome: Outcome
}

extension RecordRun {
    /// Checks that a refusal has a reason that helps its reader.
    func check(_ refusal: Refusal, of command: ComponentCommand) throws {
        let words = refusal.reason.split { $0.isWhitespace }
        try bench.check(
            "a refusal says why, in a sentence", words.count >= 2,
            "\(command) is refused with '\(refusal.reason)'")
    }

    /// Runs all commands so far on another component: decisions must not depend on a clock or on chance.
    mutating func checkSameDecisions() async throws {
        let rule = "the same commands come to the same decisions"
        let other = try await bench.freshComponent()
        for past in past {
            let outcome = try await Self.outcome(of: past.command, past.context, on: other)
            try same(outcome, past.outcome, past.command, rule)
        }
        await other.stop()
        report.rules.append(rule)
    }

    /// Runs further commands on the component, and on one that was restored from its records.
    mutating func checkDecisionsOfRestored(_ component: any ConformanceDriver) async throws {
        let rule = "restored from its records it decides as the one that lived through the calls"
        let other = try await bench.freshComponent()
        _ = try await other.restore(records.map { .put(key: $0.key, value: $0.value) })
        for _ in 0..<40 {
            let context = nextContext()
            let command = suite.command(&random, context)
            let expected = try await Self.outcome(of: command, context, on: component)
            let outcome = try await Self.outcome(of: command, context, on: other)
            try same(outcome, expected, command, rule)
            guard case .decision(let decision) = expected else {
                report.declined += 1
                continue
            }
            try suite.check(command, context, decision, bench)
            commit(command, decision)
            if decision.events.contains(.contents(.replaceAll)) {
                suite.fold(try await component.restore([]), into: &reported)
            }
        }
        try same(try await observe(other), try await observe(component), rule)
        await other.stop()
        report.rules.append(rule)
    }

    /// Replaces records by unreadable values, and restores them.
    mutating func checkUnreadable(_ component: any ConformanceDriver) async throws {
        let rule = "a record that can't be read counts for nothing, until it can"
        guard !records.isEmpty else { return }
        let whole = try await observe(component)
        for (key, value) in records.sorted(by: { $0.key < $1.key }).shuffled(using: &random).prefix(
            5)
        {
            try await component.undo([.removed(key: key)])
            let without = try await observe(component)
            for nonsense in [Value.int(5), "nonsense", [:], .null] {
                try await component.undo([.put(key: key, value: value)])
                try await component.undo([.put(key: key, value: nonsense)])
                try same(try await observe(component), without, rule)
            }
            try await component.undo([.put(key: key, value: value)])
            try same(try await observe(component), whole, rule)
        }
        report.rules.append(rule)
    }

    static func outcome(
        of command: ComponentCommand, _ context: CommandContext,
        on component: any ConformanceDriver
    ) async throws -> Outcome {
        do {
            return .decision(try await component.decide(command, context))
        } catch let refusal as Refusal {
            return .refusal(refusal)
        }
    }

    private func same(
        _ found: Outcome, _ expected: Outcome, _ command: ComponentCommand, _ rule: String
    ) throws {
        switch (found, expected) {
        case (.decision(let one), .decision(let other)):
            try bench.check(rule, "what \(command) changes", one.changes, is: other.changes)
            try bench.check(rule, "the answer to \(command)", one.answer, is: other.answer)
            try bench.check(rule, "what \(command) reports", one.events, is: other.events)
        case (.refusal(let one), .refusal(let other)):
            try bench.check(rule, "the refusal of \(command)", one.reason, is: other.reason)
        default:
            try bench.check(rule, "what comes of \(command)", found, is: expected)
        }
    }
}
