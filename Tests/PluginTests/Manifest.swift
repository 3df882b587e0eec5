import AtriumKit
import Foundation

/// A built-in plugin's manifest, as it stands in its folder.
struct Manifest {
    let members: [String: Value]

    init(of plugin: String) throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let data = try Data(contentsOf: root.appending(path: "plugins/\(plugin)/manifest.json"))
        members = try JSONDecoder().decode([String: Value].self, from: data)
    }

    var conformanceSettings: [String: Value] {
        members["conformance"]?.object?["settings"]?.object ?? [:]
    }

    subscript(name: String) -> String? { members[name]?.text }
}
