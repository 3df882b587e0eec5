internal import Foundation

/// A file that is being written beside the store's: nobody else may read it, and its name goes with this value.
///
/// A process that was killed leaves it; the next start removes it.
struct DraftFile: ~Copyable {
    /// What it is written for.
    enum Purpose: String, CaseIterable {
        case backup
        case restore

        fileprivate var prefix: String { "atrium.\(rawValue)-" }
    }

    let descriptor: Int32
    let path: String
    /// The folder that it is in.
    let folder: String

    /// Makes an empty one in the folder of a file.
    init(beside file: String, for purpose: Purpose) throws(StoreError) {
        folder = file.lastIndex(of: "/").map { String(file[..<$0]) } ?? "."
        path = "\(folder)/\(purpose.prefix)\(UUID().uuidString.lowercased())"
        descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw StoreError(errno: errno, file: path) }
    }

    deinit {
        for suffix in ["", "-journal", "-wal", "-shm"] { unlink(path + suffix) }
        close(descriptor)
    }

    /// Removes those that processes left which were killed.
    ///
    /// - Parameter folder: one that this process alone may write to.
    static func removeAll(in folder: String) {
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder) else {
            return
        }
        for name in names where Purpose.allCases.contains(where: { name.hasPrefix($0.prefix) }) {
            unlink("\(folder)/\(name)")
        }
    }
}

/// How much room there is for files.
enum FileRoom {
    /// The bytes that the file system of a folder has left for this user; as good as endless where it doesn't say.
    static func free(in folder: String) -> Int {
        var status = statvfs()
        guard statvfs(folder, &status) == 0 else { return .max }
        return Int(
            clamping: UInt64(status.f_bavail).multipliedReportingOverflow(
                by: UInt64(status.f_frsize)
            ).partialValue)
    }
}
