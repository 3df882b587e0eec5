import NIOCore
import NIOPosix
import TestSupport
import Varlink

/// The example service, running in a directory of its own.
struct Service {
    let directory: TemporaryDirectory
    let path: String
    let server: VarlinkServer
    let desk: Desk
    let log: CapturedLog

    func raw() throws -> RawClient { try RawClient(path: path) }

    func client() async throws -> VarlinkClient { try await VarlinkClient.connect(unixPath: path) }

    /// Proof that the service still answers others, and that the loop has had a turn.
    func isAlive() async throws -> Bool {
        let client = try raw()
        try client.send(#"{"method":"org.example.test.Echo","parameters":{"text":"alive"}}"#)
        return try await client.receive() == #"{"parameters":{"text":"alive"}}"#
    }
}

/// Runs a test against the example service, and stops the service after it.
func withService(
    limits: VarlinkLimits = VarlinkLimits(),
    change: (inout VarlinkRouter, Desk) -> Void = { _, _ in },
    _ body: (Service) async throws -> Void
) async throws {
    let directory = try TemporaryDirectory()
    let desk = Desk(loop: MultiThreadedEventLoopGroup.singleton.next())
    var router = makeRouter(desk)
    change(&router, desk)
    let log = CapturedLog()
    let path = directory.path + "/socket"
    let server = try await VarlinkServer.start(
        on: desk.loop, at: .path(path), router: router, limits: limits,
        logger: log.logger)
    let service = Service(
        directory: directory, path: path, server: server, desk: desk, log: log)
    do {
        try await body(service)
    } catch {
        await server.stop(within: .zero)
        throw error
    }
    await server.stop(within: .zero)
}

private func makeRouter(_ desk: Desk) -> VarlinkRouter {
    var router = VarlinkRouter(
        vendor: "Example", product: "Test", version: "1", url: "https://example.org")
    router.add(Example.self)
    router.handle(Example.Echo.self) { parameters, call in
        if parameters.text == "refuse" { return call.fail(Example.Refused(reason: "as asked")) }
        call.reply(parameters)
    }
    router.handle(Example.Hold.self) { parameters, call in desk.hold(parameters.text, call) }
    router.handle(Example.Follow.self) { _, call in
        guard call.wantsMore else { return call.fail(VarlinkService.ExpectedMore()) }
        desk.follow(call)
    }
    router.handle(Example.Count.self) { parameters, call in
        for value in 1..<max(parameters.value, 1) { call.replyContinues(Number(value)) }
        call.reply(Number(parameters.value))
    }
    return router
}

extension VarlinkStatistics {
    /// Connections that were closed for a message without a well-defined reply.
    var protocolViolations: Int { violations.values.reduce(0, +) }
}
