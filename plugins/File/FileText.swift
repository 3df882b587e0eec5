import AtriumFormats
import Glibc
import ItemReading

/// Which file it is, and how it was last written.
struct FileStamp: Sendable, Equatable {
    private let device: UInt64
    private let inode: UInt64
    private let size: Int64
    private let seconds: Int
    private let nanoseconds: Int
    /// Whether it was written so long ago that another write would have another time.
    let isSettled: Bool

    init(_ info: stat) {
        device = UInt64(info.st_dev)
        inode = UInt64(info.st_ino)
        size = Int64(info.st_size)
        seconds = info.st_mtim.tv_sec
        nanoseconds = info.st_mtim.tv_nsec
        let now = time(nil)
        // A file may say any time: differences would overflow.
        isSettled = !(now - 1...now + 1).contains(seconds)
    }

    static func == (one: FileStamp, other: FileStamp) -> Bool {
        one.device == other.device && one.inode == other.inode && one.size == other.size
            && one.seconds == other.seconds && one.nanoseconds == other.nanoseconds
    }
}

/// The text of a file, as its bytes are; a byte order mark is taken off.
final class FileText: TextChunks {
    private static let piece = 1 << 16

    let stamp: FileStamp
    private let path: String
    private let descriptor: Int32
    private let mostBytes: Int
    private var count = 0
    /// How many pieces were read.
    private(set) var pieces = 0
    private var ahead: [UInt8]?

    /// Opens a file; throws for what can't be opened, or is no file.
    init(_ path: String, mostBytes: Int) throws(FileProblem) {
        self.path = path
        self.mostBytes = mostBytes
        // Who opens a pipe without the last would wait for its other end.
        descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
        guard descriptor >= 0 else { throw FileProblem(path, errno) }
        var info = stat()
        let status = fstat(descriptor, &info)
        stamp = FileStamp(info)
        guard status == 0 else { throw FileProblem(path, errno) }
        guard info.st_mode & S_IFMT == S_IFREG else {
            let hint =
                info.st_mode & S_IFMT == S_IFDIR ? ": name one in it with the setting 'file'" : ""
            throw FileProblem(path, "it is no file\(hint)")
        }
        guard info.st_size <= mostBytes else { throw tooLarge }
    }

    deinit { close(descriptor) }

    /// How it begins; read again by ``next()``.
    func sample() throws(FileProblem) -> ArraySlice<UInt8> {
        var bytes = try read()
        PlainText.removeMark(from: &bytes)
        ahead = bytes
        return bytes[...]
    }

    func next() throws -> [UInt8]? {
        try Task.checkCancellation()
        pieces += 1
        if let bytes = ahead {
            ahead = nil
            if !bytes.isEmpty { return bytes }
        }
        let bytes = try read()
        return bytes.isEmpty ? nil : bytes
    }

    private func read() throws(FileProblem) -> [UInt8] {
        var code: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: Self.piece) { buffer, count in
            var got = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
            while got < 0, errno == EINTR {
                got = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
            }
            if got < 0 { code = errno }
            count = max(0, got)
        }
        guard code == 0 else { throw FileProblem(path, code) }
        count += bytes.count
        guard count <= mostBytes else { throw tooLarge }
        return bytes
    }

    private var tooLarge: FileProblem {
        FileProblem(
            path, "it is larger than the setting 'maxMegabytes' allows: \(mostBytes >> 20) MiB")
    }
}

/// Why a file's items are not known, in a sentence with its path.
struct FileProblem: Error, CustomStringConvertible {
    let description: String
    /// The kernel's error, after which the file is tried again; 0: what the file has is wrong.
    private(set) var code: Int32 = 0

    init(_ path: String, _ reason: String) { description = "\(path): \(reason)" }

    /// What the kernel said.
    init(_ path: String, _ code: Int32) {
        let reason =
            switch code {
            case ENOENT, ENOTDIR: "it is not there"
            case EACCES where WorkerProcess.mayRead(file: path):
                "the sandbox of the service, or of the worker, does not let it be read"
            case EACCES, EPERM: "the daemon's user may not read it"
            default: String(cString: strerror(code))
            }
        description =
            "\(path): \(reason)" + (FileWall.reason(path, code).map { "; \($0)" } ?? "")
        self.code = code
    }
}
