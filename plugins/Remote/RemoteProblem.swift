import CCurl
import Glibc

/// Why a service has no answer for us, in words for people: where, and what to do.
struct RemoteProblem: Error, Sendable, CustomStringConvertible {
    /// What it is about.
    enum Cause: Sendable {
        /// The service, the way there, or what the definition says: whatever it is asked, it has no answer.
        case service
        /// What was asked this time.
        case question
        /// It did not answer in time, which may be either.
        case time
    }

    let cause: Cause
    /// The URL, as it may be shown.
    let name: String
    let reason: String
    /// For how many seconds the service wants to be left alone.
    let pause: Double?

    init(_ cause: Cause, name: String, reason: String, pause: Double? = nil) {
        (self.cause, self.name, self.reason, self.pause) = (cause, name, reason, pause)
    }

    var description: String { "\(name): \(reason)" }
}

extension HTTPResponse {
    /// For how many seconds the service wants to be left alone: it says how many, or until when.
    ///
    /// A time is taken with the service's own clock, where it sends that.
    var wantedPause: Double? {
        guard let text = headers["retry-after"] else { return nil }
        if let seconds = Double(text) { return seconds }
        let end = curl_getdate(text, nil)
        guard end >= 0 else { return nil }
        let sent = headers["date"].map { curl_getdate($0, nil) } ?? -1
        return max(0, Double(end) - Double(sent >= 0 ? sent : time(nil)))
    }
}

/// What may keep this process from the network, apart from the network.
enum NetworkWall {
    /// Which wall there is, and who opens it; nil: none that can be seen.
    static var reason: String? {
        let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue) | O_CLOEXEC, 0)
        guard descriptor < 0 else {
            close(descriptor)
            return nil
        }
        switch errno {
        case EACCES:
            return
                "its worker has no network: name org.atrium.remote under 'networkPlugins' of atrium.yaml, and "
                + "restart the daemon"
        case EAFNOSUPPORT:
            return "the service has no network: copy share/atrium/drop-ins/network.conf, as it says"
        default: return nil
        }
    }
}
