/// Why a peer may not call a method: see ``VarlinkRouter/authorize``.
public struct VarlinkDenial: Sendable {
    /// What the peer is answered.
    public var error: any VarlinkErrorReply

    /// Why, in words for the service's log.
    public var reason: String

    /// Says no.
    ///
    /// - Parameters:
    ///   - error: What the peer is answered.
    ///   - reason: Why, in words for the service's log.
    public init(_ error: any VarlinkErrorReply, reason: String) {
        self.error = error
        self.reason = reason
    }
}
