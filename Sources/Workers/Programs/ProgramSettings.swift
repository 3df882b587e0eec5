internal import AtriumKit
internal import Index
internal import JSONCodec
internal import PluginInterfaces

extension Program.Greeting {
    /// Creates a greeting from a program's reply, whose members are the same for all kinds; throws if the defaults
    /// can't be read.
    init(
        _ version: Int, _ settings: [PluginInterfaces.Setting]?, _ defaults: JSONObject?
    ) throws(ProgramFailure) {
        self.version = version
        self.settings = settings ?? []
        self.defaults = try defaults?.values("declares defaults") ?? [:]
    }
}

extension JSONObject {
    /// Settings as programs are sent them.
    init(_ settings: Settings) { self = Wire.encode(settings.values) }

    /// Returns the members of an object that a program sent.
    ///
    /// - Parameter what: the program's action, as the continuation of "The program PATH of the plugin ID".
    /// - Returns: the values by name.
    /// - Throws: an error with the reason if they can't be read.
    func values(_ what: String) throws(ProgramFailure) -> [String: AtriumKit.Value] {
        do {
            let values = try AtriumKit.Value(jsonBytes: bytes).object ?? [:]
            try WholeNumbers.check(bytes, readAs: values)
            return values
        } catch {
            throw ProgramFailure("\(what) that can't be read: \(error)")
        }
    }
}

extension Program {
    /// The most settings that a program may declare.
    private static let mostSettings = 200

    /// Checks and returns the settings that a program declares; throws the first that is invalid, and why.
    static func settings(_ greeting: Greeting) throws(ProgramFailure) -> [AtriumKit.Setting] {
        let declared = greeting.settings
        guard declared.count <= mostSettings else {
            throw ProgramFailure(
                "declares \(declared.count) settings, where \(mostSettings) are allowed")
        }
        var defaults = greeting.defaults
        var settings: [AtriumKit.Setting] = []
        for setting in declared {
            let name = setting.name
            guard !name.isEmpty, name.utf8.count <= 100,
                !settings.contains(where: { $0.name == name })
            else {
                throw ProgramFailure(
                    "declares a setting '\(name.prefix(100))': a name has 1 to 100 bytes, and each is there once"
                )
            }
            if setting.live == true, setting.type == .path || setting.type == .secret {
                throw ProgramFailure(
                    "declares '\(name)' as live: a path or a secret is fixed when its worker starts"
                )
            }
            let value = defaults.removeValue(forKey: name)
            let made = AtriumKit.Setting(
                name, try type(of: setting), required: setting.required ?? false, default: value,
                setting.summary)
            if let value, (try? Settings([name: value], declared: [made])) == nil {
                throw ProgramFailure(
                    "declares a default of '\(name)' that the setting does not take")
            }
            settings.append(made)
        }
        if let name = defaults.keys.min() {
            throw ProgramFailure("declares a default of '\(name.prefix(100))', which is no setting")
        }
        return settings
    }

    private static func type(
        of setting: PluginInterfaces.Setting
    ) throws(ProgramFailure) -> AtriumKit.Setting.SettingType {
        switch setting.type {
        case .text: return .text
        case .boolean: return .boolean
        case .list: return .list
        case .object: return .object
        case .path: return .path
        case .secret: return .secret
        case .choice:
            guard let words = setting.words, !words.isEmpty else {
                throw ProgramFailure("declares the choice '\(setting.name)' without words")
            }
            return .choice(words)
        case .number, .integer:
            let (least, most) = (setting.least ?? -1e15, setting.most ?? 1e15)
            guard least.isFinite, most.isFinite, least <= most, abs(least) <= 1e15,
                abs(most) <= 1e15
            else {
                throw ProgramFailure(
                    "declares '\(setting.name)' from \(least) to \(most): both are at most 1e15, in this order"
                )
            }
            guard setting.type == .integer else { return .number(least...most) }
            let (first, last) = (Int64(least.rounded(.up)), Int64(most.rounded(.down)))
            guard first <= last else {
                throw ProgramFailure(
                    "declares '\(setting.name)' from \(least) to \(most), where no whole number is")
            }
            return .integer(first...last)
        }
    }
}
