import AtriumKit

/// A step of an example: a call, and its expected result.
struct ExampleStep: Sendable {
    /// A call, named by the member of the step that has its argument.
    enum Verb: String, CaseIterable, Sendable {
        // Commands.
        case cast, retract, post, edit, delete, moderate, put, remove, restore
        // Questions.
        case tally, ballots, thread, comment, pending, count, keys, items, details
        case sections, filter, select, deselect, clear, observes, preselects, facts, logs
        // Life cycle and environment.
        case apply, restart, values, change, provide
        // Changes of a source's files.
        case write, move, erase, wait

        /// The expected argument, in words, and whether a value is one.
        var argument: (expected: String, fits: @Sendable (Value) -> Bool) {
            switch self {
            case .cast: ("a number", { $0.number != nil })
            case .wait: ("seconds, from 0 to 60", { (0...60).contains($0.number ?? -1) })
            case .post, .edit, .delete, .moderate, .comment, .details, .filter, .select,
                .deselect, .write, .move, .erase:
                ("a text", { $0.text != nil })
            case .put, .provide:
                (
                    "a list of items, each with an id",
                    { $0.list?.allSatisfy { $0.object?["id"]?.text != nil } ?? false }
                )
            case .remove: ("a list of ids", { $0.list?.allSatisfy { $0.text != nil } ?? false })
            case .restore, .apply, .change: ("an object", { $0.object != nil })
            case .values:
                (
                    "an object of lists",
                    { $0.object?.values.allSatisfy { $0.list != nil } ?? false }
                )
            case .items: ("true or 'sorted'", { $0.bool == true || $0 == "sorted" })
            case .retract, .tally, .ballots, .thread, .pending, .count, .keys, .sections, .clear,
                .observes, .preselects, .facts, .logs, .restart:
                ("true", { $0.bool == true })
            }
        }

        /// The kind of components that have this call; nil: all.
        var kind: Kind? {
            switch self {
            case .cast, .retract, .tally, .ballots: .votes
            case .post, .edit, .delete, .moderate, .thread, .comment, .pending, .count: .comments
            case .put, .remove, .items, .details, .write, .move, .erase, .wait: .contents
            case .sections, .filter, .select, .deselect, .clear, .observes, .preselects, .values:
                .filters
            case .restore, .keys, .facts, .logs, .apply, .restart, .change, .provide: nil
            }
        }
    }

    let path: String
    let verb: Verb
    /// The argument of the call.
    let argument: Value
    let members: ExampleMembers
    /// The expected result; of an object only the named members are compared; nil: nothing is.
    let expected: Value?
    /// The code of the expected refusal, or `true` for any; nil: it must not be refused.
    let refused: Value?
    /// Words of the expected refusal.
    let because: String?
    /// The state that a moderator gives a comment.
    let state: Comment.State
    /// The order of a thread.
    let order: ThreadQuery.Order
    /// The number of times the call is made; the result must be the expected one each time.
    let times: Int

    private static let others: Set<String> = [
        "item", "actor", "moderator", "time", "id", "parent", "text", "state", "reason", "seen",
        "order", "root", "depth", "limit", "cursor", "after", "held", "section", "of", "cut", "to",
        "times", "is", "refused", "because",
    ]

    init(_ value: Value, at path: String) throws(ExampleProblem) {
        self.path = path
        let members = try ExampleMembers(
            value, at: path, known: Self.others.union(Verb.allCases.map(\.rawValue)))
        // `id`, `text` and the like are arguments; the argument of `comment` and `delete` is the id.
        let verbs = Verb.allCases.filter { members.all[$0.rawValue] != nil }
        guard verbs.count == 1, let verb = verbs.first, let argument = members.all[verb.rawValue]
        else {
            throw ExampleProblem(
                "\(path): expected one of \(Verb.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        guard verb.argument.fits(argument) else {
            throw ExampleProblem("\(path).\(verb.rawValue): expected \(verb.argument.expected)")
        }
        try Self.check(members, of: verb)
        state = try members.choice("state", of: [.shown, .pending, .removed]) ?? .shown
        order = try members.choice("order", of: [.oldest, .newest]) ?? .oldest
        times = try members.int("times") ?? 1
        self.members = members
        self.verb = verb
        self.argument = argument
        expected = members.all["is"]
        refused = members.all["refused"]
        because = try members.text("because")
        guard refused.map({ $0.bool == true || $0.text != nil }) ?? true else {
            throw ExampleProblem("\(path).refused: expected true, or the code of the refusal")
        }
        guard refused != nil || because == nil else {
            throw ExampleProblem("\(path).because: expected 'refused' beside it")
        }
        guard refused == nil || expected == nil else {
            throw ExampleProblem(
                "\(path): what is refused gives nothing: leave 'is' or 'refused' out")
        }
    }

    /// The valid ranges of a call's integers: more than a host sends, and less than overflows.
    private static let integers = [
        "actor": 0...Int(Int32.max), "limit": -1_000_000...1_000_000,
        "depth": -1_000_000...1_000_000, "time": 0...250_000_000_000_000, "times": 1...10_000,
    ]

    /// Checks the types of members, so that none is silently ignored.
    private static func check(
        _ members: ExampleMembers, of verb: Verb
    ) throws(ExampleProblem) {
        for name in ["parent", "id", "text", "reason", "seen", "root", "cursor", "section", "to"] {
            _ = try members.text(name)
        }
        try members.check("item", "an id of 1 to 200 bytes") {
            $0.text.map { (1...200).contains($0.utf8.count) } ?? false
        }
        for (name, range) in integers.sorted(by: { $0.key < $1.key }) {
            guard let number = try members.int(name), !range.contains(number) else { continue }
            throw ExampleProblem(
                "\(members.path).\(name): expected \(range.lowerBound) to \(range.upperBound)")
        }
        if verb == .ballots { _ = try members.int("after") } else { _ = try members.text("after") }
        for name in ["moderator", "held"] { _ = try members.boolean(name) }
        try members.check("cut", "a list of texts") { $0.isTexts }
        try members.check("of", "an object of lists of texts") {
            $0.object?.values.allSatisfy(\.isTexts) ?? false
        }
    }

    /// Checks that components of a kind have the call.
    func check(_ kind: Kind) throws(ExampleProblem) {
        guard let own = verb.kind, own != kind else { return }
        let verbs = Verb.allCases.filter { $0.kind == nil || $0.kind == kind }
        throw ExampleProblem(
            "\(path): '\(verb.rawValue)' is a call of \(own.rawValue); those of \(kind.rawValue) are "
                + verbs.map(\.rawValue).joined(separator: ", "))
    }
}

extension Value {
    fileprivate var isTexts: Bool { list?.allSatisfy { $0.text != nil } ?? false }
}

/// Runs steps on one component.
struct ExampleRun {
    private(set) var component: any ConformanceDriver
    private var source: ExampleSource
    private var commands: Int64 = 0
    /// The time of the previous command, so that a text that was just written can be named by its time.
    private var time: Int64 = 1_767_225_600_000

    init(_ component: any ConformanceDriver, _ source: ExampleSource) {
        self.component = component
        self.source = source
    }

    /// Runs a step, and returns how the result differs from the expected one; if the component's worker has left,
    /// restarts the component first, as a host does.
    mutating func difference(_ step: ExampleStep) async throws -> String? {
        for _ in 0..<step.times {
            if let difference = try await differenceNow(step) { return difference }
        }
        return nil
    }

    private mutating func differenceNow(_ step: ExampleStep) async throws -> String? {
        do {
            return try await differenceOnce(step)
        } catch {
            guard await component.hasLeft() else { throw error }
            await component.stop()
            component = try await source.restarted()
            return try await differenceOnce(step)
        }
    }

    private mutating func differenceOnce(_ step: ExampleStep) async throws -> String? {
        var found: Value
        do {
            found = try await outcome(of: step)
            if step.verb == .items {
                let source = source
                found = try await source.awaited(step.expected, found, of: component) {
                    try await outcome(of: step)
                }
                if let difference = try await self.source.difference(of: component) {
                    return difference
                }
            }
        } catch let refusal as Refusal {
            guard let expected = step.refused else { return "it is refused: \(refusal.reason)" }
            if let code = expected.text, code != refusal.code.rawValue {
                return "it is refused as \(refusal.code.rawValue); expected was \(code)"
            }
            guard let words = step.because, !refusal.reason.contains(words) else { return nil }
            return "it is refused with '\(refusal.reason)'; expected was '\(words)'"
        }
        if step.refused != nil { return "it is not refused, and gives \(found.exampleText)" }
        return step.expected.flatMap { found.difference(from: $0, at: "") }
    }

    private mutating func outcome(of step: ExampleStep) async throws -> Value {
        let (members, argument) = (step.members, step.argument)
        let subject = Subject(item: try members.text("item"))
        switch step.verb {
        case .cast:
            return try await decide(
                .castBallot(subject: subject, value: argument.number ?? .nan), step)
        case .retract: return try await decide(.retractBallot(subject: subject), step)
        case .post:
            let draft = CommentDraft(
                id: try members.text("id") ?? "comment-\(commands)", subject: subject,
                parent: try members.text("parent"), text: argument.text ?? "")
            return try await decide(.postComment(draft), step)
        case .edit:
            return try await decide(
                .editComment(id: argument.text ?? "", text: try members.text("text") ?? ""), step)
        case .delete: return try await decide(.deleteComment(id: argument.text ?? ""), step)
        case .moderate:
            return try await decide(
                .moderateComment(
                    id: argument.text ?? "",
                    state: step.state, reason: try members.text("reason"),
                    seen: try members.text("seen")), step)
        case .put:
            return try await decide(.putItems((argument.list ?? []).map(Item.init(example:))), step)
        case .remove:
            return try await decide(.removeItems((argument.list ?? []).compactMap(\.text)), step)
        case .restore: return try await decide(.restoreRecords(argument.exampleChanges), step)
        case .apply:
            try await component.undo(argument.exampleChanges)
            return .null
        case .restart:
            try await component.restartAtOnce()
            return .null
        case .values:
            let cut = (try members.list("cut") ?? []).compactMap(\.text)
            try await component.report(
                (argument.object ?? [:]).mapValues { $0.list ?? [] }, cut: Set(cut))
            return .null
        case .change:
            return .bool(try await component.change(settings: argument.object ?? [:]))
        case .provide:
            try await component.provide((argument.list ?? []).map(Item.init(example:)))
            return .null
        case .write, .move, .erase, .wait:
            try await source.change(step, for: component)
            return .null
        default: return try await answer(to: step, about: subject)
        }
    }

    private func answer(to step: ExampleStep, about subject: Subject) async throws -> Value {
        let (members, argument) = (step.members, step.argument)
        switch step.verb {
        case .tally:
            var tally = Tally()
            for case .tally(subject, let found) in try await component.restore([]) { tally = found }
            return tally.example
        case .count:
            var count = 0
            for case .commentCount(subject, let found) in try await component.restore([]) {
                count = found
            }
            return .int(Int64(count))
        case .items:
            let items = try await component.allItems()
            let sorted = argument == "sorted" ? items.sorted { $0.id < $1.id } : items
            return .list(sorted.map(\.example))
        case .observes:
            return .list(try await component.observedFields().map { .text($0) })
        case .preselects: return try await component.preselection().example
        case .logs:
            // Its answer follows the messages sent before.
            _ = try? await component.restore([])
            return .list(try await component.logged().map { .text($0) })
        case .facts: return try await component.facts()?.example ?? .null
        case .ballots:
            return try await component.answer(
                .ballots(
                    subject, after: try members.int("after").map { ActorID(Int64($0)) },
                    limit: try members.int("limit") ?? 100)
            ).example
        case .thread:
            var query = ThreadQuery(
                subject: subject, root: try members.text("root"),
                order: step.order,
                depth: try members.int("depth"), limit: try members.int("limit") ?? 100,
                cursor: try members.text("cursor"))
            query.tellsHeld = members.all["held"]?.bool ?? false
            return try await component.answer(.thread(query)).example
        case .comment: return try await component.answer(.comment(id: argument.text ?? "")).example
        case .pending:
            return try await component.answer(
                .pendingComments(
                    limit: try members.int("limit") ?? 100, cursor: try members.text("cursor"))
            ).example
        case .keys:
            guard let limit = try members.int("limit") else {
                return try await component.answer(.recordKeys([subject])).example
            }
            return try await component.answer(
                .recordKeyPage([subject], after: try members.text("after"), limit: limit)
            ).example
        case .details:
            return try await component.answer(.details(item: argument.text ?? "")).example
        case .sections: return try await component.answer(.sections).example
        default: return try await component.answer(selecting(step)).example
        }
    }

    private func selecting(_ step: ExampleStep) throws -> ComponentQuery {
        let id = ComponentQuery.FilterID(
            section: try step.members.text("section") ?? "", filter: step.argument.text ?? "")
        let selection = Selection(
            (try step.members.object("of") ?? [:]).mapValues { ($0.list ?? []).compactMap(\.text) })
        return switch step.verb {
        case .select: .select(id, of: selection, screen: "s")
        case .deselect: .deselect(id, of: selection, screen: "s")
        case .clear: .clear(selection, screen: "s")
        default: .filters([id])
        }
    }

    private mutating func decide(
        _ command: ComponentCommand, _ step: ExampleStep
    ) async throws -> Value {
        commands += 1
        time = try step.members.int("time").map { Int64($0) } ?? time + 1_000
        let context = CommandContext(
            actor: ActorID(Int64(try step.members.int("actor") ?? 1)),
            time: Timestamp(milliseconds: time), freshID: "fresh-\(commands)",
            isModerator: step.members.all["moderator"]?.bool ?? false, order: commands)
        return try await component.decide(command, context).example
    }
}
