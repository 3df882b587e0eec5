/// A number that an administrator may set: its name, format and range.
public struct NumberSetting: Sendable, Hashable {
    /// The unit of a setting, which decides its format.
    public enum Unit: Sendable, Hashable {
        /// Things, as a whole number.
        case things
        /// Seconds, as a whole number.
        case seconds
        /// Bytes, as a whole number or a size such as `512M`.
        case bytes
    }

    /// Its key.
    public let key: String
    /// The unit.
    public let unit: Unit
    /// The range of valid values.
    public let range: ClosedRange<Int>

    /// Why no greater value is valid, and what to do instead; nil: no explanation is needed.
    public let note: String?

    /// Creates a setting from its key, unit and range.
    public init(
        _ key: String, _ unit: Unit, _ range: ClosedRange<Int>, note: String? = nil
    ) {
        self.key = key
        self.unit = unit
        self.range = range
        self.note = note
    }

    /// Parses a value, such as `100`, or `512M` for bytes; nil if it is not a number or not in the range.
    public func value(_ text: String) -> Int? {
        let size = unit == .bytes && text != "infinity" ? SettingsFile.bytes(text) : nil
        guard let number = size ?? Int(text), range.contains(number) else { return nil }
        return number
    }

    /// The valid values, in words.
    public var expectation: String { form + (note.map { " (\($0))" } ?? "") }

    private var form: String {
        switch unit {
        case .things: "a whole number from \(range.lowerBound) to \(range.upperBound)"
        case .seconds: "seconds, a whole number from \(range.lowerBound) to \(range.upperBound)"
        case .bytes:
            "a size from \(Self.size(range.lowerBound)) to \(Self.size(range.upperBound)), "
                + "in bytes or such as 64K or 2M"
        }
    }

    /// Formats bytes as an administrator writes them, in the greatest unit that holds them without a fraction: `2M`.
    public static func size(_ bytes: Int) -> String {
        for (shift, unit) in [(40, "T"), (30, "G"), (20, "M"), (10, "K")]
        where bytes >= 1 << shift && bytes % (1 << shift) == 0 {
            return "\(bytes >> shift)\(unit)"
        }
        return "\(bytes)"
    }
}
