import VarlinkIDL

/// Writes the members of a structure: its initialiser, and how it is read and written as JSON.
struct StructureWriter {
    let structure: Structure
    let types: TypeWriter

    private var fields: [Field] { structure.fields }

    func write(to source: inout SourceText) {
        writeInitialiser(to: &source)
        source.line("")
        writeReading(to: &source)
        source.line("")
        writeWriting(to: &source)
    }

    private func writeInitialiser(to source: inout SourceText) {
        let parameters = fields.map { field in
            let type = types.swiftType(of: field)
            let name = SwiftNames.identifier(field.name)
            return "\(name): \(type)" + (field.type.wrapped == nil ? "" : " = nil")
        }
        guard !fields.isEmpty else {
            source.line("/// Makes the only value.")
            source.line("public init() {}")
            return
        }
        source.line("/// Makes a value; what may be absent is nil by default.")
        let list = parameters.joined(separator: ", ")
        if list.count <= 70 {
            source.line("public init(\(list)) {")
        } else {
            source.line("public init(")
            source.indented { source in
                for (index, parameter) in parameters.enumerated() {
                    source.line(parameter + (index == parameters.count - 1 ? "" : ","))
                }
            }
            source.line(") {")
        }
        source.indented { source in writeAssignments(to: &source) }
        source.line("}")
    }

    private func writeReading(to source: inout SourceText) {
        // Fields are read into variables called like them: the reader's own must be called otherwise.
        let json = SwiftNames.local("json", besides: fields)
        let key = SwiftNames.local("key", besides: fields)
        let seen = SwiftNames.local("seen", besides: fields)
        let others = SwiftNames.local("others", besides: fields)
        source.line("/// Reads an object with these members.")
        let head = json == "json" ? "json" : "json \(json)"
        source.block("public init(\(head): inout JSONReader) throws(JSONError)") { source in
            for field in fields {
                let type = types.swiftType(of: field)
                let optional = field.type.wrapped == nil ? type + "?" : type
                source.line("var \(SwiftNames.identifier(field.name)): \(optional)")
            }
            if !fields.isEmpty { source.line("var \(seen) = JSONMemberSet()") }
            source.line("var \(others) = JSONKeySet()")
            source.line("try \(json).beginObject()")
            source.block("while let \(key) = try \(json).nextKey()") { source in
                guard !fields.isEmpty else {
                    return source.line("try \(json).skipUnknownMember(\(key), among: &\(others))")
                }
                source.line("switch \(key) {")
                for (number, field) in fields.enumerated() {
                    source.line("case \"\(field.name)\":")
                    source.indented { source in
                        source.line("try \(seen).insert(\(number), named: \(key), in: \(json))")
                        writeReading(of: field, from: json, to: &source)
                    }
                }
                source.line("default: try \(json).skipUnknownMember(\(key), among: &\(others))")
                source.line("}")
            }
            writeStoring(from: json, to: &source)
        }
    }

    /// Writes the end of reading: checks that required members were found, and assigns the properties.
    private func writeStoring(from json: String, to source: inout SourceText) {
        for field in fields where field.type.wrapped == nil {
            let name = SwiftNames.identifier(field.name)
            // `take` moves the value; a copy would retain it, and release it at the end.
            source.line(
                "guard let \(name) = \(name).take() else "
                    + "{ throw \(json).missingMember(\"\(field.name)\") }")
        }
        writeAssignments(to: &source)
    }

    private func writeAssignments(to source: inout SourceText) {
        for field in fields {
            let name = SwiftNames.identifier(field.name)
            if types.isRecursive(field) {
                let box = SwiftNames.box(field.name)
                source.line("self.\(box) = \(name).map { [$0] } ?? []")
            } else {
                source.line("self.\(name) = \(name)")
            }
        }
    }

    private func writeReading(
        of field: Field, from json: String, to source: inout SourceText
    ) {
        let name = SwiftNames.identifier(field.name)
        let type = types.swiftType(
            field.type.wrapped ?? field.type, nested: SwiftNames.nestedType(field.name))
        let value: String
        switch field.type.wrapped ?? field.type {
        case .bool: value = "\(json).readBool()"
        case .int: value = "\(json).readInt()"
        case .float: value = "\(json).readDouble()"
        case .string: value = "\(json).readString()"
        default: value = "\(type)(json: &\(json))"
        }
        let test = (field.type.wrapped ?? field.type).testForNull(
            of: SwiftNames.local("value", besides: fields))
        switch (field.type, test) {
        case (.nullable(.any), _), (.nullable, nil):
            source.line("if try !\(json).readNull() { \(name) = try \(value) }")
        case (.nullable, let test?):
            source.block("if try !\(json).readNull()") { source in
                writeReading(of: name, as: value, unless: test, from: json, to: &source)
            }
        case (_, let test?):
            writeReading(of: name, as: value, unless: test, from: json, to: &source)
        case (_, nil):
            source.line("\(name) = try \(value)")
        }
    }

    /// Writes the reading of a field whose type contains `any`, which must not be null.
    private func writeReading(
        of name: String, as reading: String, unless test: String, from json: String,
        to source: inout SourceText
    ) {
        let start = SwiftNames.local("start", besides: fields)
        let value = SwiftNames.local("value", besides: fields)
        source.line("let \(start) = \(json).offset")
        source.line("let \(value) = try \(reading)")
        source.block("if \(test)") { source in
            source.line(
                "throw \(json).invalidValue("
                    + "expected: \"a value\", found: \"null\", at: \(start))")
        }
        source.line("\(name) = \(value)")
    }

    private func writeWriting(to source: inout SourceText) {
        source.line("/// Writes an object with these members, without those that are nil.")
        source.block("public func write(to json: inout JSONWriter)") { source in
            source.line("json.beginObject()")
            for field in fields {
                let name = "self.\(SwiftNames.identifier(field.name))"
                guard let wrapped = field.type.wrapped else {
                    source.line("json.key(\"\(field.name)\")")
                    source.line(writing(of: name, as: field.type))
                    continue
                }
                source.block("if let value = \(name)") { source in
                    source.line("json.key(\"\(field.name)\")")
                    source.line(writing(of: "value", as: wrapped))
                }
            }
            source.line("json.endObject()")
        }
    }

    private func writing(of value: String, as type: FieldType) -> String {
        switch type {
        case .bool: "json.bool(\(value))"
        case .int: "json.int(\(value))"
        case .float: "json.double(\(value))"
        case .string: "json.string(\(value))"
        default: "\(value).write(to: &json)"
        }
    }
}

extension FieldType {
    /// A Swift condition: whether a value of type `any` within `name` is null; nil where the type contains
    /// no `any`.
    fileprivate func testForNull(of name: String) -> String? {
        switch self {
        case .any: "\(name) == .null"
        case .array(let element):
            element.testForNull(of: "$0").map { "\(name).contains(where: { \($0) })" }
        case .map(let element):
            element.testForNull(of: "$0").map { "\(name).values.contains(where: { \($0) })" }
        case .nullable(let type):
            type.testForNull(of: "$0").map { "\(name).map({ \($0) }) ?? false" }
        case .bool, .int, .float, .string, .object, .named, .structure, .enumeration: nil
        }
    }
}
