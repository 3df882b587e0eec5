/// Names and values in two columns, as `systemctl status` shows them.
struct Facts {
    private var rows: [(name: String, value: String)] = []

    /// Adds a fact; nil values are left out.
    mutating func add(_ name: String, _ value: String?) {
        guard let value else { return }
        rows.append((name, PrintableText.line(value)))
    }

    /// The lines, the names aligned to the right.
    var lines: [String] {
        let width = rows.map { DisplayWidth.of($0.name) }.max() ?? 0
        return rows.map { row in
            String(repeating: " ", count: width - DisplayWidth.of(row.name))
                + "\(row.name): \(row.value)"
        }
    }

    /// Writes them to standard output.
    func show() {
        for line in lines { Output.line(line) }
    }
}
