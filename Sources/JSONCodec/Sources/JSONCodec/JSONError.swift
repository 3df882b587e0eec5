/// The reason why a text was refused: the kind of error, its place, and what was expected and found there.
///
/// Texts of the document are not quoted, except the names of members, and the words found in place of one of a fixed
/// set.
public struct JSONError: Error, Sendable {
    /// The kind of an error, for callers that handle kinds differently.
    public enum Kind: Sendable, Hashable {
        /// The text is not JSON, or breaks one of this reader's rules (UTF-8, trailing bytes).
        case syntax
        /// The text nests deeper than the reader's limit.
        case depth
        /// A value is of another type than the declared one.
        case type
        /// A value has the right type, and is not one of those allowed: too big, not in the set.
        case value
        /// A declared member that must be there is absent.
        case missingMember
        /// A member that is not declared.
        case unknownMember
        /// A member that occurs twice in one object.
        case duplicateMember
    }

    /// The kind of the error.
    public var kind: Kind { details.kind }

    /// The number of bytes before the refused one, counted from the start of the reader's text.
    public var offset: Int { details.offset }

    /// The path to the refused value in the document, such as `items[3].fields`; empty for the whole document.
    public var path: String { details.path }

    /// The outermost member on the way, such as `items`; nil when the whole document is meant.
    public var member: String? { details.member }

    /// The expected content, such as `a string`.
    public var expected: String { details.expected }

    /// The content that was found, such as `a number`.
    public var found: String { details.found }

    // One reference, so that a throwing call's result stays as small as if it could not throw.
    private let details: Details

    init(kind: Kind, offset: Int, path: JSONPath, expected: String, found: String) {
        details = Details(
            kind: kind, offset: offset, path: path.description, member: path.outermostMember,
            expected: expected, found: found)
    }

    private final class Details: Sendable {
        let kind: Kind
        let offset: Int
        let path: String
        let member: String?
        let expected: String
        let found: String

        init(
            kind: Kind, offset: Int, path: String, member: String?, expected: String, found: String
        ) {
            self.kind = kind
            self.offset = offset
            self.path = path
            self.member = member
            self.expected = expected
            self.found = found
        }
    }
}

extension JSONError: CustomStringConvertible {
    /// The whole sentence, such as `items[3].id: expected a string, found a number (at byte 41)`.
    public var description: String {
        let place = path.isEmpty ? "" : "\(path): "
        return "\(place)expected \(expected), found \(found) (at byte \(offset))"
    }
}
