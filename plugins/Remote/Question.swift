import AtriumKit

/// What the parameters of a URL are called that say what is asked.
struct QuestionParameters: Sendable {
    private static let known = ["search", "path", "sort", "limit", "cursor"]

    private let names: [String: String]

    /// Whether the service can go on from where it ended.
    var hasCursor: Bool { names["cursor"] != nil }

    init(_ object: [String: Value]) throws(SettingError) {
        var names: [String: String] = [:]
        for name in object.keys.sorted() {
            guard Self.known.contains(name) else {
                throw SettingError.unknown("ask.\(name)", name: name, known: Self.known)
            }
            guard let text = object[name]?.text, !text.isEmpty, !text.contains("=") else {
                throw SettingError("ask.\(name)", "expected the name of a parameter of the URL")
            }
            names[name] = text
        }
        self.names = names
    }

    /// The parameters for a question; what is not asked has none.
    func values(of question: ContentQuestion) -> [(name: String, value: String)] {
        let values = [
            ("search", question.search), ("path", question.path.last ?? ""),
            ("sort", question.sort.joined(separator: ",")), ("limit", "\(question.limit)"),
            ("cursor", question.cursor ?? ""),
        ]
        return values.compactMap { role, value in
            guard !value.isEmpty, let name = names[role] else { return nil }
            return (name, value)
        }
    }
}
