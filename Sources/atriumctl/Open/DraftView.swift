/// A longer text while it is typed, in lines.
struct DraftView {
    /// The lines, and where in them the cursor stands.
    private(set) var rows: [CellText] = []
    private let row: Int
    private let column: Int

    init(_ input: TextInput, width: Int) {
        rows = Self.lines(input.text, width)
        // What stands before the cursor breaks where the whole does: words break at their end alone.
        let before = Self.lines(String(input.before), width)
        var (row, column) = (before.count - 1, before.last?.width ?? 0)
        if column > rows[min(row, rows.count - 1)].width, row + 1 < rows.count {
            (row, column) = (row + 1, 0)
        }
        (self.row, self.column) = (row, column)
    }

    /// So many of the lines, the cursor's among them.
    func visible(height: Int) -> [CellText] {
        Array(rows.dropFirst(start(height)).prefix(max(0, height)))
    }

    /// The cursor's place if the draft's rows begin below so many others.
    func caret(height: Int, below: Int) -> (row: Int, column: Int) {
        (below + row - start(height), column + 2)
    }

    private func start(_ height: Int) -> Int { max(0, min(row, rows.count) - height + 1) }

    private static func lines(_ text: String, _ width: Int) -> [CellText] {
        text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
            .flatMap { CellText(String($0)).wrapped(to: max(4, width - 1)) }
    }
}
