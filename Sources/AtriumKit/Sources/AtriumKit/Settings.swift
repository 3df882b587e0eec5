/// The declaration of one option of a component: name, type, default and purpose.
///
/// A component declares it with a Swift type, as ``TypedSetting`` shows, and reads it by that declaration.
public struct Setting: Sendable, Hashable {
    /// The type of an option's values.
    public enum SettingType: Sendable, Hashable {
        /// Text.
        case text
        /// One of these words.
        case choice([String])
        /// A finite number in this range.
        case number(ClosedRange<Double>)
        /// A whole number in this range.
        case integer(ClosedRange<Int64>)
        /// True or false.
        case boolean
        /// A list, whose elements the component checks itself.
        case list
        /// An object, whose members the component checks itself.
        case object
        /// A text that is not written in a definition, which refers to it instead: see ``SecretReference``. The
        /// component gets the text.
        case secret
        /// The absolute path of a file or a folder that the component reads.
        ///
        /// The manifest must name the setting under `paths` too: a component in a worker can read only these paths, its
        /// plugin's own folder and the system's libraries. A default that is not among these can't be read in a worker
        /// either, which then requires the setting.
        case path
    }

    /// The name, in camelCase.
    public var name: String
    /// The type of its values.
    public var type: SettingType
    /// Whether it is required.
    public var required: Bool
    /// The value if it is not given; nil: none.
    public var defaultValue: Value?
    /// The purpose, in a sentence.
    public var summary: String

    /// Creates the setting for an option that a program declares; by default not required and without a default.
    public init(
        _ name: String, _ type: SettingType, required: Bool = false, default: Value? = nil,
        _ summary: String
    ) {
        self.name = name
        self.type = type
        self.required = required
        self.defaultValue = `default`
        self.summary = summary
    }
}

/// The place of the text of a secret setting: the object that refers to it in a definition.
public enum SecretReference: Sendable, Hashable {
    /// A file: `{ secretFile: /PATH }`.
    case file(String)
    /// A credential that the service manager passes (`LoadCredential=`): `{ secretCredential: NAME }`.
    case credential(String)

    /// Reads a reference; nil for any other value.
    public init?(_ value: Value) {
        guard let members = value.object, members.count == 1, let member = members.first,
            let text = member.value.text
        else { return nil }
        switch member.key {
        case "secretFile": self = .file(text)
        case "secretCredential": self = .credential(text)
        default: return nil
        }
    }
}

/// An invalid setting: its path, the expected and the actual value.
public struct SettingError: Error, Sendable, Hashable, Codable, CustomStringConvertible {
    /// The setting, as a path: `sections[2].field`.
    public var setting: String
    /// The expected value, the actual one, and what to do, in a sentence.
    public var reason: String

    /// Creates an error about a setting.
    public init(_ setting: String, _ reason: String) {
        self.setting = setting
        self.reason = reason
    }

    /// The reason for a secret whose text is missing, with settings that are valid otherwise.
    public static let secretNotRead = "the secret was not read"

    /// The setting and the reason, for people.
    public var description: String { "setting '\(setting)': \(reason)" }
}

/// The settings of one component: checked against their declarations, defaults filled in.
public struct Settings: Sendable, Hashable {
    /// The values by name.
    public let values: [String: Value]

    /// Checks values against declarations and fills in the defaults.
    ///
    /// - Throws: ``SettingError`` for an undeclared, missing or mistyped setting, and for a default that its declaration
    ///   does not allow.
    public init(_ values: [String: Value], declared: [Setting]) throws(SettingError) {
        try self.init(values, declared: declared, secrets: [:])
    }

    /// Checks values against declarations, fills in the defaults, and inserts the texts of secret settings.
    ///
    /// - Parameters:
    ///   - values: the values in the definition.
    ///   - declared: the declarations.
    ///   - secrets: the texts, by setting.
    /// - Throws: ``SettingError``; it never quotes a secret.
    public init(
        _ values: [String: Value], declared: [Setting], secrets: [String: String]
    ) throws(SettingError) {
        let known = Dictionary(declared.map { ($0.name, $0) }) { first, _ in first }
        for name in values.keys.sorted() where known[name] == nil {
            throw SettingError.unknown(name, known: declared.map(\.name))
        }
        var complete = values
        var unread: String?
        for setting in declared {
            if let value = values[setting.name], !value.isNull {
                try setting.check(value)
                if setting.type == .secret {
                    complete[setting.name] = secrets[setting.name].map { .text($0) }
                    if secrets[setting.name] == nil { unread = setting.name }
                }
            } else if let value = setting.defaultValue {
                try setting.checkDefault(value)
                complete[setting.name] = value
            } else if setting.required {
                throw SettingError(setting.name, "required: \(setting.summary)")
            } else {
                complete[setting.name] = nil
            }
        }
        if let unread { throw SettingError(unread, SettingError.secretNotRead) }
        self.values = complete
    }

    /// Returns the value of a setting of any type, to compare it with another; nil if it is absent and has no default.
    public subscript(setting: Setting) -> Value? { values[setting.name] }
}

extension Setting {
    fileprivate func checkDefault(_ value: Value) throws(SettingError) {
        do throws(SettingError) {
            try check(value)
        } catch {
            throw SettingError(
                name, "the plugin declares a default that it does not take: \(error.reason)")
        }
    }

    fileprivate func check(_ value: Value) throws(SettingError) {
        let expected: String
        switch type {
        case .text:
            if value.text != nil { return }
            expected = "text"
        case .choice(let words):
            if let text = value.text, words.contains(text) { return }
            expected = "one of \(words.joined(separator: ", "))"
        case .number(let range):
            if let number = value.number, range.contains(number) { return }
            let bounds = [range.lowerBound, range.upperBound].compactMap {
                Value.number($0).plainText
            }
            expected = "a number from " + bounds.joined(separator: " to ")
        case .integer(let range):
            if let int = value.int, range.contains(int) { return }
            expected = "a whole number from \(range.lowerBound) to \(range.upperBound)"
        case .boolean:
            if value.bool != nil { return }
            expected = "true or false"
        case .list:
            if value.list != nil { return }
            expected = "a list"
        case .object:
            if value.object != nil { return }
            expected = "an object"
        case .secret:
            if SecretReference(value) != nil { return }
            throw SettingError(
                name,
                "a secret does not stand in a definition: write { secretFile: /PATH } or "
                    + "{ secretCredential: NAME }, found \(value.typeName)")
        case .path:
            if let text = value.text, text.hasPrefix("/"), !text.utf8.contains(0) { return }
            expected = "a path that begins with /"
        }
        throw SettingError(name, "expected \(expected), found \(found(value))")
    }

    /// Returns a value of the expected type, or of a choice, as text; else the name of its type.
    private func found(_ value: Value) -> String {
        switch type {
        case .choice: value.text.map { "'\($0.prefix(100))'" } ?? value.typeName
        case .number, .integer:
            value.number == nil ? value.typeName : value.plainText ?? value.typeName
        default: value.typeName
        }
    }
}
