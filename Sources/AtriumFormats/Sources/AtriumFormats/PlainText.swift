/// Text of files that people write, which is to be UTF-8.
public enum PlainText {
    /// What bytes are that are no such text.
    public struct Problem: Error, Sendable, Equatable {
        /// What they are, and what to do, as in "it is UTF-16, …".
        public let reason: String
    }

    /// The text of a whole file, without a byte order mark; throws for bytes that are not UTF-8, or have NUL bytes.
    public static func decode(_ bytes: [UInt8]) throws(Problem) -> String {
        if let encoding = utf16(bytes[...]) {
            throw Problem(
                reason: "UTF-16, not UTF-8: `iconv -f \(encoding) -t UTF-8` converts it")
        }
        if let line = lineOfNUL(bytes[...]) {
            throw Problem(reason: "no text: line \(line) has a NUL byte")
        }
        let text = bytes.starts(with: mark) ? bytes.dropFirst(mark.count) : bytes[...]
        if let text = String(validating: text, as: UTF8.self) { return text }
        throw Problem(reason: notUTF8(bytes))
    }

    /// Takes off the byte order mark that some programs write before a text in UTF-8.
    public static func removeMark(from bytes: inout [UInt8]) {
        if bytes.starts(with: mark) { bytes.removeFirst(mark.count) }
    }

    /// The name of the encoding, for `iconv`, of bytes that begin as UTF-16; nil: they don't.
    public static func utf16(_ sample: ArraySlice<UInt8>) -> String? {
        if sample.starts(with: [0xFF, 0xFE]) || sample.starts(with: [0xFE, 0xFF]) {
            return "UTF-16"
        }
        switch sample.prefix(4).map({ $0 == 0 }) {
        case [false, true, false, true]: return "UTF-16LE"
        case [true, false, true, false]: return "UTF-16BE"
        default: return nil
        }
    }

    /// The line of the first NUL byte, from 1; nil: there is none.
    static func lineOfNUL(_ bytes: ArraySlice<UInt8>) -> Int? {
        bytes.firstIndex(of: 0).map { line(of: $0, in: bytes) }
    }

    private static let mark: [UInt8] = [0xEF, 0xBB, 0xBF]

    private static func line(of place: Int, in bytes: ArraySlice<UInt8>) -> Int {
        bytes[..<place].count { $0 == UInt8(ascii: "\n") } + 1
    }

    private static func notUTF8(_ bytes: [UInt8]) -> String {
        var (decoder, iterator) = (UTF8(), bytes.makeIterator())
        var place = 0
        while case .scalarValue(let scalar) = decoder.decode(&iterator) {
            place += UTF8.width(scalar)
        }
        guard place < bytes.count else { return "not UTF-8" }
        let byte = String(bytes[place], radix: 16, uppercase: true)
        return "not UTF-8: line \(line(of: place, in: bytes[...])) has the byte 0x\(byte); "
            + "`iconv -f WINDOWS-1252 -t UTF-8` converts older text of Windows"
    }
}
