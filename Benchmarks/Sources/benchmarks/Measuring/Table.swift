import Foundation

/// Rows for people: aligned, a benchmark after the other.
struct Table {
    private static let header = ["", "ours", "peer", "", "times as fast"]

    private let rows: [Row]

    init(_ rows: [Row]) {
        self.rows = rows
    }

    /// The table, without a final newline.
    var text: String {
        let cells = rows.map(Self.cells)
        let widths = Self.header.indices.map { column in
            ([Self.header] + cells).map { $0[column].count }.max() ?? 0
        }
        var lines = [Self.line(Self.header, widths)]
        var benchmark: String?
        for (row, cells) in zip(rows, cells) {
            if row.benchmark != benchmark { lines.append(row.benchmark) }
            benchmark = row.benchmark
            lines.append(Self.line(cells, widths))
        }
        return lines.joined(separator: "\n")
    }

    private static func cells(_ row: Row) -> [String] {
        [
            "  " + row.name,
            figure(row.ours) + " " + row.unit.rawValue,
            row.peer.map { figure($0.value) + " " + row.unit.rawValue } ?? "",
            row.peer?.name ?? "",
            row.ratio.map { figure($0) } ?? "",
        ]
    }

    /// Names to the left, figures to the right.
    private static func line(_ cells: [String], _ widths: [Int]) -> String {
        let padded = cells.indices.map { column in
            let space = String(repeating: " ", count: widths[column] - cells[column].count)
            return column == 0 || column == 3 ? cells[column] + space : space + cells[column]
        }
        var line = padded.joined(separator: "  ")
        while line.last == " " { line.removeLast() }
        return line
    }

    /// Three digits that count, and thousands whole.
    static func figure(_ value: Double) -> String {
        switch abs(value) {
        case 100...: String(format: "%.0f", value)
        case 10...: String(format: "%.1f", value)
        case 1...: String(format: "%.2f", value)
        default: String(format: "%.3f", value)
        }
    }
}
