package import AtriumFormats
package import AtriumKit
internal import Foundation
internal import JSONCodec

/// The locations of an item's id, parent and fields in a document.
package struct ItemMapping: Sendable {
    /// The location of one of these values.
    package struct Location: Sendable {
        /// The setting that names the location, for messages; nil: the location is the default.
        package let setting: String?
        /// A column's or a member's name, or a pointer.
        package let name: String
        /// Set where the name begins with `/`, and is no other's.
        package let pointer: JSONPointer?

        package init(_ name: String, setting: String?) throws(SettingError) {
            self.name = name
            self.setting = setting
            pointer = name.hasPrefix("/") ? JSONPointer(name) : nil
            guard !name.isEmpty, !name.hasPrefix("/") || pointer != nil else {
                throw SettingError(
                    setting ?? name,
                    "expected a column, a member or a JSON Pointer such as /a/b, found '\(name)'")
            }
        }
    }

    package let ids: [Location]
    package let parent: Location?
    /// The fields, and where each is.
    package let fields: [(field: Field, location: Location)]
    package let values: ItemValues

    /// The settings that name the locations.
    package struct Names: Sendable {
        package let id: TypedSetting<String>
        package let parent: TypedSetting<String>
        package let fields: TypedSetting<[String: Value]?>

        /// Declares the settings `id`, `parent` and `fields`, each with its description.
        package init(id: String, parent: String, fields: String) {
            self.id = Setting.text("id", id).defaulting(to: "id")
            self.parent = Setting.text("parent", parent).defaulting(to: "parent")
            self.fields = Setting.object("fields", fields)
        }

        /// All of them.
        package var settings: [Setting] { [id.setting, parent.setting, fields.setting] }
    }

    package init(
        _ context: ComponentContext, _ named: Names, separator: Unicode.Scalar?
    ) throws(SettingError) {
        let (settings, own) = (context.settings, context.fields.filter { $0.derivation == nil })
        var ids: [Location] = []
        for name in settings[named.id].split(separator: ",").map(ItemText.trimmed) {
            ids.append(try Location(name, setting: "id"))
        }
        guard !ids.isEmpty else { throw SettingError("id", "name a column or a member") }
        self.ids = ids
        let names = settings[named.fields] ?? [:]
        for name in names.keys.sorted() where !own.contains(where: { $0.name == name }) {
            throw SettingError.unknown("fields.\(name)", name: name, known: own.map(\.name))
        }
        var fields: [(field: Field, location: Location)] = []
        for field in own {
            guard let other = names[field.name] else {
                fields.append((field, try Location(field.name, setting: nil)))
                continue
            }
            guard let name = other.text else {
                throw SettingError(
                    "fields.\(field.name)",
                    "expected a column, a member or a JSON Pointer, found \(other.typeName)")
            }
            fields.append((field, try Location(name, setting: "fields.\(field.name)")))
        }
        self.fields = fields
        let lies = settings[named.parent]
        // A field of that name is one.
        let isField = lies == "parent" && own.contains { $0.name == lies }
        parent =
            isField || lies.isEmpty
            ? nil : try Location(lies, setting: lies == "parent" ? nil : "parent")
        values = ItemValues(separator: separator.map(Character.init))
    }

    /// Makes the item of the values that were found in a line.
    ///
    /// - Throws: ``FormatProblem`` if there is no id or an invalid one, or if a field is missing that every item has.
    package func item(
        _ ids: [String], _ parent: String?, _ fields: [String: Value], line: Int
    ) throws(FormatProblem) -> Item {
        let id = self.ids.count == 1 ? ids.first.map(ItemText.trimmed) : ItemText.slug(ids)
        guard let id, !id.isEmpty else {
            let names = self.ids.map { "'\($0.name)'" }.joined(separator: ", ")
            throw FormatProblem(line: line, reason: "there is no id: nothing stands in \(names)")
        }
        for (field, location) in self.fields where field.required && fields[field.name] == nil {
            throw FormatProblem(
                line: line,
                reason:
                    "there is no '\(field.name)', which every item has: nothing stands in '\(location.name)'"
            )
        }
        let parent = parent.map(ItemText.trimmed).flatMap { $0.isEmpty ? nil : $0 }
        return Item(
            id: try Self.normal(id, line), fields: fields,
            parent: try parent.map { (id) throws(FormatProblem) in try Self.normal(id, line) })
    }

    /// An id in NFC, as ids are.
    private static func normal(_ text: String, _ line: Int) throws(FormatProblem) -> String {
        let id = ItemText.normal(text)
        guard id.utf8.count <= 200,
            id.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control })
        else {
            throw FormatProblem(
                line: line,
                reason:
                    "'\(id.prefix(60))' is no id: it has 200 bytes at most, and no control characters"
            )
        }
        return id
    }
}

/// Items of a table's rows.
package struct RowMapping {
    private let mapping: ItemMapping
    private let values: ItemValues
    private let columns: [String]
    private let ids: [Int]
    private let parent: Int?
    private let fields: [(field: Field, column: Int)]

    /// Finds the columns; throws for one that the settings name and the table has not.
    package init(_ table: CSVReader, _ mapping: ItemMapping) throws(FormatProblem) {
        self.mapping = mapping
        var values = mapping.values
        values.texts.allowsDecimalComma = table.allowsDecimalComma
        self.values = values
        columns = table.columns
        var ids: [Int] = []
        for location in mapping.ids {
            ids += try Self.column(location, in: columns).map { [$0] } ?? []
        }
        self.ids = ids
        parent = try mapping.parent.flatMap { (location) throws(FormatProblem) in
            try Self.column(location, in: table.columns)
        }
        var fields: [(field: Field, column: Int)] = []
        for (field, location) in mapping.fields {
            if let column = try Self.column(location, in: columns) {
                fields.append((field, column))
            }
        }
        self.fields = fields
    }

    private static func column(
        _ location: ItemMapping.Location, in columns: [String]
    ) throws(FormatProblem) -> Int? {
        if let column = columns.firstIndex(of: location.name)
            ?? columns.firstIndex(where: { ItemText.isSame($0, location.name) })
        {
            return column
        }
        guard let setting = location.setting else { return nil }
        let hint =
            nearestName(to: location.name, among: columns).map { "did you mean '\($0)'? " } ?? ""
        throw FormatProblem(
            line: 1,
            reason:
                "there is no column '\(location.name)', which the setting '\(setting)' names; \(hint)there are: "
                + columns.prefix(30).joined(separator: ", "))
    }

    package func item(_ cells: [String], line: Int) throws(FormatProblem) -> Item {
        var fields: [String: Value] = [:]
        for (field, column) in self.fields where !cells[column].isEmpty {
            do throws(FieldValues.Misfit) {
                fields[field.name] = try values.value(.string(cells[column]), of: field)
            } catch {
                throw FormatProblem(
                    line: line, column: column + 1,
                    reason: "'\(columns[column])': \(error.reason)")
            }
        }
        return try mapping.item(ids.map { cells[$0] }, parent.map { cells[$0] }, fields, line: line)
    }
}
