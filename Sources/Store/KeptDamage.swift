internal import Foundation

/// Damage found at a start, with copies of the files and a note about it beside the store.
///
/// All files are named `atrium.sqlite.damaged-TIME…`: a copy of the database, a copy of its log, and the note
/// (`.txt`). The note is written last; while it exists, every start reports the damage again.
struct KeptDamage: Sendable {
    /// The damage and what to do about it, for people.
    let description: String
    /// Whether this start found it.
    let isNew: Bool
    let note: String
    /// Whether entries were lost whose sequences will be given out again, and the store has yet to get a new identity.
    let needsIdentity: Bool

    /// Whether the note still exists.
    var isKept: Bool { access(note, F_OK) == 0 }

    /// Damage without copies: it is reported as long as the file exists.
    init(_ description: String, in file: String) {
        self.init(description: description, isNew: true, note: file)
    }

    private init(
        description: String, isNew: Bool, note: String, needsIdentity: Bool = false
    ) {
        self.description = description
        self.isNew = isNew
        self.note = note
        self.needsIdentity = needsIdentity
    }

    static let suffix = ".txt"
    /// The last line of a note until the store has a new identity: a start may end before it has one.
    static let identityIsDue = "a new identity is due"
    private static let piece = 1 << 20

    /// Checks a database's log, and copies damaged files before anything is written.
    ///
    /// If committed transactions are unreadable, the log is cut where SQLite would stop reading. Otherwise SQLite's
    /// next frames would be written before the lost ones, and a later start would find those again.
    ///
    /// - Parameter file: the path of the database.
    /// - Returns: the damage found now and the unresolved damage found by earlier starts, oldest first.
    /// - Throws: `.corrupt` for a log without its database, or without the database's tables, of which then nothing is
    ///   changed; other errors if no copy can be made.
    static func checkLog(of file: String) throws(StoreError) -> [KeptDamage] {
        var found = kept(beside: file)
        guard let check = try LogCheck(of: file) else { return found }
        guard size(of: file) > 0 else {
            // Without the database SQLite would delete the log and create an empty store.
            let count = check.transactions + (check.loss?.transactions ?? 0)
            guard count > 0 else { return found }
            throw .corrupt(
                file: file,
                reason:
                    "it is \(access(file, F_OK) == 0 ? "empty" : "gone"), and its log holds \(count) transactions"
            )
        }
        guard let loss = check.loss else { return found }
        let count = loss.transactions
        guard !Opening.lacksTables(file) else {
            // What is left is no store, and the log is all that there is.
            throw .corrupt(
                file: file,
                reason:
                    "its tables are in the log \(file)-wal alone, which is damaged at byte \(loss.offset), so that at "
                    + "least \(count) committed transaction\(count == 1 ? "" : "s") can't be read; nothing was "
                    + "changed: keep the log, it has what there is of the data"
            )
        }
        found.append(
            try copyFiles(
                of: file,
                "the log \(file)-wal was found damaged at byte \(loss.offset): of at least \(count) "
                    + "committed transaction\(count == 1 ? "" : "s") after that byte, all or some are lost",
                needsIdentity: true))
        try shorten("\(file)-wal", to: check.end)
        return found
    }

    /// Copies a store, which no process has open, whose last entries are damaged or missing: their changes are lost.
    static func copyFiles(
        of file: String, without entries: LostEntries
    ) throws(StoreError) -> KeptDamage {
        let named = entries.first.map { "\($0)" }.joined(separator: ", ")
        let more = entries.count > entries.first.count ? ", …" : ""
        return try copyFiles(
            of: file,
            "\(entries.count) of the last entries \(entries.count == 1 ? "was" : "were") found damaged or "
                + "missing in \(file) (sequence \(named)\(more)): what was changed there is lost")
    }

    /// Writes a note that a restore will remove a log that was not transferred to its database completely.
    ///
    /// - Parameters:
    ///   - file: the path of the database.
    ///   - folder: the folder with the copies of both.
    ///   - identity: the identity of the replacing store; once that is in place, the note is obsolete.
    /// - Returns: the path of the note.
    /// - Throws: `StoreError` if it can't be written.
    static func noteLog(
        of file: String, isKeptIn folder: String, until identity: String
    ) throws(StoreError) -> String {
        let note = restoreNote(beside: file)
        try write(
            "a restore was interrupted: what stood in \(file)-wal alone, or a part of it, is not shown. Restore again; the "
                + "files as they were are kept in \(folder). Remove \(note) once it is settled\n"
                + "\(restoredIdentity)\(identity)\n", to: note)
        return note
    }

    private static let restoredIdentity = "restored: "

    /// Whether there is a note of ``noteLog(of:isKeptIn:until:)``.
    static func hasRestoreNote(beside file: String) -> Bool {
        access(restoreNote(beside: file), F_OK) == 0
    }

    private static func restoreNote(beside file: String) -> String {
        "\(file).damaged-restore\(suffix)"
    }

    /// Removes the note of a restore that was interrupted after its store was in place; returns the other damage.
    static func settleRestore(
        of damages: [KeptDamage], in file: String, identity: String
    ) -> [KeptDamage] {
        let note = restoreNote(beside: file)
        guard damages.contains(where: { $0.note == note }),
            let text = FileManager.default.contents(atPath: note),
            String(decoding: text, as: UTF8.self).split(separator: "\n")
                .contains("\(restoredIdentity)\(identity)")
        else { return damages }
        unlink(note)
        return damages.filter { $0.note != note }
    }

    private static func kept(beside file: String) -> [KeptDamage] {
        let url = URL(fileURLWithPath: file)
        let folder = url.deletingLastPathComponent().path
        let prefix = "\(url.lastPathComponent).damaged-"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.filter { $0.hasPrefix(prefix) && $0.hasSuffix(suffix) }.sorted().map { name in
            let note = "\(folder)/\(name)"
            let text = FileManager.default.contents(atPath: note).map {
                String(decoding: $0.prefix(16_384), as: UTF8.self)
            }
            let lines = text?.split(separator: "\n").map(String.init) ?? []
            return KeptDamage(
                description: lines.first ?? "the store was damaged, see \(note)", isNew: false,
                note: note, needsIdentity: lines.last == identityIsDue)
        }
    }

    /// Notes that the store has a new identity.
    func noteIdentity() throws(StoreError) {
        guard needsIdentity, let text = FileManager.default.contents(atPath: note),
            let end = text.firstIndex(of: UInt8(ascii: "\n"))
        else { return }
        // Cut off and not written anew, so that a crash takes nothing away from the note.
        try Self.shorten(note, to: Int64(end) + 1)
    }

    private static func copyFiles(
        of file: String, _ found: String, needsIdentity: Bool = false
    ) throws(StoreError) -> KeptDamage {
        let now = time()
        var kept = "\(file).damaged-\(now.filter { $0 != "-" && $0 != ":" })"
        while access(kept + suffix, F_OK) == 0 { kept += "-more" }
        if size(of: "\(file)-wal") > 0 { try copy("\(file)-wal", to: "\(kept)-wal") }
        var missing = ""
        if room(beside: file) > 2 * size(of: file) {
            try copy(file, to: kept)
        } else {
            missing = " (the log alone: there was no room for the database)"
        }
        let text =
            "at \(now) \(found). Restore a backup, or go on with what is left; the files as they were "
            + "are kept in \(kept)*\(missing): remove these once it is settled"
        let due = needsIdentity ? "\(identityIsDue)\n" : ""
        try write("\(text)\n\(due)", to: kept + suffix)
        return KeptDamage(
            description: text, isNew: true, note: kept + suffix, needsIdentity: needsIdentity)
    }

    /// The time in UTC, as in RFC 3339.
    static func time() -> String {
        var seconds = Glibc.time(nil)
        var parts = tm()
        gmtime_r(&seconds, &parts)
        var buffer = [CChar](repeating: 0, count: 32)
        let count = strftime(&buffer, buffer.count, "%Y-%m-%dT%H:%M:%SZ", &parts)
        return String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

/// Entries whose changes are lost.
struct LostEntries {
    private(set) var count: Int64 = 0
    /// The sequences of the first three.
    private(set) var first: [Int64] = []

    var isEmpty: Bool { count == 0 }

    /// Adds the entries from a sequence on and before another one.
    mutating func add(from start: Int64, before end: Int64) {
        guard start < end else { return }
        count += end - start
        first += (start..<end).prefix(3 - first.count)
    }
}

// MARK: Files

extension KeptDamage {
    static func size(of path: String) -> Int {
        var info = stat()
        return stat(path, &info) == 0 ? Int(info.st_size) : 0
    }

    static func room(beside file: String) -> Int {
        var info = statvfs()
        let folder = URL(fileURLWithPath: file).deletingLastPathComponent().path
        return statvfs(folder, &info) == 0 ? Int(info.f_bavail) * Int(info.f_frsize) : 0
    }

    private static func shorten(_ path: String, to size: Int64) throws(StoreError) {
        try withFile(path, O_WRONLY) { ftruncate($0, off_t(size)) == 0 }
    }

    static func write(_ text: String, to path: String) throws(StoreError) {
        try withFile(path, O_WRONLY | O_CREAT | O_TRUNC) { descriptor in
            text.withCString { Glibc.write(descriptor, $0, text.utf8.count) } == text.utf8.count
        }
        // Syncs the folder, so that the names of the copies are on the disk.
        try StateFolder.sync(URL(fileURLWithPath: path).deletingLastPathComponent().path)
    }

    /// Copies a file, and syncs the copy.
    static func copy(_ source: String, to target: String) throws(StoreError) {
        let from = open(source, O_RDONLY | O_CLOEXEC)
        guard from >= 0 else { throw StoreError(errno: errno, file: source) }
        defer { close(from) }
        do {
            try withFile(target, O_WRONLY | O_CREAT | O_TRUNC) { to in
                var bytes = [UInt8](repeating: 0, count: piece)
                while true {
                    let count = read(from, &bytes, bytes.count)
                    guard count > 0 else { return count == 0 }
                    var written = 0
                    while written < count {
                        let more = bytes.withUnsafeBytes { bytes in
                            Glibc.write(to, bytes.baseAddress.map { $0 + written }, count - written)
                        }
                        guard more > 0 else { return false }
                        written += more
                    }
                }
            }
        } catch {
            if !StateFolder.isLink(target) { unlink(target) }
            throw error
        }
    }

    /// Opens a file, runs the body with it, and syncs it.
    private static func withFile(
        _ path: String, _ flags: Int32, _ body: (Int32) -> Bool
    ) throws(StoreError) {
        // A link in the state directory must not make the daemon overwrite the file that it leads to.
        let descriptor = open(path, flags | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw StoreError(errno: errno, file: path) }
        defer { close(descriptor) }
        guard body(descriptor), fsync(descriptor) == 0 else {
            throw StoreError(errno: errno, file: path)
        }
    }
}
