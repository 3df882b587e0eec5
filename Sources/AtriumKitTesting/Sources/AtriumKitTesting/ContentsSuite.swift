import AtriumKit

/// The kind `contents`.
struct ContentsSuite: RecordSuite {
    let fields: [Field]
    let rules = [
        "what was put in is answered with what became of it",
        "a source that is asked answers with items that were asked for",
    ]
    private var present: Set<String> = []
    private let ids = (1...12).map { "item-\($0)" }

    init(fields: [Field]) { self.fields = fields }

    var subjects: [Subject] { present.sorted().map { .item($0) } }

    func command(_ random: inout SeededRandom, _ context: CommandContext) -> ComponentCommand {
        let chosen = ids.shuffled(using: &random).prefix(Int.random(in: 1...4, using: &random))
        if random.oneIn(4) { return .removeItems(Array(chosen)) }
        return .putItems(
            chosen.map { id in
                let parent = random.oneIn(4) ? random.pick(ids, or: id) : nil
                return Item(id: id, fields: values(&random), parent: parent == id ? nil : parent)
            })
    }

    mutating func record(_ command: ComponentCommand, _ decision: Decision) {
        switch decision.answer {
        case .items(let inserted, _, _): present.formUnion(inserted)
        case .removed(let ids): present.subtract(ids)
        default: return
        }
    }

    func fold(_ events: [ComponentEvent], into reported: inout Observation) {
        for case .contents(let change) in events {
            switch change {
            case .replaceAll:
                reported.facts = reported.facts.filter { !$0.key.hasPrefix("item ") }
            case .insert(let items), .update(let items):
                for item in items { reported.facts["item \(item.id)"] = .item(item) }
            case .remove(let ids):
                for id in ids { reported.facts["item \(id)"] = nil }
            @unknown default:
                continue
            }
        }
    }

    func observe(
        _ component: any ConformanceDriver, reported: Observation
    ) async throws -> Observation {
        var seen = reported
        for id in ids {
            if case .details(let details) = try await component.answer(.details(item: id)) {
                seen.facts["details of \(id)"] = .details(details)
            }
        }
        return seen
    }

    func checkReads(_ component: any ConformanceDriver, _ bench: Bench) async throws {
        if try await component.asks() { try await checkAnswers(component, bench) }
        var reported = Observation()
        fold(try await component.restore([]), into: &reported)
        for id in present.sorted() {
            try bench.check(
                rules[0], reported.facts["item \(id)"] != nil,
                "the item \(id) was accepted and is not there")
        }
        for id in ids where !present.contains(id) && reported.facts["item \(id)"] != nil {
            // A source of its own items may still have one with this id; a removed one must be gone.
            let again = try? await component.decide(
                .removeItems([id]),
                CommandContext(
                    actor: ActorID(1), time: Timestamp(milliseconds: 0), freshID: "none"))
            try bench.check(
                rules[0], again?.changes.isEmpty ?? true, "the item \(id) was removed and is there")
        }
    }

    /// Queries a few items at a time, all pages, and a search.
    private func checkAnswers(_ component: any ConformanceDriver, _ bench: Bench) async throws {
        for search in ["", "drama", "\u{0}%_'\"\\", "Amélie 東京"] {
            var question = ContentQuestion(search: search, limit: 2)
            var pages = 0
            repeat {
                let answer: ContentAnswer
                do {
                    answer = try await component.ask(question)
                } catch let refusal as Refusal where refusal.evidence["conformance"] == nil {
                    // A service may be unavailable while the suite runs.
                    break
                }
                try bench.check(
                    rules[1], answer.items.count <= question.limit,
                    "it answered \(question) with \(answer.items.count) items")
                try bench.check(
                    rules[1], Set(answer.items.map(\.id)).count == answer.items.count,
                    "it answered \(question) with an item twice")
                try bench.check(
                    rules[1], answer.total ?? answer.items.count >= answer.items.count,
                    "it answered \(question) with more items than there are in all")
                question.cursor = answer.next
                pages += 1
            } while question.cursor != nil && pages < 5
        }
    }

    /// Values for some of the fields, within their bounds.
    private func values(_ random: inout SeededRandom) -> [String: Value] {
        var values: [String: Value] = [:]
        for field in fields
        where field.derivation == nil && (field.required || !random.oneIn(3)) {
            values[field.name] = value(of: field, &random)
        }
        return values
    }

    private func value(of field: Field, _ random: inout SeededRandom) -> Value {
        let words = ["drama", "crime", "Amélie", "8½", "", "東京物語", "naïve", "👩‍👩‍👧"]
        let low = max(field.min ?? 0, -1e6)
        let high = max(low, min(field.max ?? low + 9, 1e6))
        switch field.type {
        case .text: return .text(random.pick(words, or: "drama"))
        case .keywords:
            let count = Int.random(in: 0...3, using: &random)
            return .list(words.shuffled(using: &random).prefix(count).map { .text($0) })
        case .number:
            return .number((Double.random(in: low...high, using: &random) * 2).rounded() / 2)
        case .integer, .duration:
            return .int(Int64.random(in: Int64(low)...Int64(high), using: &random))
        case .boolean: return .bool(random.oneIn(2))
        case .time: return random.oneIn(2) ? "1972-03-24" : "2026-01-31T20:15:00Z"
        case .url: return random.oneIn(2) ? "https://example.org/a?b=c" : "mailto:club@example.org"
        case .image:
            return random.oneIn(2)
                ? "https://example.org/a.png" : "data:image/gif;base64,R0lGODlhAQABAAAAACw="
        case .markdown: return "A *drama*, see <https://example.org>."
        case .date: return .null
        @unknown default: return .null
        }
    }
}
