import Foundation
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

    /// The Python that `make test-deps` gave the package; nil without.
    static let path: String? = {
        let checkout = tests.deletingLastPathComponent().deletingLastPathComponent()
        let path = checkout.appending(path: ".build/venv/bin/python3").path(percentEncoded: false)
        return FileManager.default.isExecutableFile(atPath: path) ? path : nil
    }()

    private static let tests = URL(filePath: #filePath).resolvingSymlinksInPath()
        .deletingLastPathComponent()

    /// Reads definitions.
    static func read(_ definitions: [String]) throws -> [Reading] {
        let process = Process()
        let (input, output) = (Pipe(), Pipe())
        process.executableURL = path.map { URL(filePath: $0) }
        process.arguments = [
            tests.appending(path: "Python/read_definitions.py").path(percentEncoded: false)
        ]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        // It reads all before it writes anything: neither side waits for the other.
        let text = definitions.map { $0 + "\0" }.joined()
        try input.fileHandleForWriting.write(contentsOf: Data(text.utf8))
        try input.fileHandleForWriting.close()
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return try data.split(separator: UInt8(ascii: "\n")).map {
            try JSONDecoder().decode(Reading.self, from: $0)
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
