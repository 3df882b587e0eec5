import Host

extension HostError {
    /// The component that is not available, and why, in the words for those who look after it; nil: another error.
    var absence: (component: String, details: String)? {
        switch self {
        case .componentUnavailable(let component, let reason, _): (component, reason)
        case .componentFailed(let failure) where !failure.isOfCall:
            (failure.component, failure.details)
        default: nil
        }
    }
}
