import JSONCodec
import Varlink

/// Failures of `atriumctl call`, which may call any service: the error is printed by name, as it came.
enum CallProblem {
    /// The error as it came, and what to do about it where that is known; the address is the service's as it was
    /// typed, nil for the daemon.
    static func explain(
        _ error: VarlinkRemoteError, method: String, address: String?
    ) -> CommandFailure {
        CommandFailure("\(error)", hint: hint(error, method, address ?? ""))
    }

    /// A reply that broke the protocol.
    static func explain(_ error: VarlinkConnectionError, method: String) -> CommandFailure {
        // The service sent several replies to a call without `more`.
        let isSeries = error.description.contains("without more")
        return CommandFailure(
            error.description, hint: isSeries ? addMore(method) : nil)
    }

    private static func addMore(_ method: String) -> String {
        "\(method) answers with a series of replies: add --more."
    }

    private static func listInterfaces(_ address: String) -> String {
        let words = ["atriumctl interfaces", address].filter { !$0.isEmpty }
        return "'\(words.joined(separator: " "))' lists what there is."
    }

    private static func hint(
        _ error: VarlinkRemoteError, _ method: String, _ address: String
    ) -> String? {
        // Any service may leave the parameters out: which error it is suffices.
        let named = VarlinkRemoteError(
            name: error.name, parameters: ["interface": "", "method": "", "parameter": ""])
        switch VarlinkService.Failure(named) {
        case .expectedMore: return addMore(method)
        case .expectedUpgrade: return "\(method) goes on in another protocol: add --upgrade."
        case .interfaceNotFound: return listInterfaces(address)
        case .methodNotFound, .invalidParameter:
            let interface = method.split(separator: ".").dropLast().joined(separator: ".")
            guard !interface.isEmpty else { return listInterfaces(address) }
            let words = ["atriumctl introspect", address, interface].filter { !$0.isEmpty }
            return "'\(words.joined(separator: " "))' shows what there is."
        case .methodNotImplemented, .permissionDenied: return nil
        case nil:
            guard error.name.hasPrefix("org.atrium.") else { return nil }
            let known = RemoteProblem.explain(error)
            return [known.sentence, known.hint].compactMap(\.self).joined(separator: "; ")
        }
    }
}
