/// An object within a component's settings, read member by member.
///
/// Every error names its place, such as `sections[1].filters[0].from`.
///
/// A member that is null counts as absent.
public struct SettingObject: Sendable {
    /// Its path in the settings.
    public let path: String
    private let members: [String: Value]

    /// Reads an object.
    ///
    /// - Parameters:
    ///   - value: the value in the settings.
    ///   - path: its path.
    ///   - known: the names of all members that it may have.
    /// - Throws: ``SettingError`` for anything but an object, and for an unknown member, with the nearest known name.
    public init(_ value: Value, at path: String, known: [String]) throws(SettingError) {
        guard let members = value.object else {
            throw SettingError(path, "expected an object, found \(value.typeName)")
        }
        for name in members.keys.sorted() where !known.contains(name) {
            throw SettingError.unknown("\(path).\(name)", name: name, known: known)
        }
        self.path = path
        self.members = members.filter { !$0.value.isNull }
    }

    /// Reads a list of objects.
    ///
    /// - Throws: ``SettingError`` for anything but a list of objects with known members.
    public static func list(
        _ value: Value, at path: String, known: [String]
    ) throws(SettingError) -> [SettingObject] {
        guard let values = value.list else {
            throw SettingError(path, "expected a list, found \(value.typeName)")
        }
        var objects: [SettingObject] = []
        for (index, value) in values.enumerated() {
            objects.append(try SettingObject(value, at: "\(path)[\(index)]", known: known))
        }
        return objects
    }

    /// Returns the member as it is; nil if it is absent.
    public subscript(name: String) -> Value? { members[name] }

    /// Returns the path of a member.
    public func path(of name: String) -> String { "\(path).\(name)" }

    /// Creates an error about a member.
    public func error(_ name: String, _ reason: String) -> SettingError {
        SettingError(path(of: name), reason)
    }

    /// Returns the member's text; nil if it is absent.
    ///
    /// - Throws: ``SettingError`` for another type, or an empty text.
    public func text(_ name: String) throws(SettingError) -> String? {
        guard let value = members[name] else { return nil }
        guard let text = value.text, !text.isEmpty else {
            let found = value.text == nil ? value.typeName : "an empty one"
            throw error(name, "expected a text, found \(found)")
        }
        return text
    }

    /// Returns the member's text.
    ///
    /// - Throws: ``SettingError`` if it is absent, empty or of another type.
    public func requiredText(_ name: String, _ summary: String) throws(SettingError) -> String {
        guard let text = try text(name) else { throw error(name, "required: \(summary)") }
        return text
    }

    /// Returns the member's word; nil if it is absent.
    ///
    /// - Throws: ``SettingError`` for anything but one of the words.
    public func choice<Word: RawRepresentable<String> & CaseIterable>(
        _ name: String, _ words: Word.Type
    ) throws(SettingError) -> Word? {
        guard let value = members[name] else { return nil }
        guard let word = value.text.flatMap(Word.init(rawValue:)) else {
            let known = Word.allCases.map(\.rawValue).joined(separator: ", ")
            let found = value.text.map { "'\($0)'" } ?? value.typeName
            throw error(name, "expected one of \(known), found \(found)")
        }
        return word
    }

    /// Returns the objects of a member that is a list; nil if it is absent.
    ///
    /// - Throws: ``SettingError`` for anything but a list of objects with known members.
    public func list(
        _ name: String, known: [String]
    ) throws(SettingError) -> [SettingObject]? {
        guard let value = members[name] else { return nil }
        return try SettingObject.list(value, at: path(of: name), known: known)
    }
}

extension SettingError {
    /// Creates the error for an unknown name, with the nearest known one.
    ///
    /// - Parameters:
    ///   - setting: the path at which the name was found.
    ///   - name: the name; by default the whole path.
    ///   - known: the names that are valid there.
    /// - Returns: the error to throw.
    public static func unknown(
        _ setting: String, name: String? = nil, known: [String]
    ) -> SettingError {
        let hint = nearestName(to: name ?? setting, among: known).map { "did you mean '\($0)'? " }
        let names = known.isEmpty ? "none" : known.joined(separator: ", ")
        return SettingError(setting, "unknown; \(hint ?? "")known are: \(names)")
    }
}
