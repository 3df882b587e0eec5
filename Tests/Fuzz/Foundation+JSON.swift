import Foundation
import JSONCodec

/// Foundation's reader as the oracle.
enum Reference {
    /// The tree that Foundation reads; nil where it refuses the text.
    static func read(_ text: some Collection<UInt8>) -> Any? {
        try? JSONSerialization.jsonObject(with: Data(text), options: .fragmentsAllowed)
    }

    /// Whether Foundation is known to read what was refused for this reason.
    static func isLenient(where error: JSONError, _ bytes: UnsafeRawBufferPointer) -> Bool {
        switch error.kind {
        case .duplicateMember, .depth: true
        // Beyond the range of `Double`.
        case .value: error.expected == "a number within the range of a 64-bit float"
        // A comma behind the last element; UTF-16 and UTF-32; a byte order mark.
        case .syntax:
            followsComma(error.offset, bytes) || bytes.contains(0)
                || bytes.prefix(3).elementsEqual([0xEF, 0xBB, 0xBF])
        default: false
        }
    }

    /// Whether an array or object ends here, just behind a comma.
    private static func followsComma(_ offset: Int, _ bytes: UnsafeRawBufferPointer) -> Bool {
        guard offset < bytes.count, [UInt8(ascii: "]"), UInt8(ascii: "}")].contains(bytes[offset])
        else { return false }
        return bytes[..<offset].last { $0 > 0x20 } == UInt8(ascii: ",")
    }

    /// Whether Foundation's tree means the same as ours.
    static func isEqual(_ ours: JSONValue, _ theirs: Any) -> Bool {
        switch ours {
        case .null: return theirs is NSNull
        case .bool(let value): return theirs as? Bool == value
        case .int(let value): return (theirs as? NSNumber)?.int64Value == value
        case .double(let value):
            return (theirs as? NSNumber).map { isNear($0.doubleValue, value) } ?? false
        case .string(let value):
            return (theirs as? String).map { isEqual(value, $0) } ?? false
        case .array(let elements):
            guard let array = theirs as? [Any], array.count == elements.count else { return false }
            return zip(elements, array).allSatisfy { isEqual($0, $1) }
        case .object(let members):
            guard let object = theirs as? [String: Any] else { return false }
            let spelled = Set(members.map { Array($0.name.utf8) })
            guard spelled.count == members.count else { return false }
            // A dictionary holds canonically equivalent names for one.
            let names = Set(members.map(\.name))
            guard object.count == names.count || members.contains(where: hasMark) else {
                return false
            }
            guard object.count == members.count, !members.contains(where: hasMark) else {
                return true
            }
            return members.allSatisfy { member in
                object[member.name].map { isEqual(member.value, $0) } ?? false
            }
        }
    }

    /// Whether both are the same bytes: Swift holds canonically equivalent strings for equal.
    ///
    /// Foundation takes U+FEFF for a byte order mark, also within strings, and drops it.
    private static func isEqual(_ ours: String, _ theirs: String) -> Bool {
        ours.unicodeScalars.filter { $0 != mark }.elementsEqual(
            theirs.unicodeScalars.filter { $0 != mark })
    }

    private static func hasMark(_ member: JSONValue.Member) -> Bool {
        member.name.unicodeScalars.contains(mark)
    }

    private static let mark: Unicode.Scalar = "\u{FEFF}"

    /// Whether both are the same number, but for the last digits.
    ///
    /// Foundation reads into decimal numbers, whose way to `Double` rounds more than once.
    private static func isNear(_ left: Double, _ right: Double) -> Bool {
        left == right || abs(left - right) <= max(1e-13 * abs(right), 1e-300)
    }
}
