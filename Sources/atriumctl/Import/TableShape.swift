import AtriumFormats
import Interfaces
import JSONCodec

/// How the rows of a table become items.
struct TableShape {
    private let shape: ItemShape
    private let columns: [String]
    private let roles: [ItemShape.Role]
    /// The columns that ids are made of.
    private let idColumns: [Int]
    /// Which fields the columns name, as far as others are to stay; nil: none are.
    let named: NamedFields?

    /// Finds a use for every column; throws for one that is no field, stands twice, or is missing.
    init(_ columns: [String], _ shape: ItemShape) throws(CommandFailure) {
        self.shape = shape
        self.columns = columns
        var roles: [ItemShape.Role] = []
        for (place, column) in columns.enumerated() {
            guard let role = Self.role(of: column, among: columns, shape) else {
                throw CommandFailure(
                    "line 1, column \(place + 1): '\(Wording.cut(column))' is no field of '\(shape.container)'",
                    hint: Self.hint(column, shape))
            }
            if role != .ignored, let before = roles.firstIndex(of: role) {
                throw CommandFailure(
                    "line 1: the columns '\(columns[before])' and '\(column)' mean the same",
                    hint: columns[before] == column
                        ? "give one of them another name."
                        : "--ignore '\(column)' leaves the second out.")
            }
            roles.append(role)
        }
        self.roles = roles
        named = shape.named(roles)
        idColumns = try Self.idColumns(columns, roles, shape)
    }

    private static func role(
        of column: String, among columns: [String], _ shape: ItemShape
    ) -> ItemShape.Role? {
        // What has no name is what an empty column at the side of a spreadsheet comes to.
        if column.isEmpty { return .ignored }
        // A wish that is one column's very name is not about another that means the same.
        let isIgnored = shape.wishes.ignored.contains {
            $0 == column || !columns.contains($0) && ItemText.isSame($0, column)
        }
        return isIgnored ? .ignored : shape.use(of: column)
    }

    private static func hint(_ column: String, _ shape: ItemShape) -> String {
        let shown = Wording.cut(column)
        let name = shown == column ? "'\(column)'" : "with its whole name"
        return (Nearest.hint(column, shape.names) ?? "")
            + " --ignore \(name) leaves the column out."
    }

    private static func idColumns(
        _ columns: [String], _ roles: [ItemShape.Role], _ shape: ItemShape
    ) throws(CommandFailure) -> [Int] {
        guard !shape.wishes.id.isEmpty else {
            guard let place = roles.firstIndex(of: .id) else {
                throw CommandFailure(
                    "line 1 names no column 'id'",
                    hint: "--id makes ids of others, as in --id title,year. "
                        + Nearest.list(columns))
            }
            return [place]
        }
        var places: [Int] = []
        for name in shape.wishes.id {
            guard let place = columns.firstIndex(where: { ItemText.isSame($0, name) }) else {
                throw CommandFailure(
                    "--id: there is no column '\(name)'", hint: Nearest.hint(name, columns),
                    status: .usage)
            }
            places.append(place)
        }
        return places
    }

    /// The item of a row.
    func item(_ cells: [String]) throws(ImportLineError) -> Contents.Put.Parameters.Items {
        var members: [JSONValue.Member] = []
        var parent: String?
        for (place, role) in roles.enumerated() where !cells[place].isEmpty {
            switch role {
            case .field(let field):
                do throws(ImportLineError) {
                    guard let value = try shape.value(cells[place], of: field) else { continue }
                    members.append(.init(field.name, value))
                } catch {
                    throw ImportLineError(reason: "column \(place + 1): \(error.reason)")
                }
            case .parent: parent = ItemText.trimmed(cells[place])
            case .id, .ignored: break
            }
        }
        let fields = JSONObject(checked: JSON.encode(JSONValue.object(members)))
        return .init(id: try id(cells), fields: fields, parent: parent)
    }

    private func id(_ cells: [String]) throws(ImportLineError) -> String {
        let values = idColumns.map { cells[$0] }
        let id =
            shape.wishes.id.isEmpty ? ItemText.trimmed(values[0]) : ItemText.slug(values) ?? ""
        guard !id.isEmpty else {
            let names = idColumns.map { "'\(columns[$0])'" }.joined(separator: ", ")
            throw ImportLineError(reason: "there is no id: nothing stands in \(names)")
        }
        return id
    }
}
