import JSONCodec
import TestSupport

/// A screen as a client has it: what it was sent, applied.
final class OpenScreen {
    private let daemon: DaemonUnderTest
    private let request: JSONValue
    private var peer: Peer?
    private(set) var id = ""
    private(set) var revision = 0
    private(set) var sequence = 0
    private(set) var lastBase: Int?
    private(set) var reset: String?
    private(set) var path: [String] = []
    private(set) var scope: String?
    /// What its delegate said with the last revision; nil: nothing.
    private(set) var message: String?
    /// What it was last told beside the item that it is focused on.
    private(set) var details: JSONValue?
    private(set) var mostCommits = 0
    private(set) var revisions = 0
    /// How often it was told of the components.
    private(set) var timesComponents = 0
    /// What it was last told of its container: title, fields and scopes.
    private(set) var outline: JSONValue?
    /// How often it was told that.
    private(set) var timesOutline = 0
    private var components: [JSONValue] = []
    /// Of lists, as they were last told.
    private var states: [String: (state: String?, problem: String?)] = [:]
    private var lists: [String: (total: Int, entries: [JSONValue])] = [:]

    init(_ daemon: DaemonUnderTest, _ request: JSONValue) async throws {
        self.daemon = daemon
        self.request = request
        try await open(resuming: false)
    }

    func list(_ name: String) -> [JSONValue] { lists[name]?.entries ?? [] }

    func ids(_ name: String) -> [String] { list(name).compactMap { $0["id"]?.string } }

    func total(_ name: String) -> Int { lists[name]?.total ?? 0 }

    /// Whether a list shows all there is to show; nil: it does.
    func state(_ list: String) -> String? { states[list]?.state }

    /// Why a list's source did not answer.
    func listProblem(_ list: String) -> String? { states[list]?.problem }

    /// Why a component does not answer.
    func problem(_ name: String) -> String? { component(name)?["problem"]?.string }

    /// A component as it was last told.
    func component(_ name: String) -> JSONValue? {
        components.first { $0["name"]?.string == name }
    }

    func hangUp() { peer = nil }

    /// Opens it, or goes on with it, and takes the first reply.
    func open(resuming: Bool) async throws {
        let peer = try daemon.peer()
        self.peer = peer
        var members = request.object?.map { $0 } ?? []
        if resuming {
            members.append(
                .init(
                    "resume",
                    ["screen": .string(id), "revision": .int(Int64(revision))]))
        }
        try await peer.send(
            Peer.frame("org.atrium.Screens.Open", .object(members), more: true))
        try await next()
    }

    /// Takes the next revision.
    func next() async throws {
        guard let reply = try await peer?.receive(), reply["error"] == nil,
            let said = reply["parameters"]
        else { throw NoMoreLines() }
        lastBase = said["base"]?.int
        if let lastBase {
            guard lastBase == revision else { throw NoMoreLines() }
        } else {
            (lists, path, scope, details) = ([:], [], nil, nil)
        }
        id = said["screen"]?.string ?? ""
        revision = said["revision"]?.int ?? 0
        sequence = said["sequence"]?.int ?? 0
        reset = said["reset"]?.string
        revisions += 1
        mostCommits = max(mostCommits, said["commits"]?.int ?? 0)
        scope = said["scope"]?.string ?? scope
        message = said["message"]?.string
        details = said["details"] ?? details
        if said["title"] != nil {
            outline = said
            timesOutline += 1
        }
        if let components = said["components"]?.array { show(components) }
        path = said["path"]?.array?.compactMap(\.string) ?? path
        for change in said["lists"]?.array ?? [] {
            guard let name = change["component"]?.string else { throw NoMoreLines() }
            lists[name, default: (0, [])].total = change["total"]?.int ?? 0
            states[name] = (change["state"]?.string, change["problem"]?.string)
            for edit in change["edits"]?.array ?? [] {
                try apply(edit, to: &lists[name, default: (0, [])].entries)
            }
        }
    }

    /// What was shown of components that are hidden or gone is dropped.
    private func show(_ components: [JSONValue]) {
        timesComponents += 1
        self.components = components
        let shown = components.filter { $0["hidden"]?.bool != true }
        lists = lists.filter { name, _ in shown.contains { $0["name"]?.string == name } }
    }

    private func apply(_ edit: JSONValue, to entries: inout [JSONValue]) throws {
        let entry = edit["item"] ?? edit["comment"]
        guard let op = edit["op"]?.string, let place = edit["at"]?.int,
            place <= entries.count
        else { throw NoMoreLines() }
        switch (op, entry, edit["to"]?.int) {
        case ("insert", let entry?, _): entries.insert(entry, at: place)
        case ("update", let entry?, _): entries[place] = entry
        case ("remove", _, _): entries.remove(at: place)
        case ("move", _, let goal?): entries.insert(entries.remove(at: place), at: goal)
        default: throw NoMoreLines()
        }
    }
}
