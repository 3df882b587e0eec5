import Dispatch
import Glibc
import Logging
import NIOCore
import NIOPosix
import TestSupport
import Testing
import Varlink

@Suite(.timeLimit(.minutes(3))) struct SocketTests {
    private let directory: TemporaryDirectory

    private var path: String { directory.path + "/socket" }

    init() throws { directory = try TemporaryDirectory() }

    @Test func `a socket left by a server that is gone is replaced`() async throws {
        let left = try makeListener(path)
        close(left)
        #expect(throws: RawClient.Failure.self) { try RawClient(path: path) }
        let server = try await start(at: .path(path))
        #expect(try RawClient(path: path).descriptor >= 0)
        await server.stop(within: .zero)
        #expect(access(path, F_OK) != 0)
    }

    @Test func `a socket that somebody answers on is left alone`() async throws {
        try await withService { service in
            let error = await #expect(throws: VarlinkBindError.self) {
                _ = try await start(at: .path(service.path))
            }
            #expect(
                error?.description
                    == "can't listen at \(service.path): another server answers there: stop it first"
            )
            let isAlive = try await service.isAlive()
            #expect(isAlive)
        }
    }

    @Test func `hundreds of clients that come at once find room`() async throws {
        try await withService { service in
            let busy = DispatchSemaphore(value: 0)
            service.desk.loop.execute { busy.wait() }
            defer { busy.signal() }
            let clients = try (0..<400).map { _ in try RawClient(path: service.path) }
            #expect(clients.count == 400)
        }
    }

    @Test func `another kind of file is left alone`() async throws {
        close(open(path, O_CREAT | O_WRONLY, 0o600))
        let error = await #expect(throws: VarlinkBindError.self) {
            _ = try await start(at: .path(path))
        }
        #expect(error?.reason == "there is another kind of file, which is left alone")
        #expect(access(path, F_OK) == 0)
    }

    @Test(arguments: [
        ("/nowhere/at/all/socket", ENOENT), (String(repeating: "/x", count: 60), ENAMETOOLONG),
    ])
    func `a path that can't be bound is refused with the reason`(
        _ path: String, _ code: Int32
    ) async throws {
        let error = await #expect(throws: VarlinkBindError.self) {
            _ = try await start(at: .path(path))
        }
        #expect(error?.code == code)
    }

    @Test func `the file has the mode and the group it was given`() async throws {
        let server = try await start(at: .path(path, mode: 0o640, group: nil))
        var status = stat()
        #expect(lstat(path, &status) == 0)
        #expect(status.st_mode & 0o777 == 0o640)
        await server.stop(within: .zero)
        let error = await #expect(throws: VarlinkBindError.self) {
            _ = try await start(at: .path(path, group: "no-such-group"))
        }
        #expect(error?.reason.contains("'no-such-group'") == true)
        #expect(access(path, F_OK) != 0)
    }

    @Test func `a file that has taken the socket's place outlives the server`() async throws {
        let server = try await start(at: .path(path))
        unlink(path)
        let other = try makeListener(path)
        await server.stop(within: .zero)
        #expect(access(path, F_OK) == 0)
        close(other)
    }

    @Test func `a socket that listens already is served, and its file left`() async throws {
        let server = try await start(at: .descriptor(makeListener(path)))
        let client = try RawClient(path: path)
        try client.send(#"{"method":"org.example.none.A"}"#)
        #expect(try await client.receive()?.contains("InterfaceNotFound") == true)
        await server.stop(within: .zero)
        #expect(access(path, F_OK) == 0)
    }

    @Test func `one end of a pair is served, and the other is a client`() async throws {
        try await withService { service in
            var ends: [Int32] = [-1, -1]
            #expect(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
            try await service.server.serve(ends[0])
            let client = try await VarlinkClient.connect(descriptor: ends[1])
            #expect(try await client.call(Example.Echo.self, Text("a")) == Text("a"))
            await client.close()
        }
    }

    private func start(at address: VarlinkServer.Address) async throws -> VarlinkServer {
        try await VarlinkServer.start(
            on: MultiThreadedEventLoopGroup.singleton.next(), at: address,
            router: VarlinkRouter(vendor: "", product: "", version: "", url: ""),
            logger: Logger(label: "test"))
    }

    private func makeListener(_ path: String) throws -> Int32 {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
        let size = socklen_t(MemoryLayout<sockaddr_un>.size)
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, size)
            }
        }
        try #require(result == 0 && listen(descriptor, 8) == 0)
        return descriptor
    }
}
