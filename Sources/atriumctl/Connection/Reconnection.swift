import JSONCodec
import Varlink

/// Comes back to a daemon that went away: again and again, with pauses that grow to 5 s.
struct Reconnection {
    private static let firstDelay = Duration.milliseconds(100)
    private static let longestDelay = Duration.seconds(5)

    let connection: ConnectionOptions
    private var delay = Self.firstDelay

    init(_ connection: ConnectionOptions) {
        self.connection = connection
    }

    /// The daemon answered: the next pause is short again.
    mutating func succeeded() { delay = Self.firstDelay }

    /// Waits, and connects as soon as somebody answers.
    ///
    /// - Throws: ``CommandFailure`` for what no patience helps against, such as a socket that is not ours.
    mutating func connect() async throws -> Session {
        while true {
            try await Task.sleep(for: delay)
            delay = min(delay * 2, Self.longestDelay)
            do {
                return try await connection.connect()
            } catch let failure as CommandFailure where failure.status == .unreachable {
                continue
            }
        }
    }

    /// Whether the same call may succeed later: the daemon is away, or says when.
    static func mayHelp(_ failure: CommandFailure, _ error: any Error) -> Bool {
        // Of whatever name: a newer daemon's errors say it as well.
        let retryAfter = (error as? VarlinkRemoteError)?.parameters.value["retryAfter"]
        return failure.status == .unreachable || retryAfter?.double != nil
    }
}
