import AtriumKit

/// Checks the daemon's configuration file before it is read.
///
/// It is a mapping of known keys to scalars, lists of scalars, or sections of numbers.
public enum SettingsFile {
    /// Throws for unknown keys, nested values, and values of the wrong type, which would otherwise be ignored.
    ///
    /// - Parameters:
    ///   - text: the YAML text.
    ///   - file: its path, for messages.
    ///   - known: the known keys; their values are words unless another parameter lists them.
    ///   - lists: the keys that take a list of words.
    ///   - counts: the keys that take a whole number, 0 or more.
    ///   - sizes: the keys that take a number of bytes, as ``bytes(_:)`` reads it.
    ///   - sections: the sections of numbers.
    /// - Returns: the line of each key; empty if nothing is set.
    /// - Throws: ``DefinitionProblem`` with line, column and the nearest known key.
    @discardableResult
    public static func check(
        _ text: String, file: String, known: [String], lists: Set<String> = [],
        counts: Set<String> = [], sizes: Set<String> = [], sections: [String: [NumberSetting]] = [:]
    ) throws(DefinitionProblem) -> [String: Int] {
        let documents = try DefinitionReader.documents(of: text, file: file)
        if documents.count > 1 {
            throw documents[1].problem("the settings are one document", hint: "remove the '---'")
        }
        // A file with only comments, even after `---`, sets nothing.
        guard let root = documents.first, !root.isNothing else { return [:] }
        let members = try root.members(known: known)
        for (key, member) in members {
            if let numbers = sections[key] {
                try check(member, numbers)
                continue
            }
            let value = try member.value()
            let shape =
                lists.contains(key)
                ? Shape.list : counts.contains(key) ? .count : sizes.contains(key) ? .size : .word
            guard !shape.fits(value) else { continue }
            throw member.unexpected(shape.rawValue)
        }
        return members.mapValues { $0.line }
    }

    /// Checks a section: each number must be in its range.
    private static func check(
        _ section: DefinitionNode, _ numbers: [NumberSetting]
    ) throws(DefinitionProblem) {
        let members = try section.members(known: numbers.map(\.key))
        for number in numbers {
            guard let member = members[number.key] else { continue }
            let value = try member.value()
            let text = value.int.map { "\($0)" } ?? value.text
            guard text.flatMap(number.value) == nil else { continue }
            throw member.unexpected(number.expectation)
        }
    }

    /// Parses a size such as `512M`: K, M, G and T are powers of 1,024, as in systemd; `Int.max` for `infinity`, nil
    /// if it is not a size.
    public static func bytes(_ text: String) -> Int? {
        guard text != "infinity" else { return .max }
        let shifts: [Character: Int] = ["K": 10, "M": 20, "G": 30, "T": 40]
        guard let unit = text.last, let shift = shifts[unit], let count = Int(text.dropLast()),
            count > 0, count <= Int.max >> shift
        else { return nil }
        return count << shift
    }

    /// The format of a value.
    private enum Shape: String {
        case list = "a list of words, such as [one, two]"
        case count = "a whole number, 0 or more"
        case size = "a size, such as 512M or 2G, or infinity"
        case word = "one word"

        func fits(_ value: Value) -> Bool {
            switch self {
            case .list: value.list?.allSatisfy { $0.text != nil } ?? false
            case .count: value.int.map { $0 >= 0 } ?? false
            case .size: value.text.flatMap(SettingsFile.bytes) != nil
            case .word: value.text != nil
            }
        }
    }
}
