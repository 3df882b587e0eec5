/// A problem in a definition, with its place.
public struct DefinitionProblem: Error, Sendable, Hashable, CustomStringConvertible {
    /// The file's name as the caller gave it.
    public var file: String
    /// The line, from 1.
    public var line: Int
    /// The column, from 1.
    public var column: Int
    /// The key or value that is wrong, and what would be right.
    public var reason: String
    /// The advice for the author; nil if the reason says enough.
    public var hint: String?

    /// `FILE:LINE:COLUMN: REASON (HINT)`, the form that editors jump to.
    public var description: String {
        "\(file):\(line):\(column): \(reason)" + (hint.map { " (\($0))" } ?? "")
    }
}
