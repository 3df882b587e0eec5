/// One option of a component, declared: name, type, default, and what it is for.
///
/// A component declares it with its type, as ``TypedSetting`` shows, and reads it by that.
public struct Setting: Sendable, Hashable {
    /// What values an option takes.
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
        /// A text that nobody shall read in a definition, which says where it is instead: see
        /// ``SecretReference``. The component gets the text.
        case secret
        /// The path of a file or a folder that the component reads, from `/` on.
        ///
        /// The manifest names the setting under `paths` too: a component in a worker can read nothing
        /// else beside its plugin's own folder and the system's libraries. A default that is not among
        /// these can't be read in a worker either, which then asks for the setting.
        case path
    }

    /// The name, in camelCase.
    public var name: String
    /// What values it takes.
    public var type: SettingType
    /// Whether it must be given.
    public var required: Bool
    /// What it is when it is not given; nil: absent.
    public var defaultValue: Value?
    /// What it is for, in a sentence.
    public var summary: String

    /// What a host makes of an option that a program declares; by default not required and without a default.
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

/// Where the text of a secret setting is: the object that stands for it in a definition.
public enum SecretReference: Sendable, Hashable {
    /// In a file: `{ secretFile: /PATH }`.
    case file(String)
    /// In a credential that the service manager passes (`LoadCredential=`): `{ secretCredential: NAME }`.
    case credential(String)

    /// Reads one; nil for any other value.
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

/// A setting that makes no sense: which, what was expected, what was found.
public struct SettingError: Error, Sendable, Hashable, Codable, CustomStringConvertible {
    /// The setting, as a path: `sections[2].field`.
    public var setting: String
    /// What would be right, what is there, and what to do, in a sentence.
    public var reason: String

    /// Names the setting and says what is wrong with it.
    public init(_ setting: String, _ reason: String) {
        self.setting = setting
        self.reason = reason
    }

    /// Why a secret is refused whose text is not there, with settings that are right besides.
    public static let secretNotRead = "the secret was not read"

    /// Both, for people.
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

    /// As ``init(_:declared:)``, with the texts that secret settings refer to.
    ///
    /// - Parameters:
    ///   - values: as a definition gives them.
    ///   - declared: what there may be.
    ///   - secrets: by setting.
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

    /// The value of a setting whose type does not matter, to compare it with another; nil when it is absent and has no
    /// default.
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
            expected = "a number from \(range.lowerBound) to \(range.upperBound)"
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

    /// A value of the type that is expected, or of a choice, as it is; else its type.
    private func found(_ value: Value) -> String {
        switch type {
        case .choice: value.text.map { "'\($0.prefix(100))'" } ?? value.typeName
        case .number, .integer:
            value.number == nil ? value.typeName : value.plainText ?? value.typeName
        default: value.typeName
        }
    }
}
