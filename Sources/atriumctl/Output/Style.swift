/// The few colours there are, used on a terminal alone.
enum Style: String {
    case bold = "1"
    case dim = "2"
    case red = "31"
    case green = "32"
    case yellow = "33"

    /// The text in this style, or as it is where there are no colours.
    func callAsFunction(_ text: String, enabled: Bool = Terminal.hasColor) -> String {
        enabled && !text.isEmpty ? "\u{1B}[\(rawValue)m\(text)\u{1B}[0m" : text
    }

    /// The style of a state, by its word.
    static func state(_ word: String) -> Style? {
        switch word {
        case "ready", "loaded", "attached", "ok": .green
        case "starting", "loading", "stopping", "found", "pending": .yellow
        case "failed", "refused", "degraded", "damaged", "removed": .red
        default: nil
        }
    }
}
