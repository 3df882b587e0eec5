import Foundation
import JSONCodec

/// The items that are imported: the machine's own package index, or something of its shape.
struct Catalogue {
    /// One item as it goes over the wire.
    struct Item {
        var id: String
        /// All of it: `{"id":…,"fields":…}`.
        var json: [UInt8]
    }

    /// Where they come from, in words.
    let origin: String
    let items: [Item]

    /// The Debian packages of the machine's apt index, or generated ones where there is no index.
    ///
    /// - Parameter script: the path of `debian-index`.
    /// - Returns: the items, and where they come from.
    /// - Throws: ``BenchmarkError`` where the script prints what is no item.
    static func debian(script: String) throws -> Catalogue {
        do {
            let items = try read(script)
            return Catalogue(
                origin: "\(items.count) packages of this machine's apt index", items: items)
        } catch let error as BenchmarkError {
            let items = GeneratedPackages().items(60_000)
            return Catalogue(
                origin: "\(items.count) generated packages, as there is no apt index (\(error))",
                items: items)
        }
    }

    private static func read(_ script: String) throws -> [Item] {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(filePath: script)
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        do {
            try process.run()
        } catch {
            throw BenchmarkError("\(script) can't be run: \(error)")
        }
        let text = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        guard process.terminationStatus == 0, !text.isEmpty else {
            throw BenchmarkError("\(script) exits with \(process.terminationStatus)")
        }
        return try text.split(separator: UInt8(ascii: "\n")).map { line in
            let json = Array(line)
            guard let id = try JSON.decode(JSONValue.self, from: json)["id"]?.string else {
                throw BenchmarkError("\(script) printed a line without an id")
            }
            return Item(id: id, json: json)
        }
    }

    /// The items in batches that the daemon takes: a thousand, or nearly a MiB.
    var batches: [ArraySlice<Item>] {
        var batches: [ArraySlice<Item>] = []
        var start = 0
        var bytes = 0
        for (place, item) in items.enumerated() {
            if place - start == 1_000 || bytes + item.json.count > 1_000_000 {
                batches.append(items[start..<place])
                start = place
                bytes = 0
            }
            bytes += item.json.count
        }
        batches.append(items[start...])
        return batches
    }
}
