import AtriumKit

/// The requirements of fields, in a form that quickly accepts an item that meets all of them.
///
/// Nearly all items do. For any other item, ``FieldChecker`` finds the problem by checking each field in turn.
struct FieldRules {
    /// The types whose values are judged here; a value of any other type is judged by the type itself.
    fileprivate enum Form {
        case text, keywords, number, integer, boolean, duration, other
    }

    fileprivate struct Rule {
        let name: String
        let form: Form
        let required: Bool
        /// Whether it follows from another field, so that no item is put with it.
        let isDerived: Bool
        let least: Double
        let greatest: Double
    }

    /// The maximum number of fields that are searched one by one for a name; with more, hashing is faster.
    private static let few = 16

    private let rules: [Rule]
    /// The types, by their rules: in a rule they would make all of it slow to copy, as their layout is the kit's own.
    private let types: [Field.FieldType]
    private let required: Int

    init(_ fields: [Field]) {
        rules = fields.map { field in
            Rule(
                name: field.name, form: Form(field.type), required: field.required,
                isDerived: field.derivation != nil,
                least: field.min ?? -.infinity, greatest: field.max ?? .infinity)
        }
        types = fields.map(\.type)
        required = rules.count { $0.required && !$0.isDerived }
    }

    /// Whether an item may be put; false also where that is still to be found out.
    func fit(_ item: Item) -> Bool {
        guard rules.count <= Self.few, ItemID.isPlain(item.id) else { return false }
        if let parent = item.parent, !ItemID.isPlain(parent) { return false }
        var missing = required
        for (name, value) in item.fields {
            guard let place = rules.firstIndex(where: { $0.name == name }),
                takes(value, at: place)
            else { return false }
            if rules[place].required, !value.isNull { missing -= 1 }
        }
        return missing == 0
    }

    @inline(__always)
    private func takes(_ value: Value, at place: Int) -> Bool {
        if rules[place].form == .other, !rules[place].isDerived, !value.isNull {
            return types[place].accepts(value) && types[place].isExact(value)
        }
        return rules[place].takes(value)
    }
}

extension FieldRules.Rule {
    @inline(__always)
    fileprivate func takes(_ value: Value) -> Bool {
        switch (form, value) {
        case (_, .null): true
        case _ where isDerived: false
        case (.text, .text): true
        case (.keywords, .list(let list)):
            list.allSatisfy { if case .text = $0 { true } else { false } }
        case (.boolean, .bool): true
        case (.integer, .int(let int)), (.number, .int(let int)):
            Self.exact ~= int && isWithin(Double(int))
        case (.duration, .int(let int)): 0 <= int && Self.exact ~= int && isWithin(Double(int))
        case (.number, .number(let number)): number.isFinite && isWithin(number)
        case (.duration, .number(let number)): number.isFinite && 0 <= number && isWithin(number)
        default: false
        }
    }

    /// The whole numbers that each have a representation of their own as a `Double`.
    private static var exact: ClosedRange<Int64> { -(1 << 53)...(1 << 53) }

    private func isWithin(_ number: Double) -> Bool { least <= number && number <= greatest }
}

extension FieldRules.Form {
    fileprivate init(_ type: Field.FieldType) {
        self =
            switch type {
            case .text, .markdown: .text
            case .keywords: .keywords
            case .number: .number
            case .integer: .integer
            case .boolean: .boolean
            case .duration: .duration
            default: .other
            }
    }
}
