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
}

extension URL {
    /// The path as commands take it: `path()` alone would write a space as `%20`.
    var plainPath: String { path(percentEncoded: false) }
}

struct CommandFailure: Error, CustomStringConvertible {
    let text: String
    var description: String { text }
}
