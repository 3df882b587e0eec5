/// Why a peer may not call a method: see ``VarlinkRouter/authorize``.
public struct VarlinkDenial: Sendable {
    /// The error that the peer receives.
    public var error: any VarlinkErrorReply

    /// The reason, for the service's log.
    public var reason: String

    /// Denies a call.
    ///
    /// - Parameters:
    ///   - error: The error that the peer receives.
    ///   - reason: The reason, for the service's log.
    public init(_ error: any VarlinkErrorReply, reason: String) {
        self.error = error
        self.reason = reason
    }
}
