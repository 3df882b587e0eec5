/// What is wrong with a definition, and where.
public struct DefinitionProblem: Error, Sendable, Hashable, CustomStringConvertible {
    /// The file's name as the caller gave it.
    public var file: String
    /// The line, from 1.
    public var line: Int
    /// The column, from 1.
    public var column: Int
    /// What is wrong: the key or value, and what would be right.
    public var reason: String
    /// What to do; nil where the reason says it all.
    public var hint: String?

    /// `FILE:LINE:COLUMN: REASON (HINT)`, the form that editors jump to.
    public var description: String {
        "\(file):\(line):\(column): \(reason)" + (hint.map { " (\($0))" } ?? "")
    }
}
