import Dispatch
import Glibc
import Varlink

/// Standard input and output as the two directions of a connection.
enum RawTerminal {
    /// Copies both ways, until the service has ended its part.
    static func join(_ connection: VarlinkRawConnection) async throws {
        let sending = Task {
            while let bytes = await readInput() { try await connection.write(bytes) }
            await connection.finish()
        }
        defer { sending.cancel() }
        while let bytes = try await connection.read() { Output.bytes(bytes) }
    }

    /// What comes from standard input; nil at its end.
    private static func readInput() async -> [UInt8]? {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                var bytes = [UInt8](repeating: 0, count: 64 << 10)
                let count = read(STDIN_FILENO, &bytes, bytes.count)
                continuation.resume(returning: count > 0 ? Array(bytes[..<count]) : nil)
            }
        }
    }
}
