internal import Foundation

/// Room on the disk for the next start.
///
/// Opening a store writes a few pages to SQLite's log and makes the log's index, before anything can be read. On a full
/// disk that fails, so a file keeps the room for it; a start removes the file where there is no other room.
enum Reserve {
    /// The index of a log that was cut off last at 64 MiB, and the pages that opening writes, fit into it twice.
    static let bytes = 1 << 18

    /// The path of the room that a store has left, which is made once a store is open; nil: there is none.
    static func mark(beside file: String) -> String? {
        let path = path(beside: file)
        return access(path, F_OK) == 0 ? path : nil
    }

    private static func path(beside file: String) -> String { "\(folder(of: file))/atrium.reserve" }

    private static func folder(of file: String) -> Substring {
        file[..<(file.lastIndex(of: "/") ?? file.startIndex)]
    }

    /// Allocates the room, unless that was done before; does nothing where there is none.
    static func allocate(beside file: String) {
        let path = path(beside: file)
        guard StateFolder.size(of: path) < bytes else { return }
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        // A part of the room would not be enough, and the disk has no more.
        if posix_fallocate(descriptor, 0, off_t(bytes)) != 0 { unlink(path) }
    }

    /// Releases the room after an opening failed, if it can have failed because there is less on the disk; returns
    /// whether there is more room now than before.
    ///
    /// The room belongs to the process that has the lock, so it is taken meanwhile.
    static func release(after error: StoreError, beside file: String) -> Bool {
        guard error.mayLackRoom, isShort(beside: file),
            let lock = try? Ownership(of: "\(folder(of: file))/atrium.lock")
        else { return false }
        defer { lock.release() }
        return unlink(path(beside: file)) == 0
    }

    /// An error of an opening, with the number of bytes that are missing if the disk is full.
    static func explained(_ error: StoreError, beside file: String) -> StoreError {
        // A migration, which needs more, has said how much.
        guard case .full(let full, let reason) = error, !reason.contains(" bytes"),
            let free = room(beside: file), free < bytes
        else { return error }
        return .full(
            file: full, reason: "\(reason); a start needs \(bytes) bytes, \(free) are free")
    }

    /// Whether the disk has less room than a start needs.
    static func isShort(beside file: String) -> Bool {
        room(beside: file).map { $0 < bytes } ?? false
    }

    /// The number of bytes that are free; nil: unknown, or more than can be counted.
    private static func room(beside file: String) -> UInt64? {
        var disk = statvfs()
        guard statvfs(String(folder(of: file)), &disk) == 0 else { return nil }
        let free = UInt64(disk.f_bavail).multipliedReportingOverflow(by: UInt64(disk.f_frsize))
        return free.overflow ? nil : free.partialValue
    }
}

extension Opening {
    /// Opens the file in a directory as ``init(in:)`` does, also where the disk is full.
    static func start(in directory: String) throws(StoreError) -> Opening {
        let opening: Opening
        do throws(StoreError) {
            opening = try Opening(in: directory)
        } catch {
            let file = "\(directory)/"
            guard Reserve.release(after: error, beside: file) else {
                throw Reserve.explained(error, beside: file)
            }
            do throws(StoreError) {
                opening = try Opening(in: directory)
            } catch {
                // Somebody else may have taken the room.
                throw Reserve.explained(error, beside: file)
            }
        }
        Reserve.allocate(beside: opening.file)
        return opening
    }
}
