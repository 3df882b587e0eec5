import AtriumFormats
import AtriumKit
import Glibc
import ItemReading

/// A file, and how what it has becomes items; read off the loop.
struct FileSource: Sendable {
    let path: String
    private let format: TextFormat?
    private let delimiter: UInt8?
    private let mapping: ItemMapping
    private let mostItems: Int
    private let mostBytes: Int

    private static let path = Setting.path(
        "path",
        "the file; or, with 'file', the folder that it is in: then a worker need not be started again when another "
            + "file takes its place"
    ).required()
    private static let file = Setting.text("file", "the file's name in the folder that 'path' is")
    private static let format = Setting.choice(
        "format", of: TextFormat.self,
        "what the file is; by default found from its name's ending, or from how it begins")
    private static let delimiter = Setting.text(
        "delimiter",
        "what separates the cells of a table, such as ';'; by default the comma, semicolon or tab that its first "
            + "row has most of")
    private static let names = ItemMapping.Names(
        id:
            "where ids are: a column, a member or a JSON Pointer; of several, with commas between, they are made: "
            + "'title,year' gives alien-1979",
        parent: "where the id of the item is that an item lies under, likewise",
        fields:
            "fields whose columns or members have other names: { title: Name, year: /dates/year }"
    )
    private static let separator = Setting.text(
        "separator", "what separates keywords in a text; by default '|', ';' or ','")
    private static let maxItems = Setting.integer(
        "maxItems", in: 1...5_000_000, "how many items it may have"
    ).defaulting(to: 1_000_000)
    private static let maxMegabytes = Setting.integer(
        "maxMegabytes", in: 1...4_096, "how large it may be"
    ).defaulting(to: 256)

    static var settings: [Setting] {
        [path.setting, file.setting, format.setting, delimiter.setting] + names.settings
            + [separator.setting, maxItems.setting, maxMegabytes.setting]
    }

    init(_ context: ComponentContext) throws(SettingError) {
        let settings = context.settings
        path = try Self.path(settings)
        let ending = path.split(separator: "/").last?.split(separator: ".").last?.lowercased()
        format = settings[Self.format] ?? Self.formats[ending ?? ""]
        let tab = ending == "tsv" ? UInt8(ascii: "\t") : nil
        delimiter =
            try Self.character(Self.delimiter, settings).map { UInt8(truncatingIfNeeded: $0.value) }
            ?? tab
        mapping = try ItemMapping(
            context, Self.names, separator: Self.character(Self.separator, settings))
        mostItems = settings[Self.maxItems]
        mostBytes = settings[Self.maxMegabytes] << 20
    }

    private static let formats: [String: TextFormat] = [
        "json": .json, "ndjson": .ndjson, "jsonl": .ndjson, "csv": .csv, "tsv": .csv,
    ]

    private static func path(_ settings: Settings) throws(SettingError) -> String {
        let path = settings[Self.path]
        guard let file = settings[Self.file] else { return path }
        guard !file.isEmpty, !file.contains("/"), !file.utf8.contains(0), file != "..", file != "."
        else {
            throw SettingError("file", "expected a name in the folder of 'path', found '\(file)'")
        }
        return path.hasSuffix("/") ? path + file : "\(path)/\(file)"
    }

    /// A setting of one ASCII character; `\t` is a tab.
    private static func character(
        _ setting: TypedSetting<String?>, _ settings: Settings
    ) throws(SettingError) -> Unicode.Scalar? {
        guard let text = settings[setting] else { return nil }
        if text == "\\t" { return "\t" }
        guard text.unicodeScalars.count == 1, let scalar = text.unicodeScalars.first,
            scalar.isASCII, scalar != "\"", scalar != "\n", scalar != "\r"
        else {
            throw SettingError(setting.name, "expected one character such as ';', found '\(text)'")
        }
        return scalar
    }
}

/// What came of reading a file.
struct FileReading: Sendable {
    /// The file as it was read; nil: it may have changed since without anybody's notice.
    var stamp: FileStamp?
    /// Where the file lies, as far as links lead to it; nil: where it is said to.
    var target: String?
    /// What is other than before; nil: nothing, the file is the same.
    var difference: ItemDifference?
}

extension FileSource {
    /// Reads the file, unless it is as it was read last; returns what differs from what it had then.
    func read(
        unless stamp: FileStamp?, _ known: [String: Item], isFirst: Bool
    ) async throws -> FileReading {
        let text = try FileText(path, mostBytes: mostBytes)
        if let stamp, stamp == text.stamp { return FileReading(stamp: stamp, target: target) }
        do {
            let items = try await items(of: text)
            return FileReading(
                stamp: text.stamp.isSettled ? text.stamp : nil, target: target,
                difference: ItemDifference(items, from: known, isFirst: isFirst))
        } catch let problem as FormatProblem {
            throw FileProblem(path, "\(problem)")
        }
    }

    private var target: String? {
        guard let real = realpath(path, nil) else { return nil }
        defer { free(real) }
        let target = String(cString: real)
        return target == path ? nil : target
    }

    private func items(of text: FileText) async throws -> [String: Item] {
        let sample = try text.sample()
        // Whatever its name says, UTF-16 is none of the formats.
        if format == nil || PlainText.utf16(sample) != nil,
            let other = TextFormat.foreign(sample)
        {
            throw FormatProblem(reason: "it is \(other.name)", hint: other.hint)
        }
        let format = format ?? .recognize(sample)
        guard format == .csv else {
            var objects = ObjectMapping(mapping)
            return try await collect(try format.reader(text, sample: sample), text) { piece in
                guard case .json(let bytes) = piece.content else { return nil }
                return try objects.item(bytes, piece)
            }
        }
        guard sample.contains(where: { !" \t\r\n".utf8.contains($0) }) else {
            throw FormatProblem(reason: "it is empty: the first row of a table names its columns")
        }
        var layout = CSVLayout(sample)
        if let delimiter { layout.delimiter = delimiter }
        let table = try CSVReader(text, layout: layout)
        let rows = try RowMapping(table, mapping)
        return try await collect(table, text) { piece in
            guard case .row(let cells) = piece.content else { return nil }
            return try rows.item(cells, line: piece.line)
        }
    }

    /// The items of all pieces.
    private func collect(
        _ reader: some FormatReader, _ text: FileText, _ item: (FormatPiece) throws -> Item?
    ) async throws -> [String: Item] {
        var (reader, pieces) = (reader, text.pieces)
        var items: [String: Item] = [:]
        var lines: [String: Int] = [:]
        while let piece = try reader.next() {
            if text.pieces != pieces {
                // Others read files on these threads too.
                await Task.yield()
                pieces = text.pieces
            }
            if case .bad(let problem) = piece.content { throw problem }
            guard let item = try item(piece) else { continue }
            if let before = lines.updateValue(piece.line, forKey: item.id) {
                throw FormatProblem(
                    line: piece.line,
                    reason: "the id '\(item.id)' stands here again; it is that of line \(before)")
            }
            items[item.id] = item
            guard items.count <= mostItems else {
                let most = "the setting 'maxItems' allows: \(mostItems)"
                throw FormatProblem(
                    line: piece.line, reason: "here begins one item more than \(most)")
            }
        }
        return items
    }
}
