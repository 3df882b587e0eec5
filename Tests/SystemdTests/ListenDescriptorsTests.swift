import Glibc
import Systemd
import Testing

/// Each test runs in a process of its own, since the protocol lives in the environment and at
/// descriptor 3.
struct ListenDescriptorsTests {
    @Test func `a passed socket comes with the name of its unit file`() async {
        await #expect(processExitsWith: .exitCode(0)) {
            var pair: [Int32] = [-1, -1]
            guard pipe(&pair) == 0, dup2(pair[0], 3) == 3, dup2(pair[0], 4) == 4 else { exit(1) }
            setenv("LISTEN_PID", "\(getpid())", 1)
            setenv("LISTEN_FDS", "2", 1)
            setenv("LISTEN_FDNAMES", "varlink:other", 1)
            let descriptors = try listenDescriptors()
            guard descriptors.map(\.name) == ["varlink", "other"] else { exit(2) }
            guard descriptors.map(\.fd) == [3, 4] else { exit(3) }
            guard fcntl(3, F_GETFD) & FD_CLOEXEC != 0 else { exit(4) }
            guard getenv("LISTEN_FDS") == nil else { exit(5) }
            guard try listenDescriptors().isEmpty else { exit(6) }
            exit(0)
        }
    }

    @Test func `descriptors meant for another process are left alone`() async {
        await #expect(processExitsWith: .exitCode(0)) {
            setenv("LISTEN_PID", "\(getppid())", 1)
            setenv("LISTEN_FDS", "1", 1)
            exit(try listenDescriptors().isEmpty ? 0 : 1)
        }
    }

    @Test func `an ordinary start has no sockets`() async {
        await #expect(processExitsWith: .exitCode(0)) {
            exit(try listenDescriptors().isEmpty ? 0 : 1)
        }
    }

    @Test func `an announced descriptor that is not open is an error that names the socket unit`()
        async
    {
        await #expect(processExitsWith: .exitCode(0)) {
            setenv("LISTEN_PID", "\(getpid())", 1)
            setenv("LISTEN_FDS", "500", 1)
            do throws(ListenError) {
                _ = try listenDescriptors()
                exit(1)
            } catch {
                exit(error.description.contains("socket unit") ? 0 : 2)
            }
        }
    }
}
