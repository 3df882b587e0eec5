import AtriumKit

/// The daemon's configuration file, checked before it is read: a mapping of known keys to scalars,
/// lists of scalars, or sections of numbers.
public enum SettingsFile {
    /// Refuses unknown keys, nested values, and values of another type, which would silently do nothing.
    ///
    /// - Parameters:
    ///   - text: YAML.
    ///   - file: its path, for messages.
    ///   - known: the keys that mean something; words, unless told otherwise.
    ///   - lists: those of them that take a list of words.
    ///   - counts: those that take a whole number, 0 or more.
    ///   - sizes: those that take a number of bytes, as ``bytes(_:)`` reads it.
    ///   - sections: those that hold numbers of their own.
    /// - Returns: the line of each key; none where nothing is set.
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
        // Comments alone, also below a line of dashes, set nothing.
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
            throw member.problem("\(key): expected \(shape.rawValue)")
        }
        return members.mapValues { $0.line }
    }

    /// A section, each of whose numbers is within its bounds.
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

    /// What a size says, such as `512M`: K, M, G and T are powers of 1,024, as systemd has them.
    ///
    /// - Returns: bytes; nil if it is none, and as many as there are for `infinity`.
    public static func bytes(_ text: String) -> Int? {
        guard text != "infinity" else { return .max }
        let shifts: [Character: Int] = ["K": 10, "M": 20, "G": 30, "T": 40]
        guard let unit = text.last, let shift = shifts[unit], let count = Int(text.dropLast()),
            count > 0, count <= Int.max >> shift
        else { return nil }
        return count << shift
    }

    /// What a value may look like.
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
