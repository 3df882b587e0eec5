import Interfaces
import JSONCodec
import Varlink

/// A subscription that outlives its connection: when that is lost, it goes on behind what was told
/// last as soon as the daemon answers again.
struct LiveNotifications {
    /// What happens with it.
    enum Event {
        /// Notifications, and the object that they came as.
        case batch(Notifications.Subscribe.Reply, JSONObject)
        /// The connection was lost, for this reason; it is being tried again.
        case lost(CommandFailure)
        /// It goes on.
        case found
    }

    let connection: ConnectionOptions
    /// The next call; its `after` is the cursor, of the store that it names.
    var parameters: Notifications.Subscribe.Parameters

    /// Follows what happens.
    ///
    /// - Parameters:
    ///   - session: The connection to begin with.
    ///   - take: Takes an event.
    /// - Throws: ``CommandFailure`` when the daemon refuses.
    mutating func follow(_ session: Session, take: (Event) throws -> Void) async throws {
        var session = session
        var reconnection = Reconnection(connection)
        var hasBegun = false
        var isLost = false
        while true {
            do {
                for try await object in session.client.stream(
                    raw: Notifications.Subscribe.name,
                    parameters: JSONObject(writing: parameters) ?? .empty)
                {
                    let reply = try session.decode(Notifications.Subscribe.self, object)
                    reconnection.succeeded()
                    if isLost { try take(.found) }
                    // The first reply to a resumption repeats nothing; where it says nothing it is
                    // no news either.
                    let isNews =
                        !isLost || !reply.notifications.isEmpty || reply.gap != nil
                    (hasBegun, isLost) = (true, false)
                    if isNews { try take(.batch(reply, object)) }
                    parameters.after = reply.sequence
                    parameters.store = reply.store ?? parameters.store
                }
                return
            } catch {
                let failure = await session.explain(error)
                guard hasBegun, Reconnection.mayHelp(failure, error) else { throw failure }
                if !isLost { try take(.lost(failure)) }
                isLost = true
            }
            session = try await reconnection.connect()
        }
    }
}
