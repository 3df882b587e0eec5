import Foundation
import Testing
import VarlinkIDL

/// The interfaces of the control protocol and of plugins that are programs, as they stand in the repository.
@Suite struct PublishedInterfacesTests {
    static let files: [URL] = {
        let sources = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Sources").standardizedFileURL
        return ["Interfaces", "PluginInterfaces"].flatMap { module in
            let all = try? FileManager.default.contentsOfDirectory(
                at: sources.appending(path: module), includingPropertiesForKeys: nil)
            return (all ?? []).filter { $0.pathExtension == "varlink" }
        }
    }()

    @Test func `there are interfaces to hold against the rules`() {
        #expect(Self.files.count >= 10)
    }

    @Test(arguments: files)
    func `a published interface is read, and called like its file`(file: URL) throws {
        let text = try String(contentsOf: file, encoding: .utf8)
        let definition = try InterfaceDefinition(text)
        #expect(definition.name + ".varlink" == file.lastPathComponent)
        #expect(!definition.documentation.isEmpty)
    }

    /// What the Python client's parser does not read, or reads otherwise.
    @Test(arguments: files)
    func `a published interface keeps to what other parsers read`(file: URL) throws {
        let text = try String(contentsOf: file, encoding: .utf8)
        #expect(!text.contains("\r"))
        let definition = try InterfaceDefinition(text)
        var types = definition.types.map(\.type)
        types += definition.methods.flatMap { [.structure($0.parameters), .structure($0.reply)] }
        types += definition.errors.map { .structure($0.parameters) }
        for type in types { try check(type) }
        for error in definition.errors {
            #expect(text.contains("error \(error.name) ("), "\(error.name) has no parentheses")
        }
    }

    private func check(_ type: FieldType) throws {
        switch type {
        case .any: Issue.record("any is not known to others")
        case .enumeration(let values): #expect(values.values.count > 1)
        case .structure(let structure):
            for field in structure.fields { try check(field.type) }
        case .array(let element), .map(let element), .nullable(let element): try check(element)
        case .bool, .int, .float, .string, .object, .named: break
        }
    }
}
