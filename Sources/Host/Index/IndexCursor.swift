import AtriumKit
import Foundation
import JSONCodec

/// A cursor is the place of a page's last row, not the row itself: it stays right while items come
/// and go. Its text is base64url of JSON: the sort it belongs to, a value for each key, and the id.
extension RowOrder {
    /// The cursor of the page behind a row.
    func cursor(after row: Int) -> String {
        let position = position(of: row)
        let values = position.values.map { value -> Value in
            switch value {
            case .missing: .null
            case .number(let number): .number(number)
            case .text(let text): .text(text.text)
            }
        }
        let cursor = Value.object([
            "sort": .list(sort.map(Value.text)), "values": .list(values), "id": .text(position.id),
        ])
        return Data(cursor.jsonBytes).base64EncodedString()
            .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    /// The position that a cursor stands for.
    ///
    /// - Throws: ``IndexError/cursorInvalid(reason:)`` when it is none of ours, or belongs to
    ///   another
    ///   sort.
    func position(cursor text: String) throws(IndexError) -> Position {
        let base64 = text.replacing("-", with: "+").replacing("_", with: "/")
        let padding = String(repeating: "=", count: (4 - base64.utf8.count % 4) % 4)
        guard let data = Data(base64Encoded: base64 + padding),
            let cursor = (try? Value(jsonBytes: Array(data)))?.object,
            let sort = cursor["sort"]?.list?.compactMap(\.text),
            let values = cursor["values"]?.list, let id = cursor["id"]?.text
        else { throw .cursorInvalid(reason: "This is not a cursor that a list has given out.") }
        guard sort == self.sort else {
            throw .cursorInvalid(
                reason: "The cursor belongs to the sort \(inWords(sort)), the call sorts by "
                    + "\(inWords(self.sort)).")
        }
        let position = Position(values: values.map(sortValue), id: id)
        guard accepts(position) else {
            throw .cursorInvalid(
                reason: "The cursor was given out when the fields it sorts by had other types.")
        }
        return position
    }

    private func inWords(_ sort: [String]) -> String {
        "'\(sort.isEmpty ? "id" : sort.joined(separator: ", "))'"
    }

    private func sortValue(_ value: Value) -> SortValue {
        if let text = value.text { return .text(FoldedText(text)) }
        return value.number.map(SortValue.number) ?? .missing
    }
}
