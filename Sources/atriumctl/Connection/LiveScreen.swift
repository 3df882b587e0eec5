import Interfaces
import JSONCodec
import Varlink

/// A screen that outlives its connection: when that is lost, it is resumed as soon as the daemon
/// answers again, from the revision that was seen last.
struct LiveScreen {
    /// What happens with it.
    enum Event {
        /// A revision, and the object that it came as.
        case revision(Screens.Open.Reply, JSONObject)
        /// The connection was lost, for this reason; it is being tried again.
        case lost(CommandFailure)
    }

    let connection: ConnectionOptions
    /// How it is opened where it can't be resumed.
    var parameters: Screens.Open.Parameters

    /// Follows the screen.
    ///
    /// - Parameters:
    ///   - session: The connection to begin with.
    ///   - take: Takes an event.
    ///   - update: Takes in what is chosen by now: for a screen that starts anew.
    /// - Throws: ``CommandFailure`` when the daemon refuses.
    mutating func follow(
        _ session: Session, take: (Event) throws -> Void,
        update: (inout Screens.Open.Parameters) -> Void
    ) async throws {
        var session = session
        var reconnection = Reconnection(connection)
        while true {
            do {
                for try await object in session.client.stream(
                    raw: Screens.Open.name, parameters: JSONObject(writing: parameters) ?? .empty)
                {
                    let reply = try session.decode(Screens.Open.self, object)
                    parameters.resume = .init(screen: reply.screen, revision: reply.revision)
                    reconnection.succeeded()
                    try take(.revision(reply, object))
                }
                return
            } catch {
                let failure = await session.explain(error)
                guard parameters.resume != nil, Reconnection.mayHelp(failure, error) else {
                    throw failure
                }
                update(&parameters)
                try take(.lost(failure))
            }
            session = try await reconnection.connect()
        }
    }
}
