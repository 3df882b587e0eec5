import AtriumKit
import Glibc
import Index

/// The bytes that a component keeps, as a file: a line with the definition's digest and a checksum, then the bytes.
///
/// The file contains no request headers and no secrets, since a definition has only references to these.
struct KeptFile: Sendable {
    private static let mark = "atrium-kept 1"
    /// The first line is shorter than this many bytes.
    private static let mostLine = 128

    /// The digest of the definition that the component was made from.
    let digest: UInt64
    let bytes: [UInt8]
    private let sum: UInt64

    init(_ bytes: [UInt8], for digest: UInt64) {
        self.digest = digest
        self.bytes = bytes
        var sum = Digest()
        sum.add(bytes)
        self.sum = sum.value
    }

    private var line: String {
        "\(Self.mark) \(String(digest, radix: 16)) \(bytes.count) \(String(sum, radix: 16))\n"
    }

    /// Reads a file of the present definition, by its digest; nil: it does not exist, is of another one, is too
    /// large, or is damaged.
    static func read(_ path: String, for digest: UInt64, atMost most: Int) -> KeptFile? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            status.st_size <= most + mostLine
        else { return nil }
        let whole = [UInt8](unsafeUninitializedCapacity: Int(status.st_size)) { buffer, filled in
            while filled < buffer.count {
                let got = Glibc.read(
                    descriptor, buffer.baseAddress.map { $0 + filled }, buffer.count - filled)
                if got < 0, errno == EINTR { continue }
                guard got > 0 else { break }
                filled += got
            }
        }
        guard let end = whole.prefix(mostLine).firstIndex(of: UInt8(ascii: "\n")) else {
            return nil
        }
        guard whole.count - end - 1 <= most else { return nil }
        let file = KeptFile(Array(whole[(end + 1)...]), for: digest)
        return file.line == String(decoding: whole[...end], as: UTF8.self) ? file : nil
    }

    /// Whether the first line of a file has a definition's digest.
    static func isOf(_ digest: UInt64, _ path: String) -> Bool {
        firstBytes(path).starts(with: "\(mark) \(String(digest, radix: 16)) ".utf8)
    }

    private static func firstBytes(_ path: String) -> ArraySlice<UInt8> {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: mostLine)
        let count = Glibc.read(descriptor, &bytes, bytes.count)
        return bytes.prefix(max(0, count))
    }

    /// Writes the file atomically into a folder, which is made if it does not exist, and waits until it is on disk;
    /// returns 0, or the `errno` of the step that failed.
    func write(into folder: String, as name: String) -> Int32 {
        mkdir(folder, 0o700)
        return AtomicFile.write([Array(line.utf8), bytes], into: folder, as: name)
    }
}

/// The FNV-1a hash of bytes; it is the same in each process and on each machine.
struct Digest {
    private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325

    mutating func add(_ bytes: some Sequence<UInt8>) {
        for byte in bytes { value = (value ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
    }

    /// Adds a text and an end mark.
    mutating func add(_ text: String) {
        add(text.utf8)
        add([0xFF])
    }

    /// Adds a value; an object's members are added in the order of their names.
    mutating func add(_ value: Value) {
        if let members = value.object {
            add([0xFD])
            for (name, member) in members.sorted(by: { $0.key < $1.key }) {
                add(name)
                add(member)
            }
        } else if let elements = value.list {
            add([0xFC])
            for element in elements { add(element) }
        } else {
            add(String(decoding: value.jsonBytes, as: UTF8.self))
        }
        add([0xFE])
    }
}
