import AtriumKit
import Index
import PluginLoader
import Workers

/// What `atrium-worker` is asked to do.
enum Arguments {
    /// Print how it is called.
    case help
    /// Host a component for the daemon, which has passed the sockets, within these walls.
    case serve(PluginCode, id: String, identity: String?, WorkerWalls)
    /// Write which settings a plugin takes to the socket that the daemon has passed, within these walls.
    case describe(PluginCode, Kind, id: String, identity: String?, WorkerWalls)
    /// Run the conformance suite on a plugin.
    case check(
        path: String, id: String?, settings: [String: Value]?, examples: String?, seed: UInt64,
        callSeconds: Int?)

    /// What is wrong with the arguments.
    struct Mistake: Error {
        let reason: String
    }

    static let usage = """
        usage: atrium-worker --check PLUGIN-DIRECTORY|LIBRARY [--id ID] [--settings JSON] [--examples FILE]
                             [--seed NUMBER] [--call-seconds NUMBER]
               atrium-worker --library PATH|--program PATH --id ID [--read PATH]... [--network]
                             [--landlock VERSION] [--identity TEXT] [--describe KIND] (started by atriumd)

        --check runs the conformance suite of the plugin's kind, in this process and in a worker,
        with the settings of its manifest, and the examples of what it does; a program's in a
        worker alone. A library without a manifest beside it needs --id.
        --seed chooses the random commands: 1 by default; a failure names the one that it happened with.
        --call-seconds is how long a call may take: by default what the manifest says, or 10.
        """

    private static let options = [
        "--library", "--program", "--id", "--check", "--settings", "--examples", "--seed",
        "--call-seconds", "--read", "--landlock",
        "--identity", "--describe",
    ]

    init(_ words: some Sequence<String>) throws {
        var values: [String: String] = [:]
        var readable: [String] = []
        var allowsNetwork = false
        var name: String?
        for word in words {
            if let option = name {
                if option == "--read" { readable.append(word) } else { values[option] = word }
                name = nil
            } else if word == "--network" {
                allowsNetwork = true
            } else if word == "--help" || word == "-h" {
                self = .help
                return
            } else if Self.options.contains(word) {
                name = word
            } else {
                throw Mistake(reason: "'\(word)' makes no sense here.")
            }
        }
        let landlock = values["--landlock"].map { Int32($0) } ?? .max
        guard let landlock else {
            throw Mistake(reason: "--landlock takes a version, as 2.")
        }
        if let name { throw Mistake(reason: "\(name) needs a value.") }
        let seed = values["--seed"].map { UInt64($0) } ?? 1
        guard let seed else { throw Mistake(reason: "--seed takes a whole number from 0 on.") }
        let callSeconds = try values["--call-seconds"].map { text throws(Mistake) in
            guard let seconds = Int(text), (1...3_600).contains(seconds) else {
                throw Mistake(reason: "--call-seconds takes a whole number from 1 to 3600.")
            }
            return seconds
        }
        if let path = values["--check"] {
            self = .check(
                path: path, id: values["--id"],
                settings: try values["--settings"].map(Self.settings),
                examples: values["--examples"], seed: seed, callSeconds: callSeconds)
        } else if let code = Self.code(values), let id = values["--id"] {
            let identity = values["--identity"]
            let walls = WorkerWalls(
                library: code.path, readable: readable, allowsNetwork: allowsNetwork,
                hasHeldLibrary: Self.isLibrary(code) && identity != nil, landlock: landlock)
            guard let word = values["--describe"] else {
                self = .serve(code, id: id, identity: identity, walls)
                return
            }
            guard let kind = Kind(rawValue: word) else {
                throw Mistake(reason: "--describe takes a kind, as votes.")
            }
            self = .describe(code, kind, id: id, identity: identity, walls)
        } else {
            throw Mistake(reason: "nothing to do.")
        }
    }

    private static func code(_ values: [String: String]) -> PluginCode? {
        values["--library"].map { .library($0) } ?? values["--program"].map { .program($0) }
    }

    private static func isLibrary(_ code: PluginCode) -> Bool {
        if case .library = code { true } else { false }
    }

    private static func settings(_ text: String) throws -> [String: Value] {
        guard let value = try? Value(jsonBytes: Array(text.utf8)), let settings = value.object
        else { throw Mistake(reason: "--settings takes a JSON object, not '\(text)'.") }
        return settings
    }
}
