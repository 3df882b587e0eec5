internal import Foundation

/// A file being written beside the store's: only this user may read it, and its name is removed with this value.
///
/// A killed process leaves its file behind; the next start removes it.
struct DraftFile: ~Copyable {
    enum Purpose: String, CaseIterable {
        case backup
        case restore

        fileprivate var prefix: String { "atrium.\(rawValue)-" }
    }

    let descriptor: Int32
    let path: String
    /// The folder that contains the file.
    let folder: String

    /// Creates an empty file in the folder of another file.
    init(beside file: String, for purpose: Purpose) throws(StoreError) {
        folder = file.lastIndex(of: "/").map { String(file[..<$0]) } ?? "."
        path = "\(folder)/\(purpose.prefix)\(UUID().uuidString.lowercased())"
        descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw StoreError(errno: errno, file: path) }
    }

    deinit {
        for suffix in Self.suffixes { unlink(path + suffix) }
        close(descriptor)
    }

    private static let suffixes = ["", "-journal", "-wal", "-shm"]

    /// Removes the files that killed processes left in a folder that only this process may write to, and nothing that
    /// an administrator named alike.
    static func removeAll(in folder: String) {
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder) else {
            return
        }
        for name in names where isDraft(name) { unlink("\(folder)/\(name)") }
    }

    private static func isDraft(_ name: String) -> Bool {
        guard let purpose = Purpose.allCases.first(where: { name.hasPrefix($0.prefix) }) else {
            return false
        }
        let rest = name.dropFirst(purpose.prefix.count)
        return UUID(uuidString: String(rest.prefix(36))) != nil
            && suffixes.contains(String(rest.dropFirst(36)))
    }
}

/// Reports free disk space.
enum FileRoom {
    /// The bytes that this user may still write in a folder; `Int.max` if the file system does not say.
    static func free(in folder: String) -> Int {
        var status = statvfs()
        guard statvfs(folder, &status) == 0 else { return .max }
        return Int(
            clamping: UInt64(status.f_bavail).multipliedReportingOverflow(
                by: UInt64(status.f_frsize)
            ).partialValue)
    }
}
