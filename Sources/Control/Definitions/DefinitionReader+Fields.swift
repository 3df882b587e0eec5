import AtriumKit
import Host
import TimeZones

// The fields of a definition.
extension DefinitionReader {
    /// Reads the fields of a container.
    static func fields(_ node: DefinitionNode) throws(DefinitionProblem) -> [Field] {
        var fields: [Field] = []
        for (key, declaration) in try node.pairs() {
            guard Names.isField(key.name) else {
                throw key.node.problem(
                    "'\(key.name)' is no field's name",
                    hint: "a letter a-z, then up to 62 of a-z A-Z 0-9 _ -")
            }
            fields.append(try field(key.name, declaration))
        }
        for (place, (_, node)) in try node.pairs().enumerated() where fields[place].type == .date {
            fields[place].derivation = try derivation(node, among: fields)
        }
        return fields
    }

    private static func field(
        _ name: String, _ node: DefinitionNode
    ) throws(DefinitionProblem) -> Field {
        let members = try node.members(known: [
            "type", "required", "search", "min", "max", "of", "by", "zone", "title", "unit",
            "description", "details",
        ])
        guard let type = members["type"] else {
            let types = Field.FieldType.allCases.map(\.rawValue).joined(separator: ", ")
            throw node.problem("\(node.path): 'type' is missing", hint: "one of \(types)")
        }
        var field = Field(name: name, type: try type.choice(Field.FieldType.self))
        try check(members, fit: field)
        field.required = try members["required"]?.bool() ?? false
        field.search = try members["search"]?.bool() ?? false
        if field.search, ![.text, .keywords, .url, .markdown].contains(field.type) {
            throw node.problem(
                "\(node.path): only text, keywords, url and markdown can be searched")
        }
        field.min = try members["min"]?.number()
        field.max = try members["max"]?.number()
        if let min = field.min, let max = field.max, min > max {
            throw node.problem("\(node.path): 'min' is greater than 'max'")
        }
        if field.type == .time { field.zone = try members["zone"].map(zone) }
        field.title = try members["title"]?.text()
        field.unit = try members["unit"]?.text()
        field.summary = try members["description"]?.text()
        field.details = try members["details"]?.bool() ?? false
        return field
    }

    /// Throws if a field has members that fields of its type don't take.
    private static func check(
        _ members: [String: DefinitionNode], fit field: Field
    ) throws(DefinitionProblem) {
        for bound in ["min", "max"] {
            guard let node = members[bound] else { continue }
            guard [.number, .integer, .duration].contains(field.type) else {
                throw node.problem("\(node.path): a \(field.type.rawValue) has no '\(bound)'")
            }
        }
        if let node = members["unit"], field.type != .number, field.type != .integer {
            throw node.problem(
                "\(node.path): a \(field.type.rawValue) has no 'unit'",
                hint: "numbers and integers do")
        }
        for word in ["of", "by"] {
            guard let node = members[word], field.type != .date else { continue }
            throw node.problem(
                "\(node.path): a \(field.type.rawValue) has no '\(word)'",
                hint: "'type: date' follows from a field of times")
        }
        if let node = members["zone"], field.type != .date, field.type != .time {
            throw node.problem(
                "\(node.path): a \(field.type.rawValue) has no 'zone'", hint: "times and dates do")
        }
        if let node = members["details"], field.type == .date {
            throw node.problem(
                "\(node.path): a date is in no item, and so in no list",
                hint: "leave 'details' out")
        }
        if let node = members["required"], field.type == .date {
            throw node.problem(
                "\(node.path): a date follows from another field, and is put with no item",
                hint: "make that one required")
        }
    }

    /// Reads how a date is derived from another field.
    private static func derivation(
        _ node: DefinitionNode, among fields: [Field]
    ) throws(DefinitionProblem) -> Field.Derivation {
        let members = Dictionary(try node.pairs().map { ($0.key.name, $0.value) }) { $1 }
        guard let of = members["of"] else {
            throw node.problem(
                "\(node.path): 'of' is missing", hint: "the field of times that the date is of")
        }
        guard let by = members["by"] else {
            let buckets = Field.Bucket.allCases.map(\.rawValue).joined(separator: ", ")
            throw node.problem("\(node.path): 'by' is missing", hint: "one of \(buckets)")
        }
        let name = try of.text()
        let times = fields.filter { $0.type == .time }.map(\.name)
        let hint = times.isEmpty ? "there is none" : "those are: \(times.joined(separator: ", "))"
        guard let source = fields.first(where: { $0.name == name }) else {
            throw of.problem(
                "\(of.path): there is no field '\(name)'",
                hint: nearestName(to: name, among: times).map { "did you mean '\($0)'?" } ?? hint)
        }
        guard source.type != .date else {
            throw of.problem(
                "\(of.path): '\(name)' is a date, which follows from another field itself",
                hint: "name a field of the type time; \(hint)")
        }
        guard source.type == .time else {
            throw of.problem(
                "\(of.path): '\(name)' is of the type \(source.type.rawValue), and a date follows "
                    + "from a time", hint: hint)
        }
        return Field.Derivation(
            of: name, by: try by.choice(Field.Bucket.self),
            zone: try members["zone"].map(zone) ?? source.zone ?? Zone.utc.name)
    }

    /// Reads a time zone; throws if it does not exist.
    private static func zone(_ node: DefinitionNode) throws(DefinitionProblem) -> String {
        let name = try node.text()
        do throws(ZoneProblem) {
            return try ZoneDirectory.system.zone(name).name
        } catch {
            let nearest = nearestName(to: name, among: ZoneDirectory.system.names(beside: name))
            throw node.problem(
                "\(node.path): \(error.description)",
                hint: nearest.map { "did you mean '\($0)'?" } ?? error.hint)
        }
    }
}
