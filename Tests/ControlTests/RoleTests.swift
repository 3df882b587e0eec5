import AtriumKit
import Testing
import Varlink

@testable import Control

@Suite struct RoleTests {
    @Test func `root and the daemon's own user are admins, anyone else may read`() throws {
        let table = try RoleTable(RoleSettings(), ownUser: 1_234, socketGroups: [])
        #expect(table.access(uid: 0, groups: [0]).role == .admin)
        #expect(table.access(uid: 1_234, groups: [100]).role == .admin)
        #expect(table.access(uid: 65_000, groups: [65_000]).role == .observer)
    }

    @Test func `the socket's group are members, unless it is root's`() throws {
        let table = try RoleTable(RoleSettings(), ownUser: 1_234, socketGroups: [4_321])
        #expect(table.access(uid: 65_000, groups: [4_321]).role == .member)
        let roots = try RoleTable(RoleSettings(), ownUser: 1_234, socketGroups: [0])
        #expect(roots.access(uid: 65_000, groups: [0]).role == .observer)
    }

    @Test func `a user has the highest of its own role and its groups'`() throws {
        let settings = RoleSettings(moderators: ["@daemon"], observers: ["daemon"])
        let table = try RoleTable(settings, ownUser: 1_234, socketGroups: [])
        // On Debian the user daemon has uid 1 and is in the group daemon, gid 1.
        #expect(table.access(uid: 1, groups: [1]).role == .moderator)
    }

    @Test func `who may not act for another reads what they are`() throws {
        for (role, word) in [(Role.observer, "an observer"), (.member, "a member")] {
            let refusal = #expect(throws: ActorRefusal.self) {
                try Access(role: role, namespace: nil)
                    .requireWriting(as: "web:1", own: "unix:1003")
            }
            let reason = try #require(refusal).reason
            #expect(reason.hasPrefix("You are unix:1003, \(word); only"), "\(reason)")
        }
    }

    @Test func `a front end acts for its own namespace`() throws {
        let settings = RoleSettings(frontends: ["daemon=web"])
        let table = try RoleTable(settings, ownUser: 1_234, socketGroups: [])
        #expect(table.access(uid: 1, groups: [1]) == Access(role: .frontend, namespace: "web"))
    }

    @Test func `a moderator who is a front end too is both`() throws {
        let settings = RoleSettings(moderators: ["daemon"], frontends: ["daemon=web"])
        let table = try RoleTable(settings, ownUser: 1_234, socketGroups: [])
        #expect(table.access(uid: 1, groups: [1]) == Access(role: .moderator, namespace: "web"))
    }

    @Test func `what one process of a user may do is not what another may`() throws {
        let book = AccessBook(
            try RoleTable(RoleSettings(), ownUser: 1_234, socketGroups: [4_321]), delay: delay)
        #expect(book.access(of: Peer(uid: 65_000, gid: 4_321, pid: 2)).role == .member)
        #expect(book.access(of: Peer(uid: 65_000, gid: 65_000, pid: 3)).role == .observer)
    }

    @Test(arguments: [
        (RoleSettings(admins: ["nobody-is-called-so", "daemon"]), "admins: there is no user"),
        (RoleSettings(admins: ["@no-such-group", "daemon"]), "admins: there is no group"),
        (RoleSettings(admins: ["daemon"], frontends: ["gone=web"]), "frontends: there is no user"),
    ])
    func `whoever is not there is said, and all others have their roles`(
        _ settings: RoleSettings, _ evidence: String
    ) throws {
        let table = try RoleTable(settings, ownUser: 1_234, socketGroups: [])
        #expect(table.problems.count == 1)
        #expect(table.problems.first?.description.hasPrefix(evidence) == true)
        #expect(table.access(uid: 1, groups: [1]).role == .admin)
        #expect(table.access(uid: 65_000, groups: [65_000]).role == .observer)
    }

    @Test(arguments: ["daemon", "daemon=unix", "daemon=A"])
    func `a front end without a namespace is refused`(_ entry: String) {
        let problem = #expect(throws: RoleProblem.self) {
            try RoleTable(RoleSettings(frontends: [entry]), ownUser: 0, socketGroups: [])
        }
        #expect(problem?.description.hasPrefix("frontends: '\(entry)' names no namespace") == true)
    }

    @Test func `every published method wants a role, and every row of the table is published`() {
        #expect(MethodRoles.missing(in: ControlRouter.interfaces) == [])
        let published = Set(ControlRouter.interfaces.flatMap { $0.methodNames })
        let others = MethodRoles.table.keys.filter {
            !published.contains($0) && !$0.hasPrefix("org.varlink.service.")
        }
        #expect(others.isEmpty)
    }

    @Test(
        arguments: [
            (0, "1970-01-01T00:00:00.000Z"), (1_790_000_000_123, "2026-09-21T14:13:20.123Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"),
        ] as [(Int64, String)])
    func `a time is RFC 3339 in UTC with milliseconds`(_ milliseconds: Int64, _ text: String) {
        #expect(Timestamp(milliseconds: milliseconds).text == text)
    }
}
