import Glibc

/// Files that are replaced as a whole: after a crash there is the old one or the new one.
enum AtomicFile {
    /// Writes a file, for its owner alone, by way of `name.new`, and waits until it and its name are on disk; returns
    /// 0, or the `errno` of the step that failed, after which the old file may be there.
    static func write(_ parts: [[UInt8]], into folder: String, as name: String) -> Int32 {
        let (draft, path) = ("\(folder)/\(name).new", "\(folder)/\(name)")
        let descriptor = open(
            draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { return errno }
        var code: Int32 = 0
        for part in parts where code == 0 { code = write(part, to: descriptor) }
        if code == 0, fsync(descriptor) != 0 { code = errno }
        close(descriptor)
        if code == 0, rename(draft, path) != 0 { code = errno }
        guard code == 0 else {
            unlink(draft)
            return code
        }
        return sync(folder)
    }

    /// Waits until the names in a folder are on disk; returns 0, or the `errno` of the step that failed.
    static func sync(_ folder: String) -> Int32 {
        let directory = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else { return errno }
        defer { close(directory) }
        return fsync(directory) == 0 ? 0 : errno
    }

    private static func write(_ bytes: [UInt8], to descriptor: Int32) -> Int32 {
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeBytes {
                Glibc.write(descriptor, $0.baseAddress.map { $0 + done }, $0.count - done)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return count < 0 ? errno : ENOSPC }
            done += count
        }
        return 0
    }
}
