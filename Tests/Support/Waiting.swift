import Dispatch

/// Waits for what a callback is told; whoever is cancelled waits no longer.
///
/// A test that is past its time limit is cancelled: one that waited on would keep all others waiting.
public func answer<Value: Sendable, Failure>(
    _ body: (@escaping @Sendable (Result<Value, Failure>) -> Void) -> Void
) async throws -> Value {
    let (answers, continuation) = AsyncThrowingStream.makeStream(of: Value.self)
    body { result in
        continuation.yield(with: result.mapError { $0 })
        continuation.finish()
    }
    for try await answer in answers { return answer }
    throw CancellationError()
}

/// Runs what blocks on a thread of its own: the tests' threads are few, and others answer on them.
public func onThread<Value: Sendable>(
    _ work: @escaping @Sendable () throws -> Value
) async throws -> Value {
    try await answer { reply in
        DispatchQueue.global().async { reply(Result { try work() }) }
    }
}

/// Waits until something holds, looking again and again, and no longer than the test's time limit.
public func until(_ holds: () async throws -> Bool) async throws {
    while try await !holds() {
        try Task.checkCancellation()
        await Task.yield()
    }
}

/// Waits until a callback is called; whoever is cancelled waits no longer.
public func callback(_ body: (@escaping @Sendable () -> Void) -> Void) async throws {
    try await answer { (reply: @escaping @Sendable (Result<Void, Never>) -> Void) in
        body { reply(.success(())) }
    }
}
