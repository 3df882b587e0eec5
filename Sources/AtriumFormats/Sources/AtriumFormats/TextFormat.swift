internal import JSONCodec

/// What a text of many items may be.
public enum TextFormat: String, Sendable, CaseIterable {
    /// Objects, a line each.
    case ndjson
    /// An array of objects.
    case json
    /// A table: the first row names the columns.
    case csv

    /// What a text is, by its first bytes, of which 64 KiB do; what begins like no JSON is a table.
    public static func recognize(_ sample: ArraySlice<UInt8>) -> TextFormat {
        let text = sample.drop(while: JSONScan.isSpace)
        switch text.first {
        case nil: return .ndjson
        case UInt8(ascii: "["): return .json
        case UInt8(ascii: "{"): return isDocument(text) ? .json : .ndjson
        default: return .csv
        }
    }

    /// What a file is that is none of the formats, by how it begins, as in "is XML or HTML", with a sentence on what
    /// to do; nil where it may be one.
    public static func foreign(_ sample: ArraySlice<UInt8>) -> (name: String, hint: String)? {
        if let kind = kinds.first(where: { sample.starts(with: $0.mark) }) {
            return (kind.name, kind.hint)
        }
        if sample.drop(while: JSONScan.isSpace).first == UInt8(ascii: "<") {
            return ("XML or HTML", "export it as CSV or JSON where it comes from.")
        }
        if isOneValue(sample) {
            return (
                "one value of JSON, and no items",
                "an array of objects, or an object in each line, can be read."
            )
        }
        if let encoding = PlainText.utf16(sample) {
            return ("UTF-16, not UTF-8", "`iconv -f \(encoding) -t UTF-8` converts it.")
        }
        if let line = PlainText.lineOfNUL(sample) {
            return ("no text: line \(line) has a NUL byte", readable)
        }
        // One that got into a text is no reason; among random bytes they are every tenth.
        let controls = sample.count { $0 < 0x20 && !(0x09...0x0D).contains($0) }
        guard controls > 2, controls * 20 > sample.count else { return nil }
        return (
            "no text: \(controls) of its first \(sample.count) bytes are control characters",
            readable
        )
    }

    private static let readable = "CSV and JSON can be read."

    /// How other files begin.
    private static let kinds: [(mark: [UInt8], name: String, hint: String)] = {
        let export = "save or export what is in it as CSV or JSON, and take that."
        let unpack = "unpack it, and take what is in it."
        return [
            (
                Array("PK\u{3}\u{4}".utf8), "a spreadsheet's own file, or a zip archive",
                "save the sheet as CSV, or unpack the archive, and take that."
            ),
            (
                Array("SQLite format 3\0".utf8),
                "a database of SQLite, such as a backup of the whole store",
                "'atriumctl restore' puts a backup back; of another database take a table as CSV or JSON."
            ),
            (Array("%PDF-".utf8), "a PDF document", export),
            ([0xD0, 0xCF, 0x11, 0xE0], "an older document of an office suite", export),
            (Array("{\\rtf".utf8), "a document in RTF", export),
            (Array("BZh".utf8), "packed by bzip2", unpack),
            ([0xFD, 0x37, 0x7A, 0x58, 0x5A, 0], "packed by xz", unpack),
            ([0x28, 0xB5, 0x2F, 0xFD], "packed by zstd", unpack),
            ([0x37, 0x7A, 0xBC, 0xAF, 0x27, 0x1C], "an archive of 7-Zip", unpack),
            (Array("Rar!".utf8), "a RAR archive", unpack),
            ([0x89, 0x50, 0x4E, 0x47], "a picture", readable),
            ([0xFF, 0xD8, 0xFF], "a picture", readable),
            (Array("GIF8".utf8), "a picture", readable),
            ([0x7F, 0x45, 0x4C, 0x46], "a program", readable),
        ]
    }()

    /// Whether a text is one line of JSON with one value, such as `null`, which would be the name of a column.
    ///
    /// `"id"` is a table without items.
    private static func isOneValue(_ sample: ArraySlice<UInt8>) -> Bool {
        let text = sample.drop(while: JSONScan.isSpace)
        guard text.count < 1000,
            let line = String(validating: text, as: UTF8.self).map(ItemText.trimmed),
            !line.contains(where: \.isNewline),
            let value = try? JSONValue(keepingDigits: Array(line.utf8))
        else { return false }
        switch value {
        case .null, .bool, .int, .double: return true
        // Numbers that 64 bits don't hold are read as texts, too.
        case .string(let text): return ItemText.plain(text) != "id"
        case .array, .object: return false
        }
    }

    /// What reads a text of this format; throws for a table whose first row can't be read.
    public func reader(_ text: any TextChunks, sample: ArraySlice<UInt8>) throws -> any FormatReader
    {
        switch self {
        case .ndjson: LineReader(text)
        case .json: JSONElementReader(text)
        case .csv: try CSVReader(text, layout: CSVLayout(sample))
        }
    }

    /// Whether one object goes over several lines, or is but the wrapping of an array of objects.
    private static func isDocument(_ text: ArraySlice<UInt8>) -> Bool {
        let end = text.firstIndex(of: UInt8(ascii: "\n"))
        let line = text[..<(end ?? text.endIndex)]
        let rest = end.map { text[$0...].drop(while: JSONScan.isSpace) } ?? []
        var scan = JSONScan()
        for byte in line { scan.consume(byte) }
        let goesOn = scan.depth > 0 && !rest.isEmpty
        // A line that is broken off stays a bad line where objects follow.
        let opensArray = line.last { !JSONScan.isSpace($0) } == UInt8(ascii: "[")
        if goesOn, rest.first != UInt8(ascii: "{") || opensArray { return true }
        return (goesOn || rest.isEmpty) && JSONScan.wrapsArray(line)
    }
}
