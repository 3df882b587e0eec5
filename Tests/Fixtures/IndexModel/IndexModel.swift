package import AtriumKit
package import Index
import TimeZones

/// What the index promises, done the plain way: every query looks at every item.
///
/// It is the oracle.
package struct IndexModel {
    package struct Stored {
        package var item: Item
        package var revision: Int64

        package init(item: Item, revision: Int64) {
            self.item = item
            self.revision = revision
        }
    }

    /// Where an item stands in an order.
    package struct Place {
        package var values: [ModelValue]
        package var id: String
    }

    package enum ModelValue: Hashable {
        case missing
        case number(Double)
        case text(String)
        case id(String)
    }

    package struct Page: Equatable {
        package var ids: [String]
        package var total: Int
        package var counts: [[Int]]

        package init(ids: [String], total: Int, counts: [[Int]]) {
            self.ids = ids
            self.total = total
            self.counts = counts
        }
    }

    private let types: [String: Field.FieldType]
    private let derivations: [String: Field.Derivation]
    private let searched: [String]
    private let memo = FoldMemo()
    package var items: [String: Stored] = [:]
    package var tallies: [String: Tally] = [:]
    package var comments: [String: Int] = [:]

    package init(fields: [Field]) {
        types = Dictionary(uniqueKeysWithValues: fields.map { ($0.name, $0.type) })
        derivations = Dictionary(
            uniqueKeysWithValues: fields.compactMap { field in
                field.derivation.map { (field.name, $0) }
            })
        searched = fields.filter(\.search).map(\.name)
    }

    package func page(_ query: IndexQuery, after: Place?) -> Page {
        let base = items.values.filter {
            isInScope($0.item, query.parent) && isFound($0.item, query.search)
        }
        // For each item, the sections that turn it away.
        let failed = base.map { stored in
            query.sections.filter { section in
                !section.selected.isEmpty
                    && !section.selected.contains { matches($0, stored.item) }
            }.map(\.id)
        }
        let matching = zip(base, failed).filter { $1.isEmpty }.map(\.0)
        let sorted = matching.map { place(of: $0.item, query.sort) }
            .filter { place in after.map { precedes($0, place, query.sort) } ?? true }
            .sorted { precedes($0, $1, query.sort) }
        var counts: [[Int]] = []
        for section in query.sections where query.countsFacets {
            let counted = zip(base, failed).filter { $1.allSatisfy { $0 == section.id } }.map(\.0)
            counts.append(
                section.offered.map { predicate in
                    counted.count { matches(predicate, $0.item) }
                })
        }
        return Page(
            ids: sorted.prefix(query.limit).map(\.id), total: matching.count,
            counts: counts)
    }

    package func place(of item: Item, _ sort: [SortKey]) -> Place {
        let values = sort.map { key -> ModelValue in
            key.field == "id" ? .id(item.id) : self.values(of: key.field, item).first ?? .missing
        }
        return Place(values: values, id: item.id)
    }

    package func distinctValues(of field: String) -> Set<ModelValue> {
        Set(items.values.flatMap { values(of: field, $0.item) })
    }

    package func matches(_ predicate: Predicate, _ item: Item) -> Bool {
        switch predicate {
        case .all: true
        case .equals("id", let value): value.text == item.id
        case .equals(let field, .null):
            isKnown(field) && values(of: field, item).isEmpty
        case .equals(let field, let value):
            converted(value, field).map { values(of: field, item).contains($0) } ?? false
        case .range(let field, let lower, let upper):
            values(of: field, item).contains { isInRange($0, lower, upper) }
        case .contains(let field, let text):
            texts(of: field, item).contains { contains($0, text) }
                || isKnown(field) && folds(text).isEmpty
        case .and(let parts): parts.allSatisfy { matches($0, item) }
        case .or(let parts): parts.contains { matches($0, item) }
        case .not(let part): !matches(part, item)
        @unknown default: false
        }
    }

    private func isInRange(
        _ value: ModelValue, _ lower: Predicate.Bound?, _ upper: Predicate.Bound?
    ) -> Bool {
        guard case .number(let number) = value else { return false }
        let isAbove = lower.map { $0.isIncluded ? number >= $0.value : number > $0.value } ?? true
        let isBelow = upper.map { $0.isIncluded ? number <= $0.value : number < $0.value } ?? true
        return isAbove && isBelow
    }

    private func isInScope(_ item: Item, _ scope: ParentScope) -> Bool {
        switch scope {
        case .all: true
        case .roots: item.parent.map { items[$0] == nil } ?? true
        case .under(let id): item.parent == id
        }
    }

    private func isFound(_ item: Item, _ search: String?) -> Bool {
        guard let search, !folds(search).isEmpty else { return true }
        return searched.contains { field in
            texts(of: field, item).contains { contains($0, search) }
        }
    }

    private func contains(_ text: String, _ needle: String) -> Bool {
        let (text, needle) = (folds(text), folds(needle))
        guard text.count >= needle.count else { return false }
        return (0...text.count - needle.count).contains { start in
            text[start..<start + needle.count].elementsEqual(needle)
        }
    }

    private func folds(_ text: String) -> [UInt8] { memo.fold(text) }

    private func isKnown(_ field: String) -> Bool {
        field.contains(".") || types[field] != nil
    }

    private func texts(of field: String, _ item: Item) -> [String] {
        values(of: field, item).compactMap { if case .text(let text) = $0 { text } else { nil } }
    }

    private func values(of field: String, _ item: Item) -> [ModelValue] {
        switch field {
        case "votes.score": return tallies[item.id]?.score.map { [.number($0)] } ?? []
        case "votes.count": return [.number(Double(tallies[item.id]?.count ?? 0))]
        case "comments.count": return [.number(Double(comments[item.id] ?? 0))]
        default:
            if let derivation = derivations[field] { return dates(derivation, item) }
            guard let value = item.fields[field] else { return [] }
            let type = types[field]
            if type == .text || type == .keywords, let list = value.list {
                return list.compactMap { converted($0, field) }
            }
            return converted(value, field).map { [$0] } ?? []
        }
    }

    /// The date that follows from another field.
    private func dates(_ derivation: Field.Derivation, _ item: Item) -> [ModelValue] {
        guard let seconds = item.fields[derivation.of]?.text.flatMap(TimeText.seconds),
            let zone = try? ZoneDirectory.system.zone(derivation.zone)
        else { return [] }
        var day = zone.day(at: Int64(seconds.rounded(.down)))
        switch derivation.by {
        // 1970-01-05 was a Monday.
        case .week: while (day - 4) % 7 != 0 { day -= 1 }
        case .month: while CivilDate(days: day).day != 1 { day -= 1 }
        default: break
        }
        return [.number(Double(day * 86_400))]
    }

    private func converted(_ value: Value, _ field: String) -> ModelValue? {
        if field.contains(".") { return value.number.map(ModelValue.number) }
        switch types[field] {
        case .text, .keywords: return value.text.map(ModelValue.text)
        case .boolean: return value.bool.map { .number($0 ? 1 : 0) }
        case .time, .date: return value.text.flatMap(TimeText.seconds).map(ModelValue.number)
        case nil: return nil
        default: return value.number.map(ModelValue.number)
        }
    }

    private func precedes(_ one: Place, _ other: Place, _ sort: [SortKey]) -> Bool {
        for (key, (left, right)) in zip(sort, zip(one.values, other.values)) where left != right {
            if left == .missing { return false }
            if right == .missing { return true }
            return precedes(left, right) != key.descending
        }
        return one.id < other.id
    }

    private func precedes(_ one: ModelValue, _ other: ModelValue) -> Bool {
        switch (one, other) {
        case (.number(let left), .number(let right)): return left < right
        case (.id(let left), .id(let right)): return left < right
        case (.text(let left), .text(let right)):
            let (leftFold, rightFold) = (folds(left), folds(right))
            return leftFold == rightFold
                ? Array(left.precomposed.utf8).lexicographicallyPrecedes(right.precomposed.utf8)
                : leftFold.lexicographicallyPrecedes(rightFold)
        default: return false
        }
    }
}

/// Folds each text once: the model asks for the same few again and again.
private final class FoldMemo {
    private var folded: [String: [UInt8]] = [:]

    func fold(_ text: String) -> [UInt8] {
        if let known = folded[text] { return known }
        let bytes = Folding.fold(text)
        folded[text] = bytes
        return bytes
    }
}
