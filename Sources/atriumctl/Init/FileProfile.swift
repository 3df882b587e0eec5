import AtriumFormats
import Interfaces
import JSONCodec

/// What a file holds, column by column.
struct FileProfile {
    /// Columns that number the rows, or are unique by chance: they do not describe the item.
    private static let places: Set = [
        "position", "rank", "no", "nr", "index", "row", "number", "year", "jahr", "",
    ]
    /// Columns that are called like a title.
    private static let titles = [
        "title", "titel", "name", "film", "movie", "song", "track", "subject", "bezeichnung",
    ]

    /// The names in a table's first row; empty: it is no table.
    private var header: [String] = []
    private(set) var columns: [ColumnProfile] = []
    private(set) var rows = 0
    /// How many rows could not be read, and the first of them.
    private(set) var bad = 0
    private(set) var firstBad: String?
    private var places: [String: Int] = [:]
    private var allowsDecimalComma = false

    /// Looks through a file; throws for one that can't be read, or holds nothing.
    init(_ path: String, format: TextFormat? = nil) throws {
        var reader = try ImportReader(path, format: format)
        if let table = reader.table {
            header = table.columns
            allowsDecimalComma = table.allowsDecimalComma
        }
        for name in header where !name.isEmpty { _ = place(of: name) }
        while let piece = try reader.next() {
            do {
                guard let members = try Self.members(piece, header) else { continue }
                rows += 1
                for member in members where !member.name.isEmpty {
                    columns[place(of: member.name)].add(member.value)
                }
            } catch {
                bad += 1
                firstBad = firstBad ?? "line \(piece.line): \(error.reason)"
            }
        }
        for place in reader.table?.textColumns ?? [] where !header[place].isEmpty {
            columns[self.place(of: header[place])].isMarkedText = true
        }
        guard rows > 0 else {
            throw CommandFailure("\(path) holds no item", hint: firstBad)
        }
    }

    private static func members(
        _ piece: FormatPiece, _ names: [String]
    ) throws(ImportLineError) -> [JSONValue.Member]? {
        switch piece.content {
        case .bad(let problem): throw ImportLineError(problem, line: piece.line)
        case .row(let cells): return zip(names, cells).map { .init($0, .string($1)) }
        case .json(let bytes):
            switch try ImportLine(bytes, line: piece.line, column: piece.column) {
            case .nothing: return nil
            case .record:
                throw ImportLineError(reason: "a record of an export, which has its definition")
            case .flat(let members): return members
            case .item(let item):
                let parent = item.parent.map { [JSONValue.Member("parent", .string($0))] } ?? []
                return [.init("id", .string(item.id))] + parent + (item.fields.value.object ?? [])
            }
        }
    }

    private mutating func place(of name: String) -> Int {
        if let place = places[name] { return place }
        columns.append(ColumnProfile(name, allowsDecimalComma: allowsDecimalComma))
        places[name] = columns.count - 1
        return columns.count - 1
    }

    /// Where a column stands in the file, from 1.
    func place(of column: ColumnProfile) -> Int {
        (header.firstIndex(of: column.name) ?? places[column.name] ?? 0) + 1
    }

    /// The columns that become fields.
    var fields: [ColumnProfile] {
        columns.filter {
            $0.choice.type != nil && !["id", "parent"].contains(ItemText.plain($0.name))
        }
    }

    /// The column that people know an item by.
    var title: ColumnProfile? {
        let texts = fields.filter { $0.choice == .init(type: "text") }
        return Self.titles.lazy.compactMap { name in
            texts.first { ItemText.plain($0.name) == name }
        }
        .first ?? texts.first
    }

    /// The columns that ids are made of; empty: there is a column `id`.
    var id: [ColumnProfile] {
        let id = columns.first { ItemText.plain($0.name) == "id" }
        if let id, id.filled == rows { return [] }
        // 'import --id' has commas between columns.
        let fields = fields.filter { !$0.name.contains(",") }
        let whole = fields.filter { $0.isUnique && $0.filled == rows && $0.longest <= 100 }
        let known = whole.first {
            ["text", "integer"].contains($0.choice.type) && !$0.isMoment
                && !Self.places.contains(ItemText.plain($0.name))
        }
        if let known { return [known] }
        let year = fields.first { ItemText.plain($0.name) == "year" }
        if let title, !title.name.contains(",") { return [title, year].compactMap { $0 } }
        return Array(whole.prefix(1))
    }

    /// Whether items have ids: 'import' finds or makes them.
    var hasIDs: Bool { !id.isEmpty || columns.contains { ItemText.plain($0.name) == "id" } }

    /// Two columns that 'import' takes for one, as it does not regard case; nil: all differ.
    var sameNames: (one: String, other: String)? {
        var known: [String: String] = [:]
        for name in header.isEmpty ? columns.map(\.name) : header where !name.isEmpty {
            let plain = ItemText.plain(name)
            if let other = known.updateValue(name, forKey: plain.isEmpty ? name : plain) {
                return (other, name)
            }
        }
        return nil
    }
}
