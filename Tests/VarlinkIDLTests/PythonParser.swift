import Foundation
import TestSupport
import Testing
import VarlinkIDL

/// The parser of PyPI's varlink, which most clients of other languages than ours were tested with.
enum PythonParser {
    /// What it made of a text.
    struct Reading: Decodable {
        /// The interface's name; nil where the text was refused.
        let name: String?

        /// Its members on a line each, sorted.
        let members: [String]?

        /// Why it was refused.
        let error: String?
    }

    /// Reads definitions.
    static func read(_ definitions: [String]) async throws -> [Reading] {
        let finished = try await run(
            [
                #require(Checkout.python),
                Checkout.root + "/Tests/VarlinkIDLTests/Python/read_definitions.py",
            ],
            input: definitions.map { $0 + "\0" }.joined())
        #expect(finished.status == 0, "\(finished)")
        return try finished.lines.map {
            try JSONDecoder().decode(Reading.self, from: Data($0.utf8))
        }
    }
}

extension InterfaceDefinition {
    /// Its members on a line each, sorted, as the Python script writes them.
    var lines: [String] {
        let lines =
            types.map { "type \($0.name) \($0.type)" }
            + methods.map { "method \($0.name)\($0.parameters) -> \($0.reply)" }
            + errors.map { "error \($0.name) \($0.parameters)" }
        return lines.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }
}
