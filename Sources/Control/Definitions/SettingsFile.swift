import AtriumKit

/// The daemon's configuration file, checked before it is read: a mapping of known keys to scalars or
/// lists of scalars.
public enum SettingsFile {
    /// Refuses unknown keys, nested values, and values of another type, which would silently do nothing.
    ///
    /// - Parameters:
    ///   - text: YAML.
    ///   - file: its path, for messages.
    ///   - known: the keys that mean something; words, unless told otherwise.
    ///   - lists: those of them that take a list of words.
    ///   - counts: those that take a whole number, 0 or more.
    /// - Throws: ``DefinitionProblem`` with line, column and the nearest known key.
    public static func check(
        _ text: String, file: String, known: [String], lists: Set<String> = [],
        counts: Set<String> = []
    ) throws(DefinitionProblem) {
        guard let root = try DefinitionReader.documents(of: text, file: file).first else { return }
        for (key, member) in try root.members(known: known) {
            let value = try member.value()
            guard !fits(value, asList: lists.contains(key), asCount: counts.contains(key)) else {
                continue
            }
            let expected =
                lists.contains(key)
                ? "a list of words, such as [one, two]"
                : counts.contains(key) ? "a whole number, 0 or more" : "one word"
            throw member.problem("\(key): expected \(expected)")
        }
    }

    private static func fits(_ value: Value, asList: Bool, asCount: Bool) -> Bool {
        if asList { return value.list?.allSatisfy { $0.text != nil } ?? false }
        if asCount { return value.int.map { $0 >= 0 } ?? false }
        return value.text != nil
    }
}
