import Glibc
import Varlink

/// The address of a service: the daemon's, or any other's.
enum ServiceAddress {
    /// The forms of an address, for help texts.
    static let help = """
        An ADDRESS is unix:PATH, a PATH with a slash in it, unix:@NAME for a socket without a file, \
        exec:PROGRAM for one that is started for it, or ssh-unix:HOST:PATH. --socket takes one too, and \
        a method or an interface may follow its address after a slash.
        """

    private static let commands: Set = ["call", "interfaces", "introspect"]
    private static let schemes = ["unix:", "exec:", "ssh-unix:", "ssh:", "tcp:"]

    /// The words of a command line with the address, if the first operand is one, as `--socket`; those of other
    /// commands as they are.
    static func moveToOption(
        _ words: [String], exists: (String) -> Bool = { access($0, F_OK) == 0 }
    ) -> [String] {
        guard let command = words.first, commands.contains(command),
            let place = words.dropFirst().firstIndex(where: { !$0.hasPrefix("-") }),
            isAddress(words[place]), place < 2 || words[place - 1] != "--socket"
        else { return words }
        let (address, name) = split(words[place], exists: exists)
        var rest = words
        rest.replaceSubrange(place...place, with: name.map { [$0] } ?? [])
        rest.insert(contentsOf: ["--socket", address], at: 1)
        return rest
    }

    /// Whether a service is on this machine, so that it knows the user by the same number.
    static func isLocal(_ address: String) -> Bool {
        address.hasPrefix("unix:") || !schemes.contains(where: address.hasPrefix)
    }

    private static func isAddress(_ word: String) -> Bool {
        schemes.contains(where: word.hasPrefix) || word.contains("/") && !word.hasPrefix("{")
    }

    /// An address may be followed by the name of an interface or a method: `unix:/run/a/org.example.b.Do`.
    private static func split(
        _ word: String, exists: (String) -> Bool
    ) -> (address: String, name: String?) {
        let path = word.hasPrefix("unix:") ? String(word.dropFirst(5)) : word
        guard let slash = word.lastIndex(of: "/"), !exists(path) else { return (word, nil) }
        let name = word[word.index(after: slash)...]
        let isName = name.split(separator: ".").count > 2 && !name.hasSuffix(".sock")
        let before = path.dropLast(name.count + 1)
        guard isName, path.hasPrefix("@") || exists(String(before)) else { return (word, nil) }
        return (String(word[..<slash]), String(name))
    }

    /// Connects to a service; throws ``CommandFailure`` for what is no address, and where a program can't be started.
    static func connect(_ address: String) async throws -> VarlinkClient {
        if let command = value(of: address, "exec:") {
            return try await VarlinkClient.connect(descriptor: ServiceProgram.start(command))
        }
        for scheme in ["ssh-unix:", "ssh:"] {
            guard let rest = value(of: address, scheme) else { continue }
            guard let colon = rest.firstIndex(of: ":"), colon != rest.startIndex,
                rest[colon...].dropFirst().hasPrefix("/"), !rest.hasPrefix("-")
            else {
                throw CommandFailure(
                    "'\(address)' does not say where: \(scheme)HOST:/PATH", status: .usage)
            }
            let path = String(rest[rest.index(after: colon)...])
            return try await VarlinkClient.connect(
                descriptor: ServiceProgram.reach(host: String(rest[..<colon]), path))
        }
        let known: VarlinkAddress
        do {
            known = try VarlinkAddress(address)
        } catch {
            throw CommandFailure(error.description, status: .usage)
        }
        guard known != .path("") else {
            throw CommandFailure("'' is no address of a socket", status: .usage)
        }
        return try await VarlinkClient.connect(to: known)
    }

    private static func value(of address: String, _ scheme: String) -> String? {
        guard address.hasPrefix(scheme) else { return nil }
        return String(address.dropFirst(scheme.count).prefix { $0 != ";" })
    }
}

/// Names of interfaces and methods, which may be typed without `org.atrium.`.
enum InterfaceName {
    /// `Contents` stands for `org.atrium.Contents`.
    static func full(interface: String) -> String {
        interface.contains(".") ? interface : "org.atrium.\(interface)"
    }

    /// `Contents.List` stands for `org.atrium.Contents.List`.
    static func full(method: String) -> String {
        method.split(separator: ".").count == 2 ? "org.atrium.\(method)" : method
    }
}
