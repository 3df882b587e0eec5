import AtriumFormats
import Interfaces
import JSONCodec

/// `FIELD=VALUE` words, typed as a container declares its fields.
enum FieldInput {
    /// The fields that words `FIELD=VALUE` stand for, in order, where a keywords field may stand several times; null
    /// for `FIELD=`, which takes the field away.
    static func members(_ words: [String], fields: [Field]) throws -> [JSONValue.Member] {
        var object = JSONValue.object([])
        for word in words {
            guard let separator = word.firstIndex(of: "="), separator > word.startIndex else {
                throw CommandFailure(
                    "'\(word)' is no field with a value", hint: "write FIELD=VALUE.",
                    status: .usage)
            }
            let name = String(word[..<separator])
            let text = String(word[word.index(after: separator)...])
            guard let field = fields.first(where: { $0.name == name }) else {
                throw unknown(name, fields)
            }
            let value = text.isEmpty ? .null : try value(text, of: field)
            if case .array(let before)? = object[name], case .array(let more) = value {
                object[name] = .array(before + more)
            } else {
                guard object[name] == nil else {
                    throw CommandFailure(
                        "the field '\(name)' has two values",
                        hint: "fields of the type keywords alone may be named several times.",
                        status: .usage)
                }
                object[name] = value
            }
        }
        return object.object ?? []
    }

    /// The value that a text stands for in a field.
    static func value(_ text: String, of field: Field) throws -> JSONValue {
        do throws(FieldValues.Misfit) {
            return try FieldValues.exact(text, type: field.type)
        } catch {
            throw CommandFailure("\(field.name): \(error.reason)", status: .usage)
        }
    }

    private static func unknown(_ name: String, _ fields: [Field]) -> CommandFailure {
        CommandFailure(
            "there is no field '\(name)'", hint: Nearest.hint(name, fields.map(\.name)),
            status: .usage)
    }
}
