import AtriumKit
import Foundation
import JSONCodec

/// A cursor is the place of a page's last row, not the row itself: it stays valid while items are added and removed.
///
/// Its text is base64url of JSON: the sort it belongs to, a value for each key, and the id.
///
/// A long text is represented by the beginning of its folded form, by which texts are sorted first, and a digest. While
/// the item exists and has that text, its place is exact. Otherwise the page continues before all texts that begin so
/// when they are folded: a few items may come twice, and none is left out.
extension RowOrder {
    /// The maximum length of a text, in bytes, that a cursor has as a whole.
    private static let longestText = 256
    /// The longest cursor, in bytes, that is read.
    private static let longestCursor = 64 << 10

    /// The cursor of the page behind a row.
    func cursor(after row: Int) -> String {
        let position = position(of: row)
        let values = position.values.map { value -> Value in
            switch value {
            case .missing: .null
            case .number(let number): .number(number)
            case .text(let text): Self.cursorValue(text)
            case .start(let start): .object(["folded": .text(start.text)])
            }
        }
        let cursor = Value.object([
            "sort": .list(sort.map(Value.text)), "values": .list(values), "id": .text(position.id),
        ])
        return Data(cursor.jsonBytes)
            .base64EncodedString(options: [.base64URLAlphabet, .omitPaddingCharacter])
    }

    /// Returns the position at which the page of a query begins, nil for the start; throws what ``position(cursor:)``
    /// does.
    func position(of query: IndexQuery) throws(IndexError) -> Position? {
        guard let cursor = query.cursor else { return nil }
        return try position(cursor: cursor)
    }

    /// Returns the position that a cursor stands for; throws if this index did not make it, or it belongs to another
    /// sort.
    func position(cursor text: String) throws(IndexError) -> Position {
        guard text.utf8.count <= Self.longestCursor else {
            throw .cursorInvalid(
                reason: "The cursor has \(text.utf8.count) bytes, and none is longer than "
                    + "\(Self.longestCursor).")
        }
        var base64 = Data(text.utf8.map(Self.base64))
        base64.append(
            contentsOf: repeatElement(UInt8(ascii: "="), count: (4 - base64.count % 4) % 4))
        guard let data = Data(base64Encoded: base64),
            let cursor = (try? Value(jsonBytes: Array(data)))?.object,
            let sort = cursor["sort"]?.list?.compactMap(\.text),
            let values = cursor["values"]?.list, let id = cursor["id"]?.text
        else { throw .cursorInvalid(reason: "This is not a cursor that a list has given out.") }
        guard sort == self.sort else {
            throw .cursorInvalid(
                reason: "The cursor belongs to the sort \(inWords(sort)), the call sorts by "
                    + "\(inWords(self.sort)).")
        }
        let position = Position(
            values: values.enumerated().compactMap { sortValue($1, key: $0, of: id) }, id: id)
        guard accepts(position) else {
            throw .cursorInvalid(
                reason: "The cursor was given out when the fields it sorts by had other types.")
        }
        return position
    }

    /// The character of base64 (RFC 4648, section 4) for one of base64url (section 5).
    private static func base64(_ character: UInt8) -> UInt8 {
        switch character {
        case UInt8(ascii: "-"): UInt8(ascii: "+")
        case UInt8(ascii: "_"): UInt8(ascii: "/")
        default: character
        }
    }

    private func inWords(_ sort: [String]) -> String {
        "'\(sort.isEmpty ? "id" : sort.joined(separator: ", "))'"
    }

    /// Returns the sort value that a value of a cursor stands for; nil: it stands for none.
    private func sortValue(_ value: Value, key: Int, of id: String) -> SortValue? {
        if let text = value.text { return .text(FoldedText(text)) }
        guard let start = value.object?["folded"]?.text else {
            return value.isNull ? .missing : value.number.map(SortValue.number)
        }
        guard key < keys.count, case .text(let column) = keys[key].column else { return nil }
        if let code = table.row(of: id).flatMap(column.sortCode) {
            let text = column.values.text(of: code)
            if .text(text.cursorDigest) == value.object?["digest"] {
                return .text(FoldedText(text))
            }
        }
        return .start(Array(start.utf8))
    }

    private static func cursorValue(_ text: FoldedText) -> Value {
        guard text.text.utf8.count > longestText else { return .text(text.text) }
        var end = min(longestText, text.folded.count)
        // Not within a scalar; what follows it does not matter, for bytes are compared.
        while end < text.folded.count, text.folded[end] & 0xC0 == 0x80 { end -= 1 }
        return .object([
            "folded": .text(text.folded[..<end].text), "digest": .text(text.text.cursorDigest),
        ])
    }
}

extension Collection<UInt8> {
    fileprivate var text: String { String(decoding: self, as: UTF8.self) }
}

extension String {
    /// Distinguishes a text from others with the same beginning: FNV-1a of its bytes, the same in each process.
    fileprivate var cursorDigest: String {
        String(
            utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }, radix: 36)
    }
}
