/// A setting with the type of its value: declared once, and read by its declaration.
///
/// ```swift
/// static let scale = Setting.integer("scale", in: 2...100, "the most stars").defaulting(to: 5)
/// static let note = Setting.text("note", "what people read below the stars")
/// static var settings: [Setting] { [scale.setting, note.setting] }
///
/// let stars = context.settings[Self.scale]    // an Int
/// let note = context.settings[Self.note]      // a String?
/// ```
public struct TypedSetting<Content: Sendable>: Sendable {
    /// The declaration, for ``Component/settings``.
    public let setting: Setting
    /// Reads a value that the declaration allows.
    let read: @Sendable (Value) -> Content?
    /// The value if none is given; nil if one is always given.
    let absent: Content?
    /// Writes a default.
    let write: @Sendable (Content) -> Value?

    /// Its name.
    public var name: String { setting.name }

    /// Returns an optional setting with a default.
    ///
    /// - Parameter value: the default; `plugin describe` shows it. The declaration has to allow it: a component is
    ///   refused otherwise. A secret has no default.
    /// - Returns: the setting, whose value is never nil.
    public func defaulting<Given>(to value: Given) -> TypedSetting<Given> where Content == Given? {
        var setting = setting
        setting.defaultValue = write(value)
        return given(setting, absent: value)
    }

    /// Returns a setting that a definition has to give.
    ///
    /// - Returns: the setting, whose value is never nil.
    public func required<Given>() -> TypedSetting<Given> where Content == Given? {
        var setting = setting
        setting.required = true
        return given(setting, absent: nil)
    }

    private func given<Given>(
        _ setting: Setting, absent: Given?
    ) -> TypedSetting<Given> where Content == Given? {
        let (read, write) = (read, write)
        return TypedSetting<Given>(
            setting: setting, read: { read($0).flatMap(\.self) }, absent: absent,
            write: { write($0) })
    }
}

extension Setting {
    /// A text.
    public static func text(_ name: String, _ summary: String) -> TypedSetting<String?> {
        typed(Setting(name, .text, summary), { $0.text }, Value.text)
    }

    /// One of some words, which are the raw values of a type.
    public static func choice<Choice>(
        _ name: String, of choices: Choice.Type, _ summary: String
    ) -> TypedSetting<Choice?>
    where Choice: CaseIterable & RawRepresentable & Sendable, Choice.RawValue == String {
        typed(
            Setting(name, .choice(choices.allCases.map(\.rawValue)), summary),
            { $0.text.flatMap(Choice.init) }, { .text($0.rawValue) })
    }

    /// A finite number in a range.
    public static func number(
        _ name: String, in range: ClosedRange<Double>, _ summary: String
    ) -> TypedSetting<Double?> {
        typed(Setting(name, .number(range), summary), { $0.number }, Value.number)
    }

    /// A whole number in a range.
    public static func integer(
        _ name: String, in range: ClosedRange<Int>, _ summary: String
    ) -> TypedSetting<Int?> {
        typed(
            Setting(name, .integer(Int64(range.lowerBound)...Int64(range.upperBound)), summary),
            { $0.int.map { Int($0) } }, { .int(Int64($0)) })
    }

    /// True or false.
    public static func boolean(_ name: String, _ summary: String) -> TypedSetting<Bool?> {
        typed(Setting(name, .boolean, summary), { $0.bool }, Value.bool)
    }

    /// A list, whose elements the component checks itself.
    public static func list(_ name: String, _ summary: String) -> TypedSetting<[Value]?> {
        typed(Setting(name, .list, summary), { $0.list }, Value.list)
    }

    /// An object, whose members the component checks itself.
    public static func object(
        _ name: String, _ summary: String
    ) -> TypedSetting<[String: Value]?> {
        typed(Setting(name, .object, summary), { $0.object }, Value.object)
    }

    /// A text that is not written in a definition: see ``SettingType/secret``.
    public static func secret(_ name: String, _ summary: String) -> TypedSetting<String?> {
        typed(Setting(name, .secret, summary), { $0.text }, Value.text)
    }

    /// The path of a file or a folder that the component reads: see ``SettingType/path``.
    public static func path(_ name: String, _ summary: String) -> TypedSetting<String?> {
        typed(Setting(name, .path, summary), { $0.text }, Value.text)
    }

    private static func typed<Given: Sendable>(
        _ setting: Setting, _ read: @escaping @Sendable (Value) -> Given?,
        _ write: @escaping @Sendable (Given) -> Value
    ) -> TypedSetting<Given?> {
        TypedSetting(
            setting: setting, read: { read($0) }, absent: .some(nil),
            write: { $0.map { write($0) } })
    }
}

extension Settings {
    /// The value of a declared setting, or its default.
    ///
    /// The setting has to be in ``Component/settings`` of the component's class: an undeclared one is not checked, and
    /// reading one that is required ends the process with a message.
    public subscript<Content>(setting: TypedSetting<Content>) -> Content {
        if let value = values[setting.name], let content = setting.read(value) {
            return content
        }
        guard let absent = setting.absent else {
            fatalError(
                "the setting '\(setting.name)' is required, and not among the declared ones")
        }
        return absent
    }
}
