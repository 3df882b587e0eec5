import Foundation
import Testing

@testable import VarlinkIDL

@Suite struct FormattingTests {
    private static let untidy = """
        # An interface.
        interface a.b
        error E(x:int)
        # A type.
        #
        # Of two paragraphs.
        type T(x:?[]?(at:int),# not kept
        # A field.
         y:(a,
         # A value.
         b)) # nor this
        # nor that

        method M()->(long_name:[string]()  ,  another_name:object,and_one_more:any,yet_another:[]float)
        type Empty (
        )
        """

    private static let tidy = """
        # An interface.
        interface a.b

        error E (x: int)

        # A type.
        #
        # Of two paragraphs.
        type T (
          x: ?[]?(at: int),
          # A field.
          y: (
            a,
            # A value.
            b
          )
        )

        method M() -> (
          long_name: [string](),
          another_name: object,
          and_one_more: any,
          yet_another: []float
        )

        type Empty ()

        """

    @Test func `a definition is laid out anew, with its comments`() throws {
        #expect(try InterfaceDefinition(Self.untidy).formatted == Self.tidy)
        #expect(try InterfaceDefinition(Self.tidy).formatted == Self.tidy)
    }

    @Test(arguments: PublishedInterfacesTests.files)
    func `laying out a published interface changes nothing but its looks`(file: URL) throws {
        let definition = try InterfaceDefinition(String(contentsOf: file, encoding: .utf8))
        let again = try InterfaceDefinition(definition.formatted)
        #expect(again.formatted == definition.formatted)
        #expect(again.types.map(\.documentation) == definition.types.map(\.documentation))
        #expect(again.types.map(\.type.description) == definition.types.map(\.type.description))
        #expect(again.methods.map(\.documentation) == definition.methods.map(\.documentation))
        #expect(
            again.methods.map(\.parameters.description)
                == definition.methods.map(\.parameters.description))
        #expect(
            again.methods.map(\.reply.description) == definition.methods.map(\.reply.description))
        #expect(again.errors.map(\.name) == definition.errors.map(\.name))
    }

    @Test func `what is laid out is read as what it was`() throws {
        for seed in 0..<500 {
            var random = RandomDefinition(seed: UInt64(seed))
            let definition = random.make()
            let text = definition.formatted
            let again = try InterfaceDefinition(text)
            #expect(again.formatted == text, "seed \(seed)")
            #expect(again.withoutPlaces == definition.withoutPlaces, "seed \(seed)")
            #expect(again.text == text)
        }
    }
}

extension InterfaceDefinition {
    /// All that a definition says, without where.
    fileprivate var withoutPlaces: String {
        let structures =
            types.map { ("type", $0.name, $0.documentation, [$0.type]) }
            + methods.map {
                (
                    "method", $0.name, $0.documentation,
                    [.structure($0.parameters), .structure($0.reply)]
                )
            }
            + errors.map { ("error", $0.name, $0.documentation, [.structure($0.parameters)]) }
        return "\(name) \(documentation) "
            + structures.map { "\($0) \($1) \($2) \($3.map(\.everything))" }.joined()
    }
}

extension FieldType {
    fileprivate var everything: String {
        switch self {
        case .structure(let structure):
            "(\(structure.fields.map { "\($0.documentation)|\($0.name): \($0.type.everything)" }))"
        case .enumeration(let enumeration):
            "(\(enumeration.values.map { "\($0.documentation)|\($0.name)" }))"
        case .array(let element): "[]" + element.everything
        case .map(let element): "[string]" + element.everything
        case .nullable(let type): "?" + type.everything
        case .bool, .int, .float, .string, .object, .any, .named: description
        }
    }
}
