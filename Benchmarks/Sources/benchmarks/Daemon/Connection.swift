import Glibc
import JSONCodec

/// One end of a stream socket that carries frames: as little of a client as there can be, so that
/// what is measured is the other end.
final class Connection {
    /// The socket.
    let descriptor: Int32
    private var buffer: [UInt8] = []
    private var start = 0
    private let scratch = UnsafeMutableRawBufferPointer.allocate(
        byteCount: 64 << 10, alignment: 16)

    /// Takes over a connected socket.
    init(adopting descriptor: Int32) {
        self.descriptor = descriptor
    }

    /// Connects to a listening socket.
    init(path: String) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw BenchmarkError.system("socket") }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let size = MemoryLayout.size(ofValue: address.sun_path)
        guard path.utf8.count < size else { throw BenchmarkError("\(path): too long a path") }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard result == 0 else { throw BenchmarkError.system("connect to \(path)") }
    }

    deinit {
        close(descriptor)
        scratch.deallocate()
    }

    /// Writes a frame whole.
    func send(_ frame: [UInt8]) throws {
        try frame.withUnsafeBytes { bytes in
            var sent = 0
            while sent < bytes.count {
                let rest = UnsafeRawBufferPointer(rebasing: bytes[sent...])
                let count = Glibc.send(
                    descriptor, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL))
                if count < 0, errno == EINTR { continue }
                guard count >= 0 else { throw BenchmarkError.system("send") }
                sent += count
            }
        }
    }

    /// Waits for the next frame.
    ///
    /// - Returns: Its bytes without the NUL.
    func receive() throws -> [UInt8] {
        while true {
            if let frame = nextBuffered() { return frame }
            try fill()
        }
    }

    /// The next frame, if all of it came already.
    func nextBuffered() -> [UInt8]? {
        let end = buffer.withUnsafeBytes { bytes -> Int? in
            guard let base = bytes.baseAddress, start < bytes.count,
                let found = memchr(base + start, 0, bytes.count - start)
            else { return nil }
            return UnsafeRawPointer(found) - base
        }
        guard let end else { return nil }
        let frame = Array(buffer[start..<end])
        start = end + 1
        if start == buffer.count {
            buffer.removeAll(keepingCapacity: true)
            start = 0
        }
        return frame
    }

    /// Reads once what there is, waiting for something.
    func fill() throws {
        let count = read(descriptor, scratch.baseAddress, scratch.count)
        if count < 0, errno == EINTR { return }
        guard count >= 0 else { throw BenchmarkError.system("read") }
        guard count > 0 else { throw BenchmarkError("the other end closed the connection") }
        buffer.append(contentsOf: scratch[..<count])
    }

    /// Sends a frame and waits for the next one; an error reply throws.
    func exchange(_ frame: [UInt8]) throws -> [UInt8] {
        try send(frame)
        let reply = try receive()
        try Frame.check(reply)
        return reply
    }

    /// Calls a method.
    ///
    /// - Returns: The reply's parameters.
    func call(_ method: String, _ parameters: JSONValue = .object([])) throws -> JSONValue {
        try Frame.parameters(of: exchange(Frame.call(method, parameters)))
    }
}
