import AtriumKit
import Foundation

/// A built-in plugin's manifest, as it stands in its folder.
struct Manifest {
    let members: [String: Value]

    init(of plugin: String) throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let data = try Data(contentsOf: root.appending(path: "plugins/\(plugin)/manifest.json"))
        members = Value(json: try JSONSerialization.jsonObject(with: data)).object ?? [:]
    }

    var conformanceSettings: [String: Value] {
        members["conformance"]?.object?["settings"]?.object ?? [:]
    }

    subscript(name: String) -> String? { members[name]?.text }
}

extension Value {
    /// What JSONSerialization made of a text.
    init(json: Any) {
        switch json {
        case let text as String: self = .text(text)
        case let int as Int64: self = .int(int)
        case let number as Double: self = .number(number)
        case let list as [Any]: self = .list(list.map(Value.init(json:)))
        case let object as [String: Any]: self = .object(object.mapValues(Value.init(json:)))
        default: self = .null
        }
    }
}
