/// What to say to who typed a text that begins with a dash, which the argument parser takes for an option.
enum TextHint {
    /// The commands with a text that may begin with anything.
    private static let commands: Set = ["comment", "reply", "edit-comment", "publish", "screen"]
    /// Those that also read it from standard input.
    private static let readers: Set = ["comment", "reply", "edit-comment"]

    /// A hint beside the parser's message on a command line, if there is such a text.
    static func sentence(_ words: [String], _ message: String) -> String? {
        guard !words.contains("--"), let place = words.firstIndex(where: { isText($0, words) })
        else { return nil }
        let word = words[place]
        let text = DefinitionText.shell(word.count > 40 ? word.prefix(40) + "…" : word)
        if message.hasPrefix("Error: Missing value for") {
            guard place > 0, message.contains("'\(words[place - 1])") else { return nil }
            return "a value that begins with '-' stands behind '=': \(words[place - 1])=\(text)"
        }
        guard message.contains("Missing expected argument") || message.contains("Unknown option")
        else { return nil }
        let reads = readers.contains(words[0]) ? "; as text, - reads it from standard input" : ""
        return "a text that begins with '-' stands behind '--': -- \(text)\(reads)."
    }

    /// Whether a word is hardly an option: no option has spaces, and few have one dash.
    private static func isText(_ word: String, _ words: [String]) -> Bool {
        guard word.hasPrefix("-"), word.count > 1 else { return false }
        if word.prefix(while: { $0 != "=" }).contains(where: \.isWhitespace) { return true }
        return commands.contains(words[0]) && !word.hasPrefix("--") && word != "-h"
    }
}
