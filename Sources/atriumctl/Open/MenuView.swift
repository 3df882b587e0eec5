extension Menu {
    /// Its title with the query; nil: there is none.
    func inputRow(columns: Int) -> InputRow? {
        query.map {
            InputRow(Span(title, .bold), mark: Span(" /", .key), $0, columns: columns)
        }
    }

    /// Its title, and those of its choices in sight.
    func rows(_ choices: [Choice], columns: Int, height: Int) -> [ViewRow] {
        let title = inputRow(columns: columns)?.spans ?? [Span(self.title, .bold)]
        var shown = [ViewRow(title)]
        for (index, choice) in choices.enumerated().dropFirst(offset) {
            guard shown.count < height else { break }
            guard choice.action != nil else {
                shown.append(ViewRow([Span(" \(choice.title)", .bold)]))
                continue
            }
            let isHere = index == cursor
            let mark = choice.isOn.map { $0 ? "[✓] " : "[ ] " } ?? "    "
            let look = Look(isBold: choice.isOn == true, isReverse: isHere)
            let detail = CellText(choice.detail)
            let room = min(columns - 8, 60) - detail.width - 2
            shown.append(
                ViewRow(
                    [
                        Span("  \(mark)", look), Span(CellText(choice.title).filling(room), look),
                        Span("  ", look), Span(detail, look),
                    ], at: .choice(index)))
        }
        if choices.isEmpty {
            shown.append(ViewRow([Span("  nothing matches '\(query?.text ?? "")'", .dim)]))
        }
        return shown
    }
}
