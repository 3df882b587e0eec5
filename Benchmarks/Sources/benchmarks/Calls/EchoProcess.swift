import Foundation
import Glibc

/// A process that sends back what it gets, over a pair of Unix sockets: what the kernel alone costs.
final class EchoProcess {
    /// Our end.
    let connection: Connection
    private let process = Process()

    /// Starts this very program in the other role.
    init() throws {
        var ends: [Int32] = [-1, -1]
        guard
            socketpair(
                AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0
        else { throw BenchmarkError.system("socketpair") }
        connection = Connection(adopting: ends[0])
        process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = [Self.flag]
        process.standardInput = FileHandle(fileDescriptor: ends[1], closeOnDealloc: true)
        try process.run()
    }

    deinit {
        // It would end with our end of the pair, which is still held here.
        process.terminate()
        process.waitUntilExit()
    }

    /// Its process id.
    var pid: Int32 { process.processIdentifier }

    /// What makes this program the echo.
    static let flag = "--echo"

    /// The other role: sends back what comes from standard input, a socket, until it ends.
    static func run() {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
        defer { buffer.deallocate() }
        while true {
            let count = read(0, buffer.baseAddress, buffer.count)
            guard count > 0, write(0, buffer.baseAddress, count) == count else { return }
        }
    }
}
