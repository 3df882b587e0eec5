import Foundation
import VarlinkIDL

/// Reads interface definitions, and reads them again as they are written.
@c(LLVMFuzzerTestOneInput)
public func fuzzIDL(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let text = String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    do throws(DefinitionError) {
        let interface = try InterfaceDefinition(text)
        expect(interface.text == text, "the text is not kept as it was")
        checkFormatted(interface)
    } catch {
        let lines = text.split(omittingEmptySubsequences: false) { $0.isNewline }.count
        expect(
            (1...lines + 1).contains(error.position.line) && error.position.column >= 1,
            "an error beyond the text: \(error)")
        expect(!error.reason.isEmpty, "an error without a reason")
    }
    return 0
}

/// What is written of an interface is the same interface, and is written the same again.
private func checkFormatted(_ interface: InterfaceDefinition) {
    let formatted = interface.formatted
    do throws(DefinitionError) {
        let again = try InterfaceDefinition(formatted)
        expect(again.formatted == formatted, "written otherwise the second time:\n\(formatted)")
        expect(
            outline(again) == outline(interface), "another interface once written:\n\(formatted)")
    } catch {
        expect(false, "refused once written: \(error)\n\(formatted)")
    }
}

/// All that an interface says, without where it says so.
private func outline(_ interface: InterfaceDefinition) -> [String] {
    [interface.name, interface.documentation]
        + interface.types.map { "type \($0.name) \(outline($0.type)) \($0.documentation)" }
        + interface.methods.map {
            "method \($0.name)\(outline($0.parameters)) \(outline($0.reply)) \($0.documentation)"
        }
        + interface.errors.map { "error \($0.name)\(outline($0.parameters)) \($0.documentation)" }
}

private func outline(_ structure: Structure) -> String {
    "{" + structure.fields.map { "\($0.name) \(outline($0.type)) \($0.documentation)" }.description
        + "}"
}

/// Not as the type describes itself: what is written is what is being looked at.
private func outline(_ type: FieldType) -> String {
    switch type {
    case .bool: "bool"
    case .int: "int"
    case .float: "float"
    case .string: "string"
    case .object: "object"
    case .any: "any"
    case .named(let name): "named \(name)"
    case .structure(let structure): outline(structure)
    case .enumeration(let enumeration):
        enumeration.values.map { "\($0.name) \($0.documentation)" }.description
    case .array(let element): "array of \(outline(element))"
    case .map(let element): "map of \(outline(element))"
    case .nullable(let type): "perhaps \(outline(type))"
    }
}
