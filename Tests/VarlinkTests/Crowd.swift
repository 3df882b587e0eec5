import Foundation
import Testing

/// Very many clients, in a process of their own: each connection is a descriptor on both sides.
final class Crowd {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()

    private static let program = """
        import resource, socket, sys
        path, count = sys.argv[1], int(sys.argv[2])
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        call = b'{"method":"org.example.test.Echo","parameters":{"text":"a"}}\\0'
        clients = []
        for _ in range(count):
            client = socket.socket(socket.AF_UNIX)
            client.connect(path)
            client.sendall(call)
            clients.append(client)
        def answers():
            for number, client in enumerate(clients):
                answer = client.recv(300)
                if b'"a"' not in answer:
                    return f"{number}: {answer}"
            return True
        print(answers(), flush=True)
        sys.stdin.readline()
        for client in clients:
            client.sendall(call)
        print(answers(), flush=True)
        sys.stdin.readline()
        """

    /// Connects so many, each of which has made a call.
    init(of count: Int, at path: String) async throws {
        process.executableURL = URL(filePath: "/usr/bin/python3")
        process.arguments = ["-c", Self.program, path, "\(count)"]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        let answer = await answer()
        #expect(answer == "True\n")
    }

    /// Has each make another call.
    ///
    /// - Returns: `True` and a newline, or who got no answer.
    func callAll() async throws -> String {
        input.fileHandleForWriting.write(Data("again\n".utf8))
        return await answer()
    }

    /// Closes them all.
    func leave() {
        input.fileHandleForWriting.write(Data("leave\n".utf8))
        process.waitUntilExit()
    }

    private func answer() async -> String {
        let handle = output.fileHandleForReading
        return await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                var line = ""
                while !line.hasSuffix("\n"), case let data = handle.availableData, !data.isEmpty {
                    line += String(decoding: data, as: UTF8.self)
                }
                continuation.resume(returning: line)
            }
        }
    }
}

/// How much memory this process has.
enum Memory {
    static var resident: Int {
        get throws {
            let text = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
            return try #require(Int(text.split(separator: " ")[1]))
                * Int(sysconf(Int32(_SC_PAGESIZE)))
        }
    }
}

/// How many files this process may have open.
enum FileLimit {
    /// Raises it as far as it goes.
    ///
    /// - Returns: How many.
    static func raise() throws -> Int {
        var limit = rlimit()
        try #require(getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
        limit.rlim_cur = limit.rlim_max
        try #require(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
        return Int(clamping: limit.rlim_cur)
    }
}
