import Foundation

/// The checkout that this test was built from.
enum Repository {
    static let root = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    /// All Swift files below the given folders, build products left out.
    static func swiftFiles(below folders: [String]) throws -> [URL] {
        try folders.flatMap { folder in
            let found = FileManager.default.enumerator(
                at: root.appending(path: folder), includingPropertiesForKeys: nil,
                options: .skipsHiddenFiles)
            guard let found else { throw CommandFailure(text: "no folder \(folder)") }
            return found.compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" }
        }
    }

    /// The keys of the limits that an administrator may set.
    static func limits() throws -> [String] {
        let file = root.appending(path: "Sources/Control/Settings/LimitSettings.swift")
        return try String(contentsOf: file, encoding: .utf8)
            .matches(of: #/Limit\(\s*"(\w+)"/#).map { String($0.output.1) }
    }

    /// The path as seen from the root, for messages.
    static func name(of file: URL) -> String {
        String(file.plainPath.dropFirst(root.plainPath.count))
    }

    /// A new directory of its own for one test; the test removes it.
    static func temporaryDirectory() throws -> URL {
        let directory = FileManager.default.temporaryDirectory.appending(
            path: "atrium-house-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
        return directory
    }
}

extension URL {
    /// The path as commands take it: `path()` alone would write a space as `%20`.
    var plainPath: String { path(percentEncoded: false) }
}

struct CommandFailure: Error, CustomStringConvertible {
    let text: String
    var description: String { text }
}

/// A finished command.
struct CommandResult {
    let status: Int32
    let output: Data
    let complaints: String

    var text: String { String(decoding: output, as: UTF8.self) }
}

/// Runs a command found in `PATH` to its end; its complaints go through a file, so that neither
/// pipe can fill up.
func run(_ command: String...) throws -> CommandResult { try run(command) }

/// Runs a command whose words are given as one value.
func run(_ command: [String]) throws -> CommandResult {
    let directory = try Repository.temporaryDirectory()
    defer { try? FileManager.default.removeItem(at: directory) }
    let complaints = directory.appending(path: "stderr")
    try Data().write(to: complaints)
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = command
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = output
    process.standardError = try FileHandle(forWritingTo: complaints)
    try process.run()
    let data = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return CommandResult(
        status: process.terminationStatus, output: data,
        complaints: try String(contentsOf: complaints, encoding: .utf8))
}
