import Glibc
import Systemd
import Testing

/// Each test runs in a process of its own, since the protocol lives in the environment and at
/// descriptor 3.
@Suite(.timeLimit(.minutes(3)))
struct ListenDescriptorsTests {
    @Test func `a passed socket comes with the name of its unit file`() async {
        await #expect(processExitsWith: .exitCode(0)) {
            var pair: [Int32] = [-1, -1]
            guard pipe(&pair) == 0, dup2(pair[0], 3) == 3, dup2(pair[0], 4) == 4 else { exit(1) }
            setenv("LISTEN_PID", "\(getpid())", 1)
            setenv("LISTEN_FDS", "2", 1)
            setenv("LISTEN_FDNAMES", "varlink:other", 1)
            let passed = try PassedDescriptors.receive().rest
            guard passed.map(\.name) == ["varlink", "other"] else { exit(2) }
            guard passed.map(\.number) == [3, 4] else { exit(3) }
            guard fcntl(3, F_GETFD) & FD_CLOEXEC != 0 else { exit(4) }
            guard getenv("LISTEN_FDS") == nil else { exit(5) }
            guard try PassedDescriptors.receive().rest.isEmpty else { exit(6) }
            exit(0)
        }
    }

    @Test func `each is taken by its name once, and what nobody took is closed`() async {
        await #expect(processExitsWith: .exitCode(0)) {
            for number: Int32 in 3...6 {
                guard dup2(open("/dev/null", O_RDONLY), number) == number else { exit(1) }
            }
            setenv("LISTEN_PID", "\(getpid())", 1)
            setenv("LISTEN_FDS", "4", 1)
            setenv("LISTEN_FDNAMES", "varlink:other:kept-7:varlink", 1)
            var passed = try PassedDescriptors.receive()
            guard passed.take(named: "varlink") == [3, 6] else { exit(2) }
            guard passed.take(named: "varlink").isEmpty else { exit(3) }
            let kept = passed.take { $0.name.hasPrefix("kept-") }
            guard kept.map(\.number) == [5] else { exit(4) }
            guard passed.closeRest() == ["other"], passed.rest.isEmpty else { exit(5) }
            guard fcntl(4, F_GETFD) == -1, fcntl(5, F_GETFD) != -1 else { exit(6) }
            exit(0)
        }
    }

    @Test func `only a Unix stream socket that listens is one to serve at`() throws {
        let name = "@atrium-listening-\(getpid())"
        let listening = try bound(SOCK_STREAM, to: name, listens: true)
        let idle = try bound(SOCK_STREAM, to: name + "-idle", listens: false)
        let datagrams = try bound(SOCK_DGRAM, to: name + "-datagrams", listens: false)
        defer { for number in [listening, idle, datagrams] { close(number) } }
        #expect(ListeningSocket(listening)?.path == name)
        #expect(ListeningSocket(listening)?.group == nil)
        #expect(ListeningSocket(idle) == nil)
        #expect(ListeningSocket(datagrams) == nil)
        #expect(ListeningSocket(0) == nil)
    }

    /// A socket at a name of the abstract namespace, written with `@`.
    private func bound(
        _ type: __socket_type, to name: String, listens: Bool
    ) throws -> Int32 {
        let number = socket(AF_UNIX, Int32(type.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) {
            $0[1...].copyBytes(from: name.utf8.dropFirst())
        }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + name.utf8.count)
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(number, $0, length) }
        }
        try #require(bound == 0 && (!listens || listen(number, 1) == 0), "errno \(errno)")
        return number
    }

    @Test func `descriptors meant for another process are left alone`() async {
        await #expect(processExitsWith: .exitCode(0)) {
            setenv("LISTEN_PID", "\(getppid())", 1)
            setenv("LISTEN_FDS", "1", 1)
            exit(try PassedDescriptors.receive().rest.isEmpty ? 0 : 1)
        }
    }

    @Test func `an ordinary start has no sockets`() async {
        await #expect(processExitsWith: .exitCode(0)) {
            exit(try PassedDescriptors.receive().rest.isEmpty ? 0 : 1)
        }
    }

    @Test func `an announced descriptor that is not open is an error that names the socket unit`()
        async
    {
        await #expect(processExitsWith: .exitCode(0)) {
            setenv("LISTEN_PID", "\(getpid())", 1)
            setenv("LISTEN_FDS", "500", 1)
            do throws(ListenError) {
                _ = try PassedDescriptors.receive()
                exit(1)
            } catch {
                exit(error.description.contains("socket unit") ? 0 : 2)
            }
        }
    }
}
