internal import Glibc

/// A file that is read in parts and never mapped: a part that is cut off meanwhile reads as absent.
package final class RegularFile {
    /// The reason why a file, or a value in it, can't be read: a sentence without its full stop.
    package struct Unreadable: Error {
        package let reason: String

        package init(_ reason: String) { self.reason = reason }
    }

    /// Its size when it was opened, in bytes.
    package let size: UInt64
    private let descriptor: Int32

    /// Opens a file; throws if it can't be opened, or is no regular file.
    package init(_ path: String) throws(Unreadable) {
        // Without O_NONBLOCK a named pipe would keep whoever opens it waiting.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw Unreadable("\(path): \(Self.lastError)") }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            let error = Self.lastError
            Glibc.close(descriptor)
            throw Unreadable("\(path): \(error)")
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            Glibc.close(descriptor)
            throw Unreadable("\(path) is no regular file")
        }
        self.descriptor = descriptor
        size = UInt64(max(0, status.st_size))
    }

    deinit { Glibc.close(descriptor) }

    /// Returns the bytes at a place; nil if some of them don't exist.
    package func read(at offset: UInt64, count: UInt64) -> [UInt8]? {
        let (end, overflows) = offset.addingReportingOverflow(count)
        guard !overflows, end <= size, count <= UInt64(Int32.max) else { return nil }
        let bytes = [UInt8](unsafeUninitializedCapacity: Int(count)) { buffer, filled in
            while filled < Int(count) {
                let rest = buffer.baseAddress.map { $0 + filled }
                let got = pread(
                    descriptor, rest, Int(count) - filled, off_t(offset) + filled)
                if got < 0, errno == EINTR { continue }
                guard got > 0 else { break }
                filled += got
            }
        }
        return bytes.count == Int(count) ? bytes : nil
    }

    private static var lastError: String { String(cString: strerror(errno)) }
}

extension RegularFile {
    /// Opens a file of a plugin, which is refused if it can't be read.
    convenience init(ofPlugin path: String) throws(PluginProblem) {
        do throws(Unreadable) {
            try self.init(path)
        } catch {
            throw .refused(error.reason)
        }
    }
}
