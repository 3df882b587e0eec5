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
        if sample.starts(with: Array("PK\u{3}\u{4}".utf8)) {
            return (
                "a spreadsheet's own file, or a zip archive",
                "save the sheet as CSV, or unpack the archive, and take that."
            )
        }
        if sample.drop(while: JSONScan.isSpace).first == UInt8(ascii: "<") {
            return ("XML or HTML", "export it as CSV or JSON where it comes from.")
        }
        if sample.starts(with: Array("SQLite format 3\0".utf8)) {
            return (
                "a database of SQLite, such as a backup of the whole store",
                "'atriumctl restore' puts a backup back; of another database take a table as CSV or JSON."
            )
        }
        if let encoding = PlainText.utf16(sample) {
            return ("UTF-16, not UTF-8", "`iconv -f \(encoding) -t UTF-8` converts it.")
        }
        return PlainText.lineOfNUL(sample).map {
            ("no text: line \($0) has a NUL byte", "CSV and JSON can be read.")
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
