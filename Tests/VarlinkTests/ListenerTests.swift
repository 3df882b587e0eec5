import Glibc
import Logging
import NIOPosix
import TestSupport
import Testing
import Varlink

/// A listening socket that outlives servers.
@Suite(.timeLimit(.minutes(3))) struct ListenerTests {
    private let directory: TemporaryDirectory

    private var path: String { directory.path + "/socket" }

    init() throws { directory = try TemporaryDirectory() }

    private var mode: mode_t? {
        var status = stat()
        return lstat(path, &status) == 0 ? status.st_mode & 0o7777 : nil
    }

    @Test func `who comes between two servers is answered by the second`() async throws {
        let listener = try VarlinkListener(path: path, mode: 0o600, group: nil)
        // As the manager has it.
        let kept = dup(listener.descriptor)
        let first = try await serve(on: listener)
        await first.stop(within: .zero)
        let client = try RawClient(path: path)
        try client.send(#"{"method":"org.example.none.A"}"#)
        #expect(try client.hasNothing())

        let next = try #require(
            VarlinkListener(descriptor: kept, path: path, identity: listener.identity))
        let second = try await serve(on: next)
        #expect(try await client.receive()?.contains("InterfaceNotFound") == true)
        await second.stop(within: .zero)
        #expect(mode == 0o600)
        next.removeFile()
        #expect(mode == nil)
    }

    private func serve(on listener: VarlinkListener) async throws -> VarlinkServer {
        try await VarlinkServer.start(
            on: MultiThreadedEventLoopGroup.singleton.next(), at: .descriptor(listener.descriptor),
            router: VarlinkRouter(vendor: "", product: "", version: "", url: ""),
            logger: Logger(label: "test"))
    }

    @Test func `a socket that clients do not reach is not taken over, and leaves others alone`()
        throws
    {
        let listener = try VarlinkListener(path: path, mode: 0o600, group: nil)
        defer { close(listener.descriptor) }
        func again() -> VarlinkListener? {
            VarlinkListener(
                descriptor: listener.descriptor, path: path, identity: listener.identity)
        }
        #expect(again() != nil)
        unlink(path)
        #expect(again() == nil)
        let other = try VarlinkListener(path: path, mode: 0o600, group: nil)
        defer { close(other.descriptor) }
        #expect(other.identity != listener.identity)
        #expect(again() == nil)
        listener.removeFile()
        #expect(mode == 0o600)
        other.removeFile()
        #expect(mode == nil)
    }

    @Test func `its file gets its mode again`() throws {
        let listener = try VarlinkListener(path: path, mode: 0o660, group: nil)
        defer { close(listener.descriptor) }
        #expect(mode == 0o660)
        chmod(path, 0o777)
        try listener.allow(mode: 0o660, group: nil)
        #expect(mode == 0o660)
        #expect(throws: VarlinkBindError.self) {
            try listener.allow(mode: 0o660, group: "a-group-that-there-is-not")
        }
    }
}
