import Foundation
import Glibc
import Testing

/// A folder that goes away with the test.
final class MusicFolder {
    let path: String

    init() throws {
        path = NSTemporaryDirectory() + "atrium-music-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func write(_ name: String, _ data: Data) throws { try write(bytes: Array(name.utf8), data) }

    /// Writes a file whose name need not be text.
    func write(bytes name: [UInt8], _ data: Data) throws {
        if let cut = name.lastIndex(of: UInt8(ascii: "/")) {
            try FileManager.default.createDirectory(
                atPath: path + "/" + String(decoding: name[..<cut], as: UTF8.self),
                withIntermediateDirectories: true)
        }
        let text = (Array(path.utf8) + [UInt8(ascii: "/")] + name + [0]).map(
            CChar.init(bitPattern:))
        let opened = open(text, O_WRONLY | O_CREAT | O_TRUNC, 0o644)
        try #require(opened >= 0, "\(String(cString: strerror(errno)))")
        defer { close(opened) }
        let written = data.withUnsafeBytes { Glibc.write(opened, $0.baseAddress, $0.count) }
        try #require(written == data.count)
    }
}

/// Which files right in a folder were opened since, as the kernel tells.
final class OpenedFiles {
    private let descriptor: Int32

    init(in folder: String) throws {
        descriptor = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
        try #require(descriptor >= 0)
        try #require(inotify_add_watch(descriptor, folder, UInt32(IN_OPEN)) >= 0)
    }

    deinit { close(descriptor) }

    /// Their names, each as often as it was opened since the last call.
    func names() -> [String] {
        var names: [String] = []
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = read(descriptor, &bytes, bytes.count)
            guard count > 0 else { return names }
            var place = 0
            // Of an event: 12 bytes of numbers, how long the name is, and the name with zeros behind.
            while place + 16 <= count {
                let length = bytes[(place + 12)..<(place + 16)].reversed().reduce(0) {
                    $0 << 8 | Int($1)
                }
                let name = bytes[(place + 16)..<(place + 16 + length)].prefix { $0 != 0 }
                // The folder's own has none.
                if !name.isEmpty { names.append(String(decoding: name, as: UTF8.self)) }
                place += 16 + length
            }
        }
    }
}
