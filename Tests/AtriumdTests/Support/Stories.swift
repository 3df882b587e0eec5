import TestSupport
import Testing

/// The real daemon, over its socket: one story after the other, as each has two processors to itself.
@Suite(.serialized, .timeLimit(.minutes(3)))
enum Stories {}

/// Runs a story with a daemon that is ready, and stops the daemon afterwards.
///
/// A story that ends early shows the daemon's log.
func withDaemon<Value>(
    _ options: DaemonUnderTest.Options = .init(),
    _ story: (DaemonUnderTest) async throws -> Value
) async throws -> Value {
    let daemon = try await DaemonUnderTest(options)
    do {
        try await daemon.start()
        let value = try await story(daemon)
        try await daemon.stop()
        return value
    } catch {
        try? await daemon.kill()
        Issue.record("\(error)\nthe daemon's log:\n\(daemon.log.suffix(4_000))")
        throw error
    }
}

/// As ``withDaemon(_:_:)``, with the film club of the examples in it.
func withFilms<Value>(
    _ options: DaemonUnderTest.Options = .init(),
    _ story: (DaemonUnderTest) async throws -> Value
) async throws -> Value {
    try await withDaemon(options) { daemon in
        let filled = try await daemon.type(
            "atriumctl apply -f $EXAMPLES/films.yaml && "
                + "atriumctl import films $EXAMPLES/films.ndjson")
        #expect(filled.status == 0, "\(filled)")
        return try await story(daemon)
    }
}
