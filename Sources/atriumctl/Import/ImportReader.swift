import ArgumentParser

/// What an import reads, a piece for each item or record.
protocol ImportReader {
    /// How many bytes the file has, where that is known.
    var size: Int? { get }
    /// How many bytes of it were read.
    var position: Int { get }

    /// The next piece; nil at the end.
    ///
    /// - Throws: ``CommandFailure`` where nothing more can be read.
    mutating func next() throws -> ImportPiece?
}

/// What stands for one item or record.
struct ImportPiece: Equatable {
    /// What was read.
    enum Content: Equatable {
        /// A line, or an element of an array.
        case json([UInt8])
        /// The cells of a row, one for each column.
        case row([String])
        /// Something that is none, and why.
        case bad(ImportLineError)
    }

    /// The line that it begins in, from 1.
    var line: Int
    /// The column that JSON begins in, from 1.
    var column = 1
    var content: Content
}

/// What a file may be that is imported.
enum ImportFormat: String, CaseIterable, ExpressibleByArgument {
    /// Objects, a line each.
    case ndjson
    /// An array of objects.
    case json
    /// A table: the first row names the columns.
    case csv
}

/// Opens files to import.
enum ImportFile {
    /// Opens a file, and finds out what it is.
    ///
    /// - Parameters:
    ///   - path: Where it is; `-` is standard input.
    ///   - format: What it is, where somebody said so.
    /// - Returns: What reads it.
    /// - Throws: ``CommandFailure`` for a file that is none of the formats.
    static func open(_ path: String, format: ImportFormat? = nil) throws -> any ImportReader {
        var source = try TextSource(path)
        let path = path == "-" ? "standard input" : path
        let sample = try source.sample()
        if format == nil, let other = kind(of: sample) {
            throw CommandFailure("\(path) is \(other.name)", hint: other.hint)
        }
        return switch format ?? recognize(sample) {
        case .ndjson: LineReader(source)
        case .json: JSONElementReader(source, path: path)
        case .csv: try CSVReader(source, sample: sample, path: path)
        }
    }

    /// What a text is, by how it begins.
    static func recognize(_ sample: ArraySlice<UInt8>) -> ImportFormat {
        let text = sample.drop(while: JSONScan.isSpace)
        switch text.first {
        case nil: return .ndjson
        case UInt8(ascii: "["): return .json
        case UInt8(ascii: "{"): return isDocument(text) ? .json : .ndjson
        default: return .csv
        }
    }

    /// Whether one object goes over several lines, or is but the wrapping of an array of objects.
    private static func isDocument(_ text: ArraySlice<UInt8>) -> Bool {
        let end = text.firstIndex(of: UInt8(ascii: "\n"))
        let line = text[..<(end ?? text.endIndex)]
        let rest = end.map { text[$0...].drop(while: JSONScan.isSpace) } ?? []
        var scan = JSONScan()
        for byte in line { scan.take(byte) }
        let goesOn = scan.depth > 0 && !rest.isEmpty
        // A line that is broken off stays a bad line where objects follow.
        if goesOn, rest.first != UInt8(ascii: "{") { return true }
        return (goesOn || rest.isEmpty) && JSONScan.wrapsArray(line)
    }

    /// What people try to import, and what they can do.
    private static func kind(of sample: ArraySlice<UInt8>) -> (name: String, hint: String)? {
        if sample.starts(with: Array("PK\u{3}\u{4}".utf8)) {
            return (
                "a spreadsheet's own file, or a zip archive",
                "save the sheet as CSV, or unpack the archive, and import that."
            )
        }
        if sample.drop(while: JSONScan.isSpace).first == UInt8(ascii: "<") {
            return ("XML or HTML", "export it as CSV or JSON where it comes from.")
        }
        if sample.contains(0) {
            return ("no text", "CSV and JSON can be imported, packed by gzip or not.")
        }
        return nil
    }
}
