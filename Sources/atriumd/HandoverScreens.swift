import Control
import Glibc
import Host
import LogMessages
import Logging
import Systemd

/// The choices made on each screen, in a memory file that survives a crash of the process.
///
/// Each choice appends a line, which takes one or two microseconds. When most lines are obsolete, the current ones
/// are written again behind the others, the file's head is set to point to them, and the memory before them is
/// released. So at each moment the file contains one complete list. The file is sparse, and its offsets only grow.
///
/// Used only on the event loop.
final class HandoverScreens {
    /// The head: the title, the version, and the offset of the lines.
    private static let headLength = 64
    private static let title = "atrium screens 1 "
    /// The bytes of obsolete lines at which they are dropped.
    private static let history = 256 << 10

    let file: MemoryFile
    private var lines: [ScreenID: [UInt8]] = [:]
    private var bytes = 0
    private var hasFailed = false
    private var start: Int
    private var end: Int

    init() throws(MemoryFileError) {
        file = try MemoryFile(named: "atrium-screens")
        start = Self.headLength
        end = Self.headLength
        try writeHead()
    }

    /// Reads the screens in the file of another process; nil if the file has another version.
    static func screens(in file: MemoryFile) throws(MemoryFileError) -> [KeptScreen]? {
        guard file.count >= headLength else { return nil }
        let head = try file.read(most: headLength)
        let text = String(decoding: head, as: UTF8.self)
        guard text.hasPrefix(title),
            let start = Int(text.dropFirst(title.count).prefix { $0.isNumber }),
            start >= headLength
        else { return nil }
        var screens: [ScreenID: KeptScreen] = [:]
        for note in ScreenNote.notes(in: try file.read(from: start)) {
            switch note {
            case .chosen(let screen): screens[screen.id] = screen
            case .gone(let id): screens[id] = nil
            }
        }
        return Array(screens.values)
    }

    /// Writes a note about a screen.
    func write(_ note: ScreenNote) throws(MemoryFileError) {
        let line = note.line
        switch note {
        case .chosen(let screen):
            bytes += line.count - (lines.updateValue(line, forKey: screen.id)?.count ?? 0)
        case .gone(let id): bytes -= lines.removeValue(forKey: id)?.count ?? 0
        }
        try append(line)
        if end - start > 2 * bytes + Self.history { try tidy() }
    }

    /// Writes a note about a screen; the first failure is logged, and later notes are ignored.
    func write(_ note: ScreenNote, logger: Logger) {
        guard !hasFailed else { return }
        do {
            try write(note)
        } catch {
            hasFailed = true
            logger.log(
                .handoverIncomplete,
                ["reason": "choices on screens would be lost in a crash: \(error)"])
        }
    }

    private func append(_ bytes: [UInt8]) throws(MemoryFileError) {
        try file.write(bytes, at: end)
        end += bytes.count
    }

    private func tidy() throws(MemoryFileError) {
        let before = start
        start = end
        for line in lines.values { try append(line) }
        try writeHead()
        // Only whole pages are released, and never the one with the head.
        let page = 4_096
        let first = max(page, before / page * page)
        if first < start / page * page { file.release(first..<(start / page * page)) }
    }

    private func writeHead() throws(MemoryFileError) {
        let text = Self.title + "\(start)\n"
        let padding = [UInt8](repeating: 0x20, count: Self.headLength - text.utf8.count)
        try file.write(Array(text.utf8) + padding, at: 0)
    }
}
