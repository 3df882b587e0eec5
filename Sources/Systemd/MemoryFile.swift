import CSystemd
import Glibc

/// A file in memory without a name, which lives as long as a descriptor of it; one process may leave it for the next.
public struct MemoryFile: Sendable {
    /// Its descriptor; the owner of the value closes it.
    public let descriptor: Int32

    /// `F_ADD_SEALS`, `F_SEAL_SEAL | SHRINK | GROW | WRITE`: macros that Swift does not see.
    private static let addSeals: Int32 = 1_033
    private static let allSeals: Int32 = 1 | 2 | 4 | 8
    /// `MFD_CLOEXEC | MFD_ALLOW_SEALING`.
    private static let creation: UInt32 = 1 | 2

    /// Takes over a file that was passed on.
    public init(descriptor: Int32) {
        self.descriptor = descriptor
    }

    /// Makes an empty file, with a name in `/proc`.
    public init(named name: String) throws(MemoryFileError) {
        descriptor = memfd_create(name, Self.creation)
        guard descriptor >= 0 else { throw MemoryFileError("can't be made") }
    }

    /// Writes bytes at an offset from the start of the file.
    public func write(_ bytes: [UInt8], at offset: Int) throws(MemoryFileError) {
        var written = 0
        while written < bytes.count {
            let count = bytes[written...].withUnsafeBytes {
                pwrite(descriptor, $0.baseAddress, $0.count, off_t(offset + written))
            }
            guard count > 0 else { throw MemoryFileError("can't be written") }
            written += count
        }
    }

    /// Seals the file, so that no process can change it any more.
    public func seal() throws(MemoryFileError) {
        guard fcntl(descriptor, Self.addSeals, Self.allSeals) == 0 else {
            throw MemoryFileError("can't be sealed")
        }
    }

    /// Releases the memory of a range; reads there return zeros from now on.
    public func release(_ range: Range<Int>) {
        let keepSize: Int32 = 1
        let punchHole: Int32 = 2
        fallocate(descriptor, keepSize | punchHole, range.lowerBound, range.count)
    }

    /// The size of the file in bytes.
    public var count: Int {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? Int(status.st_size) : 0
    }

    /// Reads bytes from an offset on, by default all up to the end.
    public func read(
        from offset: Int = 0, most: Int = .max
    ) throws(MemoryFileError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: min(most, max(0, count - offset)))
        var got = 0
        while got < bytes.count {
            let read = bytes[got...].withUnsafeMutableBytes {
                pread(descriptor, $0.baseAddress, $0.count, off_t(offset + got))
            }
            guard read > 0 else { throw MemoryFileError("can't be read") }
            got += read
        }
        return bytes
    }
}

/// An error of a ``MemoryFile``.
public struct MemoryFileError: Error, CustomStringConvertible {
    /// The system's error, in a sentence.
    public let description: String

    init(_ what: String) {
        description = "a file in memory \(what): \(String(cString: strerror(errno)))"
    }
}
