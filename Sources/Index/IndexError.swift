/// Why a query has no answer.
public enum IndexError: Error, Sendable, Hashable, CustomStringConvertible {
    /// There is no such field to sort by; `known` are the fields that exist.
    case sortFieldUnknown(field: String, known: [String])
    /// The cursor cannot be used for this query.
    case cursorInvalid(reason: String)

    /// One sentence with the problem and what to do.
    public var description: String {
        switch self {
        case .sortFieldUnknown(let field, let known):
            "Cannot sort by '\(field)'; there are: \(known.joined(separator: ", "))."
        case .cursorInvalid(let reason):
            "\(reason) Start again without a cursor."
        }
    }
}
