extension VarlinkService {
    /// An error of the protocol, as one of its cases: for exhaustive switches over a service's errors.
    public enum Failure: Error, Sendable, Hashable {
        /// See ``InterfaceNotFound``.
        case interfaceNotFound(interface: String)
        /// See ``MethodNotFound``.
        case methodNotFound(method: String)
        /// See ``MethodNotImplemented``.
        case methodNotImplemented(method: String)
        /// See ``InvalidParameter``.
        case invalidParameter(parameter: String)
        /// See ``PermissionDenied``.
        case permissionDenied
        /// See ``ExpectedMore``.
        case expectedMore
        /// See ``ExpectedUpgrade``.
        case expectedUpgrade

        /// Reads an error that a service replied with.
        ///
        /// - Parameter error: The error; nil is returned for one of another interface, and where its
        ///   parameters are not as declared.
        public init?(_ error: VarlinkRemoteError) {
            if let error = error.as(InterfaceNotFound.self) {
                self = .interfaceNotFound(interface: error.interface)
            } else if let error = error.as(MethodNotFound.self) {
                self = .methodNotFound(method: error.method)
            } else if let error = error.as(MethodNotImplemented.self) {
                self = .methodNotImplemented(method: error.method)
            } else if let error = error.as(InvalidParameter.self) {
                self = .invalidParameter(parameter: error.parameter)
            } else if error.as(PermissionDenied.self) != nil {
                self = .permissionDenied
            } else if error.as(ExpectedMore.self) != nil {
                self = .expectedMore
            } else if error.as(ExpectedUpgrade.self) != nil {
                self = .expectedUpgrade
            } else {
                return nil
            }
        }
    }
}
