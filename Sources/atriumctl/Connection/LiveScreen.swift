import Interfaces
import JSONCodec
import Varlink

/// A screen that outlives its connection: when the connection is lost, it is made again, and the screen is
/// resumed from the last revision that was received.
struct LiveScreen {
    /// What a screen receives.
    enum Event {
        /// A revision, and the reply that held it as it came.
        case revision(Screens.Open.Reply, JSONObject)
        /// The connection was lost for this reason, and is being made again.
        case lost(CommandFailure)
    }

    let connection: ConnectionOptions
    /// The parameters that open it anew where it can't be resumed.
    var parameters: Screens.Open.Parameters

    /// Opens the screen, and passes on events until the daemon ends it; `update` is called before the screen is
    /// opened anew, to set what the user has chosen since.
    mutating func follow(
        _ session: Session, handle: (Event) throws -> Void,
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
                    try handle(.revision(reply, object))
                }
                return
            } catch {
                let failure = await session.explain(error)
                guard parameters.resume != nil, Reconnection.mayHelp(failure, error) else {
                    throw failure
                }
                update(&parameters)
                try handle(.lost(failure))
            }
            session = try await reconnection.connect()
        }
    }
}
