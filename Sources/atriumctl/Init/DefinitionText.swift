import AtriumFormats
import JSONCodec

/// A definition of a container for what a file holds, with comments.
struct DefinitionText {
    let profile: FileProfile
    var path: String
    /// The container's name.
    let name: String
    /// The definition's file.
    let output: String
    /// The file's absolute path where the list is to be the file; nil: it is imported.
    var followed: String?

    /// A container's name for a file's: `diary` for `My/Diary.csv.gz`.
    static func name(for path: String) -> String {
        let letters = (ItemText.slug([base(of: path)]) ?? "").unicodeScalars.filter { $0.isASCII }
        let name = String(String.UnicodeScalarView(letters)).drop { !$0.isLetter }.prefix(63)
        // The daemon's own notifications have 'daemon' for a container.
        return name.isEmpty || name == "daemon" ? "items" : String(name)
    }

    /// Whether a text may be a container's name.
    static func isName(_ text: String) -> Bool {
        text.wholeMatch(of: #/[a-z][a-z0-9-]{0,62}/#) != nil
    }

    /// A file's name without its folder and its endings.
    private static func base(of path: String) -> String {
        let file = path.split(separator: "/").last.map(String.init) ?? path
        return file.split(separator: ".").first.map(String.init) ?? file
    }

    /// A field's name for a column's; nil where it has no letters that a name may begin with.
    static func field(for column: String) -> String? {
        guard let slug = ItemText.slug([column]) else { return nil }
        return isName(slug) ? slug : nil
    }

    /// The columns that become fields, with the fields' names.
    private var fields: [(name: String, column: ColumnProfile)] {
        let named = Set(profile.columns.compactMap { Self.field(for: $0.name) })
        var known: Set<String> = []
        return profile.fields.compactMap { column in
            let name = Self.field(for: column.name) ?? numbered(column, besides: named)
            return known.insert(name).inserted ? (name: name, column: column) : nil
        }
    }

    /// The name of a field for a column whose name makes none: by its place, `column-3`.
    private func numbered(_ column: ColumnProfile, besides named: Set<String>) -> String {
        var name = "column-\(profile.place(of: column))"
        while named.contains(name) { name += "-other" }
        return name
    }

    /// The columns that are left out, and why.
    private var ignored: [(name: String, reason: String)] {
        let used = Set(fields.map(\.column.name))
        return profile.columns.compactMap { column in
            guard !used.contains(column.name) else { return nil }
            let plain = ItemText.plain(column.name)
            if plain == "parent" || plain == "id" && profile.id.isEmpty { return nil }
            if plain == "id" { return (column.name, "empty in some rows") }
            if column.choice.type == nil { return (column.name, column.choice.note ?? "") }
            return (column.name, "another has the same name")
        }
    }

    /// The words that import the file.
    var importWords: [String] {
        // What begins with a dash is no option.
        var words = ["import", name, path.hasPrefix("-") ? "./\(path)" : path]
        let id = profile.id.map(\.name).joined(separator: ",")
        if !id.isEmpty { words += id.hasPrefix("-") ? ["--id=\(id)"] : ["--id", id] }
        return words + ignored.flatMap { ["--ignore", $0.name] }
    }

    var text: String {
        var lines =
            head + ["atrium: 1", "container: \(Self.key(name))", "title: \(Self.quoted(title))"]
            + [fields.isEmpty ? "fields: {}" : "fields:"]
        let width = fields.map { Self.key($0.name).count }.max() ?? 0
        lines += fields.map { field in
            let key = Self.key(field.name)
            let space = String(repeating: " ", count: width - key.count)
            return "  \(key):\(space) { \(settings(field.column)) }\(comment(field.column))"
        }
        lines += present
        lines.append("components:")
        lines += filters
        lines += list
        lines += [
            "  - { name: stars, plugin: org.atrium.stars, settings: { scale: 5, score: bayesian, subjects: [items] } }",
            "  - { name: talk, plugin: org.atrium.threads, settings: { subjects: [items] } }",
        ]
        return lines.joined(separator: "\n") + "\n"
    }

    /// How items are called, and which picture they have.
    private var present: [String] {
        let title = fields.first { $0.column.name == profile.title?.name }
        let image = fields.first { $0.column.choice.type == "image" }
        let parts = [("title", title?.name), ("image", image?.name)]
            .compactMap { name, value in value.map { "\(name): \(Self.key($0))" } }
        return parts.isEmpty ? [] : ["present: { \(parts.joined(separator: ", ")) }"]
    }

    /// The file's own name with its accents, where the container is named after the file.
    private var title: String {
        let base = Self.base(of: path)
        let isOfFile = Self.name(for: path) == name && base.contains(where: \.isLetter)
        let words = (isOfFile ? PrintableText.line(base) : name).split { "-_ ".contains($0) }
        return Self.capitalized(words.joined(separator: " "))
    }

    static func capitalized(_ text: String) -> String {
        text.prefix(1).uppercased() + text.dropFirst()
    }

    private var head: [String] {
        let file = PrintableText.line(path)
        var lines = [
            "# What 'atriumctl init' made of \(file), \(Wording.count(profile.rows, "item")). Change what is not right, then:",
            "#", "#     atriumctl apply -f \(Self.shell(output))",
        ]
        if followed == nil {
            lines.append("#     atriumctl \(importWords.map(Self.shell).joined(separator: " "))")
        }
        lines.append("#")
        let id = profile.id.map { "'\(PrintableText.line($0.name))'" }.joined(separator: " and ")
        lines.append(
            id.isEmpty
                ? "# An item's id is what stands in 'id'."
                : "# An item's id is made of \(id)\(isUnique ? "" : "; \(sameID)")."
        )
        if profile.id.first?.holdsNames == true {
            lines += [
                "# Names may stand twice, and one that changes makes another item, without votes and comments: a column of",
                "# numbers or codes, if there is one, makes better ids.",
            ]
        }
        if fields.contains(where: \.column.isSearched) {
            lines.append(
                "# A search looks at the fields with 'search: true': all texts and keywords, but no dates."
            )
        }
        lines += ignored.map { "# '\(PrintableText.line($0.name))' is left out: \($0.reason)." }
        return lines
    }

    private var sameID: String {
        followed == nil
            ? "of rows with the same id the last one counts"
            : "a file with two rows of the same id is not shown"
    }

    /// Where the items are: in the store, or in the file.
    private var list: [String] {
        guard let followed else { return ["  - { name: list, plugin: org.atrium.catalog }"] }
        var settings = ["path: \(Self.quoted(followed))"]
        let id = profile.id.map(\.name).joined(separator: ",")
        if !id.isEmpty { settings.append("id: \(Self.quoted(id))") }
        // The list finds columns by the names of fields, and not by their titles.
        let others = fields.filter { Self.field(for: $0.column.name) == nil }
            .map { "\($0.name): \(Self.quoted($0.column.name))" }
        if !others.isEmpty { settings.append("fields: { \(others.joined(separator: ", ")) }") }
        return [
            "  - name: list", "    plugin: org.atrium.file",
            "    settings: { \(settings.joined(separator: ", ")) }",
        ]
    }

    private var isUnique: Bool { profile.id.contains { $0.isUnique && $0.filled == profile.rows } }

    private func settings(_ column: ColumnProfile) -> String {
        var settings = ["type: \(column.choice.type ?? "text")"]
        let isTitle = column.name == profile.title?.name
        if isTitle, column.filled == profile.rows { settings.append("required: true") }
        if column.isSearched {
            settings.append("search: true")
        }
        if Self.needsTitle(column) {
            settings.append("title: \(Self.quoted(PrintableText.line(column.name)))")
        }
        return settings.joined(separator: ", ")
    }

    /// Whether a field's name lacks the accents of its column's, or all of it.
    private static func needsTitle(_ column: ColumnProfile) -> Bool {
        !column.name.unicodeScalars.allSatisfy(\.isASCII) || field(for: column.name) == nil
    }

    private func comment(_ column: ColumnProfile) -> String {
        var parts: [String] = []
        if Self.field(for: column.name) != column.name, !Self.needsTitle(column) {
            parts.append("'\(PrintableText.line(column.name))'")
        }
        if let note = column.choice.note { parts.append(note) }
        if column.filled < profile.rows, column.filled > 0 {
            parts.append("in \(Wording.count(column.filled)) of \(Wording.count(profile.rows))")
        }
        return parts.isEmpty ? "" : "  # \(parts.joined(separator: "; "))"
    }

    /// Sections of filters: of columns whose values are few, but not of the title.
    private var filters: [String] {
        let facets = fields.filter { $0.column.isFacet && $0.column.name != profile.title?.name }
        guard !facets.isEmpty else { return [] }
        return [
            "  - name: filters", "    plugin: org.atrium.facets", "    settings:",
            "      sections:",
        ]
            + facets.map { field in
                "        - { id: \(Self.key(field.name)), title: \(Self.quoted(Self.capitalized(field.column.name))), "
                    + "field: \(Self.key(field.name)), input: several }"
            }
    }

    static func quoted(_ text: String) -> String {
        let isPlain = text.wholeMatch(of: #/[A-Za-z][A-Za-z0-9 ]*/#) != nil
        return isPlain && !constants.contains(text.lowercased()) && text.last != " "
            ? text : String(decoding: JSON.encode(JSONValue.string(text)), as: UTF8.self)
    }

    /// The name of a field or a container as YAML reads it.
    static func key(_ name: String) -> String {
        constants.contains(name) ? "\"\(name)\"" : name
    }

    /// Words that are no texts in some version of YAML.
    private static let constants: Set = [
        "true", "false", "yes", "no", "on", "off", "null", "y", "n",
    ]

    /// A word as a shell reads it.
    static func shell(_ word: String) -> String {
        let word = PrintableText.line(word)
        return word.wholeMatch(of: #/[A-Za-z0-9_.,\/=:@+-]+/#) != nil
            ? word : "'\(word.replacing("'", with: "'\\''"))'"
    }
}
