import JSONCodec
import Varlink

/// Connects again to a daemon that went away, with pauses that grow to 5 s.
struct Reconnection {
    private static let firstDelay = Duration.milliseconds(100)
    private static let longestDelay = Duration.seconds(5)

    let connection: ConnectionOptions
    private var delay = Self.firstDelay

    init(_ connection: ConnectionOptions) {
        self.connection = connection
    }

    /// Makes the next pause short again: the daemon has replied.
    mutating func succeeded() { delay = Self.firstDelay }

    /// Tries to connect until a daemon accepts, with a pause before each try; throws what waiting does not mend, such
    /// as a socket of another user.
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

    /// Whether the same call may succeed later: the daemon can't be reached, or its error has `retryAfter`.
    static func mayHelp(_ failure: CommandFailure, _ error: any Error) -> Bool {
        // Read whatever the error's name: errors of a newer daemon may have it, too.
        let retryAfter = (error as? VarlinkRemoteError)?.parameters.value["retryAfter"]
        return failure.status == .unreachable || retryAfter?.double != nil
    }
}
