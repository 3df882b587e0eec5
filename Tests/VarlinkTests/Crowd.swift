import Foundation
import TestSupport
import Testing

/// Very many clients, in a process of their own: each connection is a descriptor on both sides.
struct Crowd {
    fileprivate var running: RunningCommand

    fileprivate static let program = """
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

    /// Has each make another call.
    mutating func callAll() async throws {
        try await running.write("again\n")
        #expect(try await running.next() == "True")
    }
}

/// Connects so many, each of which makes a call, and closes them all after the body.
func withCrowd(
    of count: Int, at path: String, _ body: (inout Crowd) async throws -> Void
) async throws {
    try await withRunning(["/usr/bin/python3", "-c", Crowd.program, path, "\(count)"]) { running in
        #expect(try await running.next() == "True")
        var crowd = Crowd(running: running)
        try await body(&crowd)
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
