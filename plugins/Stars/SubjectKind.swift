import AtriumKit

extension SubjectKind {
    static let subjects = Setting.list(
        "subjects", "what may be voted on: items, container, or both"
    ).defaulting(to: ["items", "container"])

    static func read(_ settings: Settings) throws(SettingError) -> Set<SubjectKind> {
        var kinds: Set<SubjectKind> = []
        for (index, value) in settings[subjects].enumerated() {
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
        return kinds
    }
}
