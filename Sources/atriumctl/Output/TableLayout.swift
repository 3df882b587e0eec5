/// Which of a table's columns are shown on a terminal, and how wide.
///
/// If there is no room for all of each text:
///
/// 1. Columns without a text are left out.
/// 2. Dispensable columns are left out, from the right, as long as a short text would be cut without.
/// 3. Usual ones are, from the right, as long as a column would get less than its least width.
/// 4. Texts are cut, sentences before others, else the widest first: down to what is comfortable, then to their least widths. If that is not enough either, to
///    8 columns or their header: what is typed again comes last.
/// 5. Essential columns are left out, from the right. The first stays, whatever its width.
struct TableLayout {
    /// Texts up to this width are not cut as long as there is a dispensable column.
    private static let comfort = 24

    let columns: [Table.Column]
    /// Their widths; at first those that they want.
    private(set) var widths: [Int]
    /// The columns that are shown.
    private(set) var kept: [Int]
    /// What is between two columns.
    let gap: Int

    /// Lays the columns out in a width: those without a text go first, then those of least priority; if `empty` is
    /// nil, columns go only where even the narrowest do not fit.
    mutating func fit(in limit: Int, empty: Set<Int>?) {
        guard excess(widths, limit) > 0 else { return }
        if let empty {
            kept.removeAll { empty.contains($0) }
            leaveOut(.dispensable, narrowerThan: floors(.comfortable), limit)
            leaveOut(.usual, narrowerThan: floors(.least), limit)
        }
        for priority in [Table.Column.Priority.dispensable, .usual, .essential] {
            leaveOut(priority, narrowerThan: floors(.bare), limit)
        }
        // Sentences lose nothing: they go on below.
        cut(kept.filter { columns[$0].wraps }, to: floors(.comfortable), limit)
        for floor in Floor.allCases { cut(kept, to: floors(floor), limit) }
        if kept.count == 1 { widths[kept[0]] = min(widths[kept[0]], limit) }
    }

    private enum Floor: CaseIterable { case comfortable, least, narrow, bare }

    /// How narrow each column may get.
    private func floors(_ floor: Floor) -> [Int] {
        columns.indices.map { index in
            let (column, wanted) = (columns[index], widths[index])
            guard !column.isNumber else { return wanted }
            let header = DisplayWidth.of(column.title)
            let least = max(column.leastWidth, header)
            let bare = max(8, header)
            return switch floor {
            case .comfortable: min(wanted, column.keepsEnd ? least : max(least, Self.comfort))
            case .least: min(wanted, least)
            case .narrow: min(wanted, column.keepsEnd ? least : min(least, bare))
            case .bare: min(wanted, bare)
            }
        }
    }

    private func excess(_ widths: [Int], _ limit: Int) -> Int {
        kept.reduce(gap * (kept.count - 1) - limit) { $0 + widths[$1] }
    }

    /// Leaves out columns, from the right, until the others have these widths.
    private mutating func leaveOut(
        _ priority: Table.Column.Priority, narrowerThan widths: [Int], _ limit: Int
    ) {
        while excess(widths, limit) > 0, kept.count > 1,
            let place = kept.lastIndex(where: { columns[$0].priority == priority }),
            place > 0 || priority != .essential
        {
            kept.remove(at: place)
        }
    }

    /// Cuts texts, the widest first, until all fit or none is wider than this.
    private mutating func cut(_ texts: [Int], to floors: [Int], _ limit: Int) {
        while excess(widths, limit) > 0,
            let widest = texts.filter({ widths[$0] > floors[$0] })
                .max(by: { widths[$0] < widths[$1] })
        {
            widths[widest] -= 1
        }
    }
}
