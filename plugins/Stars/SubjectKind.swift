import AtriumKit

extension SubjectKind {
    /// The setting `subjects`.
    static func read(_ settings: Settings) throws(SettingError) -> Set<SubjectKind> {
        var kinds: Set<SubjectKind> = []
        for (index, value) in (settings["subjects"]?.list ?? []).enumerated() {
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
