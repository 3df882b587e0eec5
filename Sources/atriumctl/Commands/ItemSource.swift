import Interfaces
import Varlink

/// Where the items of a list come from.
enum ItemSource {
    /// The list reads them somewhere.
    case source
    /// They are put and imported.
    case records
    /// The list did not answer: the daemon's reason.
    case unknown(String)

    /// Asks a list by a put of no items, which changes nothing; nil: the daemon can't be asked.
    static func of(_ list: String, in container: String, _ session: Session) async -> ItemSource? {
        do {
            _ = try await session.client.call(
                Contents.Put.self, .init(container: container, component: list, items: []))
            return .records
        } catch let error as VarlinkRemoteError {
            if error.as(Contents.ReadOnly.self) != nil { return .source }
            return error.as(Contents.ComponentUnavailable.self).map { .unknown($0.reason) }
        } catch {
            return nil
        }
    }
}
