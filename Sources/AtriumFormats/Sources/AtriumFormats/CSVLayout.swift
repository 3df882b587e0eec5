/// The characters that a table is laid out with.
public struct CSVLayout: Sendable, Equatable {
    /// What ends a cell.
    public var delimiter = UInt8(ascii: ",")
    /// What ends a row.
    public private(set) var newline = UInt8(ascii: "\n")
    /// Whether the first line names the delimiter, as spreadsheets write it: `sep=;`.
    public private(set) var isDeclared = false

    /// Finds them: the delimiter is the one that stands most often in the first line.
    ///
    /// - Parameter sample: How the table begins.
    public init(_ sample: ArraySlice<UInt8>) {
        if !sample.contains(newline), sample.contains(UInt8(ascii: "\r")) {
            newline = UInt8(ascii: "\r")
        }
        let first = sample.prefix { $0 != newline && $0 != UInt8(ascii: "\r") }
        let known = [UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "\t")]
        if first.count == 5, first.starts(with: Array("sep=".utf8)), let last = first.last {
            delimiter = last
            isDeclared = true
            return
        }
        var counts = [0, 0, 0]
        var isQuoted = false
        for byte in sample {
            if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
            guard !isQuoted else { continue }
            if byte == newline { break }
            if let place = known.firstIndex(of: byte) { counts[place] += 1 }
        }
        let most = counts.max() ?? 0
        delimiter = counts.firstIndex(of: most).map { known[$0] } ?? delimiter
    }

    /// The delimiter, for messages.
    var delimiterName: String {
        delimiter == UInt8(ascii: "\t") ? "tab" : String(UnicodeScalar(delimiter))
    }
}
