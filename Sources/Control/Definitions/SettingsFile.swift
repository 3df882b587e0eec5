import AtriumKit

/// The daemon's configuration file, checked before it is read: a mapping of known keys to scalars or
/// lists of scalars.
public enum SettingsFile {
    /// Refuses unknown keys and nested values.
    ///
    /// - Parameters:
    ///   - text: YAML.
    ///   - file: its path, for messages.
    ///   - known: the keys that mean something.
    /// - Throws: ``DefinitionProblem`` with line, column and the nearest known key.
    public static func check(
        _ text: String, file: String, known: [String]
    ) throws(DefinitionProblem) {
        guard let root = try DefinitionReader.documents(of: text, file: file).first else { return }
        for (key, member) in try root.members(known: known) {
            let value = try member.value()
            let values = value.list ?? [value]
            for value in values where value.list != nil || value.object != nil {
                throw member.problem("\(key): expected a word, a number or a list of words")
            }
        }
    }
}
