import Dispatch
import Glibc
import Synchronization

/// What a service manager listens on: `READY=1` and the like arrive here.
///
/// It reads all the while, as a service manager does: a daemon waits that has told ten things which
/// nobody read.
final class NotifySocket: Sendable {
    let path: String
    private let descriptor: Int32
    private let heard = Heard()

    init(path: String) throws {
        self.path = path
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        let result = withUnixAddress(path) { bind(descriptor, $0, $1) }
        guard result == 0 else { throw SystemFailure("bind \(path)") }
        chmod(path, 0o777)
        let thread = DispatchQueue(label: "notify")
        thread.async { [descriptor, heard] in
            while let message = Self.receive(descriptor) { heard.add(message) }
            close(descriptor)
        }
    }

    deinit {
        // Ends its thread.
        shutdown(descriptor, Int32(SHUT_RDWR))
        unlink(path)
    }

    /// Waits for a message that has this line.
    ///
    /// - Returns: the whole message.
    func wait(for line: String) async throws -> String {
        for await message in heard.messages {
            let lines = message.split(separator: "\n")
            if lines.contains(where: { $0 == line }) { return message }
            if lines.contains("ENDED=1") { throw SystemFailure("\(line): the daemon ended", 0) }
        }
        throw CancellationError()
    }

    /// Says that nothing more will come: for whoever waits.
    func end() { heard.add("ENDED=1") }

    /// Forgets what an earlier run said.
    func drain() { heard.forget() }

    private static func receive(_ descriptor: Int32) -> String? {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        return count > 0 ? String(decoding: buffer[..<count], as: UTF8.self) : nil
    }
}

/// What was said and nobody has waited for yet.
private final class Heard: Sendable {
    private let current = Mutex(AsyncStream.makeStream(of: String.self))

    var messages: AsyncStream<String> { current.withLock { $0.stream } }

    func add(_ message: String) { current.withLock { _ = $0.continuation.yield(message) } }

    func forget() { current.withLock { $0 = AsyncStream.makeStream(of: String.self) } }
}

/// A call to the system that went wrong.
struct SystemFailure: Error, CustomStringConvertible {
    let description: String

    init(_ what: String, _ code: Int32 = errno) {
        description = "\(what): \(String(cString: strerror(code)))"
    }
}

/// Calls a function with a Unix socket's address.
func withUnixAddress<Value>(
    _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Value
) -> Value {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { room in
        room.copyBytes(from: Array(path.utf8).prefix(room.count - 1))
    }
    return withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
        }
    }
}
