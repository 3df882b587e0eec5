import AtriumKit
import AtriumKitTesting
import Foundation

/// What a manifest says of the check of its plugin, as `conformance`.
struct DeclaredCheck {
    var settings: [String: Value] = [:]
    /// The fields of the container.
    var fields = Conformance.fields
    /// The path of a file of examples.
    var examples: String?

    /// What makes no sense, and where.
    struct Problem: Error, CustomStringConvertible {
        let description: String

        init(_ member: String, _ expected: String) {
            description = "'\(member)': expected \(expected)"
        }
    }

    /// The suite's fields, and no settings.
    init() {}

    /// Reads the member of a manifest.
    ///
    /// - Parameters:
    ///   - member: `conformance`; nil: there is none.
    ///   - folder: the manifest's.
    /// - Throws: ``Problem``, or `ExampleProblem` for fields that make no sense.
    init(_ member: Value?, in folder: URL) throws {
        guard let member else { return }
        guard let members = member.object else { throw Problem("conformance", "an object") }
        let known = ["settings", "fields", "examples"]
        if let unknown = members.keys.sorted().first(where: { !known.contains($0) }) {
            throw Problem("conformance", "\(known.joined(separator: ", ")), found '\(unknown)'")
        }
        if let value = members["settings"] {
            guard let object = value.object else {
                throw Problem("conformance.settings", "an object")
            }
            settings = object
        }
        if let value = members["fields"] {
            fields = try ConformanceExample.fields(value, at: "conformance.fields")
        }
        if let value = members["examples"] {
            guard let path = value.text, Self.isInside(path) else {
                throw Problem("conformance.examples", "a path within the manifest's folder")
            }
            examples = folder.appending(path: path).path
        }
    }

    private static func isInside(_ path: String) -> Bool {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        return !path.contains("\0") && parts.allSatisfy { !$0.isEmpty && $0 != ".." }
    }
}
