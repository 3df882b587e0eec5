import Foundation
import JSONCodec
import TestSupport
import Testing

@testable import PluginLoader

/// The JSON Schema of manifests says what the reader takes.
@Suite struct `The schema of manifests` {
    private let schema: JSONValue

    init() throws {
        schema = try JSON.decode(from: Self.bytes("docs/manifest.schema.json"))
    }

    private static func bytes(_ path: String) throws -> [UInt8] {
        let file = Checkout.root + "/" + path
        return Array(try Data(contentsOf: URL(fileURLWithPath: file)))
    }

    @Test func `has the members that the reader knows`() {
        let names = schema["properties"]?.object?.map(\.name) ?? []
        #expect(Set(names) == Set(PluginManifest.known))
        #expect(schema["additionalProperties"]?.bool == false)
        let kinds = schema["properties"]?["kind"]?["enum"]?.array?.compactMap(\.string) ?? []
        #expect(Set(kinds) == Set(PluginKind.all.map(\.rawValue)))
    }

    @Test func `takes every manifest of the project, as the reader does`() throws {
        var count = 0
        for folder in ["plugins", "Examples", "Tests/Fixtures/Programs"] {
            let paths = FileManager.default.enumerator(atPath: Checkout.root + "/" + folder)
            while let path = paths?.nextObject() as? String {
                guard path.hasSuffix("/manifest.json") else { continue }
                let manifest: JSONValue = try JSON.decode(
                    from: Self.bytes("\(folder)/\(path)"))
                #expect(try problem(in: manifest) == nil, "\(path)")
                count += 1
            }
        }
        #expect(count >= 10)
    }

    @Test(arguments: [
        #"{"id": "a..b", "version": "1.0.0", "kind": "votes", "library": "l", "title": "t"}"#,
        #"{"id": "a", "version": "1", "kind": "votes", "library": "l", "title": "t"}"#,
        #"{"id": "a", "version": "01.0.0", "kind": "votes", "library": "l", "title": "t"}"#,
        #"{"id": "a", "version": "1.0.0-a..b", "kind": "votes", "library": "l", "title": "t"}"#,
        #"{"id": "a", "version": "1.0.0+", "kind": "votes", "library": "l", "title": "t"}"#,
        #"{"id": "a", "version": "1.0.0", "kind": "vote", "library": "l", "title": "t"}"#,
        #"{"id": "a", "version": "1.0.0", "kind": "votes", "title": "t"}"#,
        #"{"id": "a", "version": "1.0.0", "kind": "votes", "library": "l", "program": "p", "title": "t"}"#,
        #"{"id": "a", "version": "1.0.0", "kind": "votes", "library": "l", "title": ""}"#,
        #"{"id": "a", "version": "1.0.0", "kind": "votes", "library": "l", "title": "t", "paths": [1]}"#,
        #"{"id": "a", "version": "1.0.0", "kind": "votes", "library": "l", "title": "t", "author": "x"}"#,
        #"{"id": "a", "version": "1.0.0", "kind": "votes", "library": "l", "title": "t", "callSeconds": 0}"#,
        #"{"id": "a", "version": "1.0.0", "kind": "votes", "library": "l", "title": "t", "callSeconds": 1.5}"#,
    ])
    func `refuses what the reader refuses`(text: String) throws {
        let manifest: JSONValue = try JSON.decode(from: Array(text.utf8))
        #expect(try problem(in: manifest) != nil)
        let folder = try TemporaryDirectory()
        try folder.write("manifest.json", text)
        #expect(throws: PluginProblem.self) {
            try PluginManifest(folder.path + "/manifest.json")
        }
    }

    @Test(arguments: ["0.0.0", "10.20.30", "1.0.0-beta.1", "1.0.0-01", "1.0.0+a-b.7", "1.0.0--+0"])
    func `takes the versions that the reader takes`(version: String) throws {
        let text =
            #"{"id": "a", "version": "\#(version)", "kind": "votes", "library": "l", "title": "t"}"#
        let manifest: JSONValue = try JSON.decode(from: Array(text.utf8))
        #expect(try problem(in: manifest) == nil)
        let folder = try TemporaryDirectory()
        try folder.write("manifest.json", text)
        #expect(try PluginManifest(folder.path + "/manifest.json").version == version)
    }

    /// What is wrong with a manifest by the schema, as far as this one uses JSON Schema.
    private func problem(in manifest: JSONValue) throws -> String? {
        guard let members = manifest.object else { return "no object" }
        for name in schema["required"]?.array?.compactMap(\.string) ?? []
        where manifest[name] == nil { return "\(name) is missing" }
        let fitting = (schema["oneOf"]?.array ?? []).count { choice in
            choice["required"]?.array?.allSatisfy { manifest[$0.string ?? ""] != nil } ?? false
        }
        guard fitting == 1 else { return "library or program" }
        for member in members {
            guard let rule = schema["properties"]?[member.name] else { return member.name }
            if let problem = try Self.problem(in: member.value, rule) {
                return "\(member.name): \(problem)"
            }
        }
        return nil
    }

    private static func problem(in value: JSONValue, _ rule: JSONValue) throws -> String? {
        switch rule["type"]?.string {
        case "object": return value.object == nil ? "no object" : nil
        case "array":
            guard let elements = value.array, let inner = rule["items"] else { return "no list" }
            for element in elements {
                if let problem = try Self.problem(in: element, inner) { return problem }
            }
            return nil
        case "integer":
            guard let number = value.int else { return "no whole number" }
            let (least, most) = (rule["minimum"]?.int ?? .min, rule["maximum"]?.int ?? .max)
            return number < least || number > most ? "out of range" : nil
        default: break
        }
        guard let text = value.string else { return "no text" }
        if let choices = rule["enum"]?.array, !choices.contains(where: { $0.string == text }) {
            return "none of the choices"
        }
        if text.utf8.count < rule["minLength"]?.int ?? 0 { return "too short" }
        if text.utf8.count > rule["maxLength"]?.int ?? .max { return "too long" }
        if let pattern = rule["pattern"]?.string, try Regex(pattern).firstMatch(in: text) == nil {
            return "another form"
        }
        return nil
    }
}
