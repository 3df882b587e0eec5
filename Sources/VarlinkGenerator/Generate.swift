import Foundation

/// `VarlinkGenerator --module NAME --output DIRECTORY FILE…`: writes Swift for interface definitions.
///
/// Exits with 0 when all files are written, 1 when a definition is refused, 2 for wrong usage.
@main
struct Generate {
    private var module = ""
    private var output = ""
    private var files: [String] = []

    static func main() {
        do {
            try Generate(arguments: Array(CommandLine.arguments.dropFirst())).run()
        } catch let error as Usage {
            complain("error: \(error.reason)\n\(Usage.text)")
            exit(2)
        } catch {
            complain("\(error)")
            exit(1)
        }
    }

    private init(arguments: [String]) throws(Usage) {
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "--module": module = rest.popFirst() ?? ""
            case "--output": output = rest.popFirst() ?? ""
            case let option where option.hasPrefix("-"):
                throw Usage(reason: "there is no option \(option)")
            default: files.append(argument)
            }
        }
        guard !module.isEmpty else { throw Usage(reason: "--module is missing") }
        guard !output.isEmpty else { throw Usage(reason: "--output is missing") }
        guard !files.isEmpty else { throw Usage(reason: "no files are given") }
    }

    private func run() throws {
        let sources = try files.sorted().map { path in
            Source(path: path, text: try text(of: path))
        }
        let generator = try Generator(sources: sources, module: module)
        let directory = URL(filePath: output, directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        for file in generator.makeFiles() {
            try Data(file.text.utf8).write(to: directory.appending(path: file.name))
        }
    }

    private func text(of path: String) throws -> String {
        guard let bytes = FileManager.default.contents(atPath: path) else {
            throw Unreadable(path: path, reason: "it can't be read")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Unreadable(path: path, reason: "it is no text in UTF-8")
        }
        return text
    }

    private struct Unreadable: Error, CustomStringConvertible {
        let path: String
        let reason: String
        var description: String { "\(path): error: \(reason)" }
    }

    private static func complain(_ text: String) {
        FileHandle.standardError.write(Data((text + "\n").utf8))
    }

    private struct Usage: Error {
        static let text = "usage: VarlinkGenerator --module NAME --output DIRECTORY FILE…"
        let reason: String
    }
}
