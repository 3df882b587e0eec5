internal import NIOCore

/// The replies of one call with `more`, between the connection that brings them and the task that pulls them.
///
/// If more than a few replies wait, the connection is held, so the rest stays with the service.
///
/// Unchecked: everything but `let`s is used only on the event loop.
final class ReplyStream<Reply: Sendable>: @unchecked Sendable {
    /// Replies that wait for their reader before the connection is held.
    static var capacity: Int { 64 }

    let connection: ClientConnection
    private var waiting = CircularBuffer<Reply>()
    private var reader: CheckedContinuation<Reply?, any Error>?
    private var isOver = false
    private var error: (any Error)?

    init(_ connection: ClientConnection) {
        self.connection = connection
    }

    /// Adds a reply or the error that ends the stream; a reply that does not continue is the last.
    func receive(_ result: Result<Reply, any Error>, continues: Bool) {
        guard !isOver else { return }
        isOver = !continues
        switch result {
        case .success(let reply):
            if let reader {
                self.reader = nil
                reader.resume(returning: reply)
            } else {
                waiting.append(reply)
            }
        case .failure(let error):
            isOver = true
            if let reader {
                self.reader = nil
                reader.resume(throwing: error)
            } else {
                self.error = error
            }
            // A reply that can't be read ends the stream: those that follow have no reader.
            if continues { connection.close() }
        }
        if !isOver, waiting.count >= Self.capacity { connection.setReadingPaused(true) }
    }

    /// Returns the next reply; nil at the end.
    func next() async throws -> Reply? {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { reader in
                connection.eventLoop.execute { self.read(reader) }
            }
        } onCancel: {
            cancel()
        }
    }

    /// Ends the stream early, in the one way the protocol has: by closing the connection.
    func cancel() {
        connection.eventLoop.execute { [self] in
            guard !isOver else { return }
            receive(.failure(CancellationError()), continues: false)
            connection.close()
        }
    }

    private func read(_ reader: CheckedContinuation<Reply?, any Error>) {
        if let reply = waiting.popFirst() {
            reader.resume(returning: reply)
            if waiting.isEmpty, !isOver { connection.setReadingPaused(false) }
        } else if let error {
            self.error = nil
            reader.resume(throwing: error)
        } else if isOver || self.reader != nil {
            reader.resume(returning: nil)
        } else {
            self.reader = reader
        }
    }
}

/// Keeps the client while its stream is referenced, and ends the stream with the last reference.
final class StreamOwner<Reply: Sendable>: Sendable {
    let stream: ReplyStream<Reply>
    private let client: VarlinkClient

    init(_ stream: ReplyStream<Reply>, of client: VarlinkClient) {
        self.stream = stream
        self.client = client
    }

    deinit {
        stream.cancel()
    }
}
