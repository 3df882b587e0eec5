import Interfaces
import JSONCodec
import Varlink

/// A subscription that outlives its connection: when the connection is lost, it is made again, and the
/// subscription goes on behind the last notification that was received.
struct LiveNotifications {
    /// What a subscription receives.
    enum Event {
        /// Notifications, and the reply that held them as it came.
        case batch(Notifications.Subscribe.Reply, JSONObject)
        /// The connection was lost for this reason, and is being made again.
        case lost(CommandFailure)
        /// The connection was made again.
        case found
    }

    let connection: ConnectionOptions
    /// The parameters of the next call: `after` is the cursor, `store` the store that it belongs to.
    var parameters: Notifications.Subscribe.Parameters

    /// Subscribes, and passes on events until the daemon ends the subscription; throws when it refuses.
    mutating func follow(_ session: Session, handle: (Event) throws -> Void) async throws {
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
                    if isLost { try handle(.found) }
                    // The first reply after a new connection may be empty: then there is no event.
                    let isNews =
                        !isLost || !reply.notifications.isEmpty || reply.gap != nil
                    (hasBegun, isLost) = (true, false)
                    if isNews { try handle(.batch(reply, object)) }
                    parameters.after = reply.sequence
                    parameters.store = reply.store ?? parameters.store
                }
                return
            } catch {
                let failure = await session.explain(error)
                guard hasBegun, Reconnection.mayHelp(failure, error) else { throw failure }
                if !isLost { try handle(.lost(failure)) }
                isLost = true
            }
            session = try await reconnection.connect()
        }
    }
}
