public import AtriumKit
public import JSONCodec

/// A setting of a plugin's components, in words.
public struct SettingDescription: Sendable, Hashable {
    /// Its name.
    public var name: String
    /// The values that it takes, in words.
    public var type: String
    /// Whether it must be given.
    public var isRequired: Bool
    /// The default value, in JSON; nil: absent.
    public var defaultValue: String?
    /// The purpose, in a sentence.
    public var summary: String

    /// The description of a declared setting.
    public init(_ setting: Setting) {
        name = setting.name
        type = setting.type.words
        isRequired = setting.required
        defaultValue = setting.defaultValue.map { String(decoding: JSON.encode($0), as: UTF8.self) }
        summary = setting.summary
    }

    /// Reads what ``json`` gave; nil for anything else.
    public init?(_ json: JSONValue) {
        guard let name = json["name"]?.string, let type = json["type"]?.string,
            let isRequired = json["required"]?.bool, let summary = json["summary"]?.string
        else { return nil }
        self.name = name
        self.type = type
        self.isRequired = isRequired
        self.summary = summary
        defaultValue = json["default"]?.string
    }

    /// The description as JSON.
    public var json: JSONValue {
        var members: [JSONValue.Member] = [
            .init("name", .string(name)), .init("type", .string(type)),
            .init("required", .bool(isRequired)), .init("summary", .string(summary)),
        ]
        if let defaultValue { members.append(.init("default", .string(defaultValue))) }
        return .object(members)
    }
}

/// A number without needless zeros, as its default is written: `1`.
private func plain(_ number: Double) -> String {
    Int(exactly: number).map { "\($0)" } ?? "\(number)"
}

extension Setting.SettingType {
    fileprivate var words: String {
        switch self {
        case .text: "text"
        case .choice(let words): words.joined(separator: " or ")
        case .number(let range):
            "number from \(plain(range.lowerBound)) to \(plain(range.upperBound))"
        case .integer(let range): "integer from \(range.lowerBound) to \(range.upperBound)"
        case .boolean: "boolean"
        case .list: "list"
        case .object: "object"
        case .secret: "secret: {secretFile: PATH} or {secretCredential: NAME}"
        case .path: "path"
        @unknown default: "value"
        }
    }
}
