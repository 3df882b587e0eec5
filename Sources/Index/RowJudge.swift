import AtriumKit

/// Computes the effect of single rows' changes on a query's total and counts.
struct RowJudge {
    private struct Section {
        var selected: RowTest
        var offered: [RowTest]
        var offeredParts: ChangedParts
    }

    /// The effect of a row's change on a query.
    struct Verdict {
        /// The sections in which the row counts, before and now.
        fileprivate var before: Standing
        fileprivate var now: Standing
        /// Whether anything in sight may be touched.
        var isRelevant: Bool
        /// Whether its place in the order may be another.
        var mayMove: Bool

        var passedBefore: Bool { before == .passes }
        var passesNow: Bool { now == .passes }
        var totalChange: Int { (passesNow ? 1 : 0) - (passedBefore ? 1 : 0) }
    }

    /// The result of a row's test against a query's scope, search and selections.
    fileprivate enum Standing: Equatable {
        /// The row fails two sections, or more: it counts nowhere.
        case out
        /// The row fails one section: it counts only in that one.
        case onlyIn(Int)
        /// The row matches, and counts in all sections.
        case passes

        func counts(in section: Int) -> Bool { self == .passes || self == .onlyIn(section) }
    }

    /// The number of filters that a row is tested against.
    let weight: Int

    private let base: RowTest
    private let sections: [Section]
    /// The parts that scope, search and selections read.
    private let selectionParts: ChangedParts
    private let offeredParts: ChangedParts
    /// The text columns whose texts it tests by code, and their version.
    private let columns: [TextColumn]
    private let version: UInt64

    init(_ query: IndexQuery, in index: ContentIndex) {
        weight = query.sections.reduce(1) {
            $0 + $1.selected.count + (query.countsFacets ? $1.offered.count : 0)
        }
        base = .and([index.columns.test(query.parent), index.columns.test(search: query.search)])
        sections = query.sections.map { section in
            let offered = query.countsFacets ? section.offered.map(index.columns.test) : []
            return Section(
                selected: section.selected.isEmpty
                    ? .all : .or(section.selected.map(index.columns.test)),
                offered: offered,
                offeredParts: offered.reduce([]) { $0.union($1.parts) })
        }
        selectionParts = sections.reduce(base.parts.union(.presence)) {
            $0.union($1.selected.parts)
        }
        offeredParts = sections.reduce([]) { $0.union($1.offeredParts) }
        columns = query.sections.flatMap { $0.selected + (query.countsFacets ? $0.offered : []) }
            .reduce(into: Set<String>()) { $1.addTextFields(to: &$0) }
            .compactMap { if case .text(let column) = index.columns[$0] { column } else { nil } }
        version = RowJudge.version(of: columns)
    }

    /// The parts of a row that decide in which counts it is.
    var parts: ChangedParts { selectionParts.union(offeredParts) }

    /// Whether texts that it may test were added or removed.
    var isOutdated: Bool { RowJudge.version(of: columns) != version }

    /// Returns the effect of a change; `order` are the parts that the order reads.
    @inline(__always)
    func verdict(
        on change: RowChange, in index: ContentIndex, order: ChangedParts
    ) -> Verdict {
        let isReselected = !change.parts.isDisjoint(with: selectionParts)
        let mayMove = isReselected || !change.parts.isDisjoint(with: order)
        let row = Int(change.row)
        let isThere = index.table.occupied.contains(row)
        let now =
            isThere
            ? standing(RowView(index: index, row: row, before: nil)) : Standing.out
        let before: Standing =
            if !isReselected { now } else if change.id == nil { .out } else {
                standing(RowView(index: index, row: row, before: change))
            }
        return Verdict(
            before: before, now: now, isRelevant: before != .out || now != .out, mayMove: mayMove)
    }

    /// Corrects the counts by a row that changed.
    func count(
        _ change: RowChange, _ verdict: Verdict, into counts: inout [[Int]], in index: ContentIndex
    ) {
        guard !counts.isEmpty,
            verdict.before != verdict.now || !change.parts.isDisjoint(with: offeredParts)
        else { return }
        let now = RowView(index: index, row: Int(change.row), before: nil)
        let before = RowView(index: index, row: Int(change.row), before: change)
        for (place, section) in sections.enumerated() {
            let counted = verdict.before.counts(in: place)
            let counting = verdict.now.counts(in: place)
            guard counted || counting,
                counted != counting || !change.parts.isDisjoint(with: section.offeredParts)
            else { continue }
            for (filter, test) in section.offered.enumerated() {
                let difference =
                    (counting && test.passes(now) ? 1 : 0)
                    - (counted && test.passes(before) ? 1 : 0)
                if difference != 0 { counts[place][filter] += difference }
            }
        }
    }

    private func standing(_ row: RowView) -> Standing {
        guard base.passes(row) else { return .out }
        var standing = Standing.passes
        for (place, section) in sections.enumerated() where !section.selected.passes(row) {
            guard standing == .passes else { return .out }
            standing = .onlyIn(place)
        }
        return standing
    }

    private static func version(of columns: [TextColumn]) -> UInt64 {
        columns.reduce(0) { $0 + $1.values.version }
    }
}

extension Predicate {
    /// Adds the fields that the predicate compares with a text.
    fileprivate func addTextFields(to fields: inout Set<String>) {
        switch self {
        case .equals(let field, .text): fields.insert(field)
        case .and(let parts), .or(let parts):
            for part in parts { part.addTextFields(to: &fields) }
        case .not(let part): part.addTextFields(to: &fields)
        default: break
        }
    }
}
