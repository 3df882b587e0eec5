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
