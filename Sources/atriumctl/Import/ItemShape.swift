import AtriumFormats
import Interfaces
import JSONCodec

/// How columns of a table, and members of an object, become an item of a container.
struct ItemShape {
    /// What a column or a member is for.
    enum Role: Equatable {
        case id
        case parent
        case field(Field)
        case ignored
    }

    /// What somebody said about columns.
    struct Wishes: Equatable {
        /// Of which columns ids are made; empty: they stand in the column `id`.
        var id: [String] = []
        /// Which columns are left out.
        var ignored: [String] = []
        /// Whether items lose the fields that are not named.
        var replacesItems = false
    }

    let container: String
    let fields: [Field]
    let wishes: Wishes
    /// Whether a comma may stand for the point in numbers.
    var allowsDecimalComma = false

    /// What `list --output csv` prints of items beyond their fields.
    private static let derived: Set = ["votes.score", "votes.count", "comments.count"]

    /// What a name is for; nil where there is no such field.
    func role(of name: String) -> Role? {
        wishes.ignored.contains { ItemText.isSame($0, name) } ? .ignored : use(of: name)
    }

    /// What a name is for that nobody wants left out.
    func use(of name: String) -> Role? {
        if Self.derived.contains(name) { return .ignored }
        if let field = fields.first(where: { $0.name == name }) { return .field(field) }
        if wishes.id.isEmpty, ItemText.plain(name) == "id" { return .id }
        if let field = fields.first(where: { ItemText.isSame($0.name, name) }) {
            return .field(field)
        }
        if ItemText.plain(name) == "parent" { return .parent }
        // Where a field's name can't be that of the column, as of 名前, its title is.
        let printed = PrintableText.line(name)
        let titled = fields.filter { $0.title == printed }
        if titled.count == 1 { return .field(titled[0]) }
        return wishes.id.contains { ItemText.isSame($0, name) } ? .ignored : nil
    }

    /// The fields of these roles, as far as others are to stay; nil: none are.
    func named(_ roles: [Role]) -> NamedFields? {
        guard !wishes.replacesItems else { return nil }
        var named = NamedFields(hasParent: roles.contains(.parent))
        for case .field(let field) in roles { named.fields.insert(field.name) }
        let isWhole = named.hasParent && named.fields.isSuperset(of: fields.map(\.name))
        return isWhole ? nil : named
    }

    /// The names that columns may have.
    var names: [String] { fields.map(\.name) + (wishes.id.isEmpty ? ["id"] : []) + ["parent"] }

    /// What to say of a name that is no field's.
    func unknown(_ name: String) -> ImportLineError {
        let nearest = Nearest.name(to: ItemText.plain(name), in: names)
        let meant = nearest.map { "did you mean '\($0)'? " } ?? ""
        let shown = Wording.cut(name)
        let option = shown == name ? "'\(name)'" : "with its whole name"
        return ImportLineError(
            reason: "'\(shown)' is no field of '\(container)': "
                + "\(meant)--ignore \(option) leaves it out")
    }
}

/// A value that stands for a field's.
extension ItemShape {
    /// The value that a text stands for; nil where it stands for none.
    func value(_ text: String, of field: Field) throws(ImportLineError) -> JSONValue? {
        do throws(FieldValues.Misfit) {
            return try texts.value(text, type: field.type)
        } catch {
            throw ImportLineError(reason: "\(field.name): \(error.reason)")
        }
    }

    /// The value that one of JSON stands for; nil where it stands for none.
    func value(_ value: JSONValue, of field: Field) throws(ImportLineError) -> JSONValue? {
        do throws(FieldValues.Misfit) {
            return try texts.value(value, type: field.type)
        } catch {
            throw ImportLineError(reason: "\(field.name): \(error.reason)")
        }
    }

    private var texts: FieldValues { FieldValues(allowsDecimalComma: allowsDecimalComma) }
}
