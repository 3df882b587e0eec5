public import AtriumKit

/// The rules that the settings of a comments component define.
public struct CommentRules {
    private static let subjects = Setting.list(
        "subjects", "what may be commented on: items, container, or both"
    ).defaulting(to: ["items", "container"])
    private static let maxLength = Setting.integer(
        "maxLength", in: 1...1_000_000, "the most characters a comment may have"
    ).defaulting(to: 10_000)
    private static let moderated = Setting.boolean(
        "moderated", "whether new comments wait for a moderator before others see them"
    ).defaulting(to: false)

    /// All that they follow from.
    static var settings: [Setting] { [subjects.setting, maxLength.setting, moderated.setting] }

    /// The kinds of subjects that may be commented on.
    let subjects: Set<SubjectKind>
    /// Whether ``subjects`` has items, and the container: looked up once, not for each new comment.
    private let takesItems: Bool
    private let takesContainer: Bool
    /// The most characters (Unicode scalars) of a comment.
    let maxLength: Int
    /// Whether new comments wait for a moderator.
    let isModerated: Bool

    /// Rules; by default texts of 10,000 characters on everything, seen at once.
    public init(
        subjects: Set<SubjectKind> = Set(SubjectKind.allCases), maxLength: Int = 10_000,
        isModerated: Bool = false
    ) {
        self.subjects = subjects
        takesItems = subjects.contains(.items)
        takesContainer = subjects.contains(.container)
        self.maxLength = maxLength
        self.isModerated = isModerated
    }

    /// The rules that the settings `subjects`, `maxLength` and `moderated` give.
    init(_ settings: Settings) throws(SettingError) {
        var kinds: Set<SubjectKind> = []
        for (index, value) in settings[Self.subjects].enumerated() {
            guard let kind = value.text.flatMap(SubjectKind.init(rawValue:)) else {
                let found = value.text.map { "'\($0)'" } ?? value.typeName
                throw SettingError(
                    "subjects[\(index)]", "expected items or container, found \(found)")
            }
            kinds.insert(kind)
        }
        guard !kinds.isEmpty else {
            throw SettingError("subjects", "expected items, container, or both, found none")
        }
        self.init(
            subjects: kinds, maxLength: settings[Self.maxLength],
            isModerated: settings[Self.moderated])
    }

    func check(_ subject: Subject) throws(Refusal) {
        if subject.item == nil ? takesContainer : takesItems { return }
        throw Refusal(
            .refused,
            subject.item == nil
                ? "Comments here are on items; name one."
                : "Comments here are on the container as a whole; name no item.")
    }

    func check(text: String) throws(Refusal) {
        // No text has more characters than bytes: most need not be counted.
        let length = text.utf8.count > maxLength ? text.unicodeScalars.count : 0
        if length > maxLength {
            throw Refusal(
                .limitExceeded,
                "A comment has \(maxLength) characters at most; this one has \(length).",
                evidence: ["limit": "maxLength", "value": "\(maxLength)"])
        }
        if isBlank(text) {
            throw Refusal(.refused, "A comment says something; this one is empty.")
        }
    }

    private func isBlank(_ text: String) -> Bool {
        // Nearly all begin with a character of ASCII that tells at once: one above the space.
        if let first = text.utf8.first, first & 0x80 == 0, first > 32 { return false }
        return text.allSatisfy(\.isWhitespace)
    }

    func check(id: String) throws(Refusal) {
        guard !(1...200).contains(id.utf8.count) else { return }
        throw Refusal(
            .limitExceeded, "A comment's id has 1 to 200 bytes; this one has \(id.utf8.count).",
            evidence: ["limit": "idBytes", "value": "200"])
    }
}

extension Comment {
    /// The comment as people see it once it is deleted: its place alone.
    var asTombstone: Comment {
        var tombstone = self
        tombstone.state = .removed
        tombstone.text = nil
        tombstone.author = nil
        tombstone.moderator = nil
        return tombstone
    }
}
