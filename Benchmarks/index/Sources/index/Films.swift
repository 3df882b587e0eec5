import AtriumKit

extension Database {
    /// Hands over the first films as items, a thousand at a time.
    func films(_ count: Int, _ body: ([Item]) -> Void) throws {
        var batch: [Item] = []
        try each("SELECT id, title, genre, duration, rating, year FROM movies LIMIT \(count)") {
            row in
            let number = row.text(0)
            let id = String(repeating: "0", count: 7 - number.count) + number
            batch.append(
                Item(
                    id: id,
                    fields: [
                        "title": .text(row.text(1)), "genre": .list([.text(row.text(2))]),
                        "duration": .int(row.integer(3)), "rating": .number(row.number(4)),
                        "year": .int(row.integer(5)),
                    ]))
            guard batch.count == 1_000 else { return }
            body(batch)
            batch = []
        }
        if !batch.isEmpty { body(batch) }
    }
}
