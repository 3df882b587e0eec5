import Foundation
import Interfaces
import JSONCodec
import TestSupport
import Testing
import Varlink
import VarlinkIDL

extension Stories {
    /// Who may do what, asked of the daemon by real users of every role.
    @Suite(.enabled(if: geteuid() == 0, "acts for other users, as root alone can"))
    struct Roles {
        /// From the fewest rights to the most; `nobody` reads, as an observer.
        private static let roles = [
            "nobody", "observer", "member", "frontend", "moderator", "admin",
        ]

        /// What a method's callers are answered.
        struct Row {
            /// The first role that may call it.
            let least: String
            let parameters: JSONValue
            let more: Bool
            /// The error of those who may, without its interface if that is the method's; nil: it succeeds.
            let error: String?

            init(
                _ least: String, _ parameters: JSONValue = [:], more: Bool = false,
                error: String? = nil
            ) {
                self.least = least
                self.parameters = parameters
                self.more = more
                self.error = error
            }

            func allows(_ role: String) -> Bool {
                // Without an entry in the settings one is an observer.
                let least = roles.firstIndex(of: least == "observer" ? "nobody" : least)
                return roles.firstIndex(of: role) ?? 0 >= least ?? roles.count
            }

            func call(_ method: String) -> JSONValue {
                ["method": .string(method), "parameters": parameters, "more": .bool(more)]
            }
        }

        private static let film: JSONValue = ["container": "films", "item": "alien-1979"]
        private static let screen: JSONValue = ["screen": "none"]

        static func with(_ value: JSONValue, _ more: JSONValue) -> JSONValue {
            .object((value.object?.map { $0 } ?? []) + (more.object?.map { $0 } ?? []))
        }

        /// Every method that a client can call, by its full name.
        static let table: [String: Row] = [
            "org.varlink.service.GetInfo": Row("observer"),
            "org.varlink.service.GetInterfaceDescription":
                Row("observer", ["interface": "org.atrium.Daemon"]),
            "io.systemd.Metrics.List": Row("observer", more: true),
            "io.systemd.Metrics.Describe": Row("observer", more: true),
            "org.atrium.Daemon.Status": Row("observer"),
            "org.atrium.Daemon.Metrics": Row("observer"),
            "org.atrium.Daemon.Reload": Row("admin"),
            "org.atrium.Daemon.SetLogLevel": Row("admin", ["level": "info"]),
            "org.atrium.People.Erase":
                Row("admin", ["actor": "web:nobody"], error: "ActorNotFound"),
            "org.atrium.Plugins.List": Row("observer"),
            "org.atrium.Plugins.Describe": Row("observer", ["plugin": "org.atrium.stars"]),
            "org.atrium.Plugins.Reload":
                Row(
                    "admin", ["plugin": "org.example.none"], error: "PluginNotFound"),
            "org.atrium.Plugins.Release": Row("admin", ["plugin": "org.atrium.stars"]),
            "org.atrium.Containers.List": Row("observer"),
            "org.atrium.Containers.Describe": Row("observer", ["container": "films"]),
            "org.atrium.Containers.Apply":
                Row(
                    "admin",
                    [
                        "definitions": [
                            ["file": "x.yaml", "text": "atrium: 1\ncontainer: x\ntitle: X\n"]
                        ], "dryRun": true,
                    ]),
            "org.atrium.Containers.Delete":
                Row("admin", ["container": "none"], error: "ContainerNotFound"),
            "org.atrium.Containers.Attach":
                Row(
                    "admin",
                    ["container": "none", "component": "x", "plugin": "org.atrium.stars"],
                    error: "ContainerNotFound"),
            "org.atrium.Containers.Detach":
                Row("admin", ["container": "none", "component": "x"], error: "ContainerNotFound"),
            "org.atrium.Containers.Export":
                Row("admin", ["container": "none"], more: true, error: "ContainerNotFound"),
            "org.atrium.Containers.Restore":
                Row("admin", ["container": "none", "records": []], error: "ContainerNotFound"),
            "org.atrium.Containers.Move":
                Row(
                    "moderator", ["container": "none", "component": "x", "at": 0],
                    error: "ContainerNotFound"),
            "org.atrium.Containers.Reload":
                Row("moderator", ["container": "none"], error: "ContainerNotFound"),
            "org.atrium.Containers.SetOpen":
                Row("moderator", ["container": "none"], error: "ContainerNotFound"),
            "org.atrium.Containers.SetHidden":
                Row(
                    "moderator", ["container": "none", "component": "x", "hidden": true],
                    error: "ContainerNotFound"),
            "org.atrium.Store.Backup": Row("admin", more: true),
            "org.atrium.Store.Verify":
                Row("admin", ["container": "none"], more: true, error: "ContainerNotFound"),
            "org.atrium.Contents.List": Row("observer", ["container": "films", "limit": 1]),
            "org.atrium.Contents.Get": Row("observer", film),
            "org.atrium.Contents.Image":
                Row("observer", with(film, ["field": "none"]), error: "FieldUnknown"),
            "org.atrium.Contents.Put":
                Row("moderator", ["container": "none", "items": []], error: "ContainerNotFound"),
            "org.atrium.Contents.Remove":
                Row("moderator", ["container": "none", "items": []], error: "ContainerNotFound"),
            "org.atrium.Filters.List": Row("observer", ["container": "films"]),
            "org.atrium.Votes.Tally": Row("observer", film),
            "org.atrium.Votes.Cast": Row("member", with(film, ["value": 5])),
            "org.atrium.Votes.Retract": Row("member", film),
            "org.atrium.Votes.Ballots": Row("moderator", film),
            "org.atrium.Comments.Thread": Row("observer", film),
            "org.atrium.Comments.Pending": Row("moderator", ["container": "films"]),
            "org.atrium.Comments.Post": Row("member", with(film, ["text": "Seen."])),
            "org.atrium.Comments.Edit":
                Row(
                    "member", ["container": "films", "comment": "none", "text": "x"],
                    error: "CommentNotFound"),
            "org.atrium.Comments.Delete":
                Row(
                    "member", ["container": "films", "comment": "none"], error: "CommentNotFound"),
            "org.atrium.Comments.Moderate":
                Row(
                    "moderator", ["container": "films", "comment": "none", "state": "shown"],
                    error: "CommentNotFound"),
            "org.atrium.Notifications.Subscribe":
                Row("observer", ["topics": ["films.>"]], more: true),
            "org.atrium.Notifications.Publish":
                Row("member", ["topic": "films.app.seen", "payload": [:], "durable": true]),
            "org.atrium.Screens.Open":
                Row("observer", ["container": "films", "limit": 1], more: true),
            "org.atrium.Screens.Select":
                Row(
                    "observer", with(screen, ["section": "genre", "filter": "drama"]),
                    error: "ScreenNotFound"),
            "org.atrium.Screens.Deselect":
                Row(
                    "observer", with(screen, ["section": "genre", "filter": "drama"]),
                    error: "ScreenNotFound"),
            "org.atrium.Screens.Clear": Row("observer", screen, error: "ScreenNotFound"),
            "org.atrium.Screens.Search":
                Row("observer", with(screen, ["text": "x"]), error: "ScreenNotFound"),
            "org.atrium.Screens.Sort":
                Row("observer", with(screen, ["sort": []]), error: "ScreenNotFound"),
            "org.atrium.Screens.SetScope":
                Row("observer", with(screen, ["scope": "x"]), error: "ScreenNotFound"),
            "org.atrium.Screens.Resize":
                Row("observer", with(screen, ["limit": 1]), error: "ScreenNotFound"),
            "org.atrium.Screens.Enter":
                Row("observer", with(screen, ["item": "x"]), error: "ScreenNotFound"),
            "org.atrium.Screens.SetHidden":
                Row(
                    "observer", with(screen, ["component": "list", "hidden": true]),
                    error: "ScreenNotFound"),
            "org.atrium.Screens.Back": Row("observer", screen, error: "ScreenNotFound"),
            "org.atrium.Screens.Focus": Row("observer", screen, error: "ScreenNotFound"),
            "org.atrium.Screens.Activate":
                Row("member", with(screen, ["item": "x"]), error: "ScreenNotFound"),
        ]

        @Test func `every method is allowed and denied as the table says`() async throws {
            let published = PublishedInterfaces.all.flatMap { $0.methodNames }
            let all = Set(published + VarlinkService.methodNames)
            #expect(all.symmetricDifference(Self.table.keys).isEmpty, "a row for each method")
            try await People.withFilms { daemon, people in
                let methods = Self.table.keys.sorted()
                let first = try await Self.sequence(of: daemon)
                for role in Self.roles {
                    let rows = try methods.map { (method: $0, row: try #require(Self.table[$0])) }
                    let replies = try await people.call(
                        as: role, rows.map { $0.row.call($0.method) })
                    for ((method, row), reply) in zip(rows, replies) {
                        let error = reply["error"]?.string
                        if row.allows(role) {
                            let wanted = row.error.map {
                                $0.contains(".")
                                    ? $0
                                    : method.split(separator: ".").dropLast().joined(separator: ".")
                                        + "." + $0
                            }
                            #expect(error == wanted, "\(role) calls \(method): \(reply)")
                        } else {
                            #expect(
                                error == "org.atrium.Daemon.RoleRequired", "\(method): \(reply)")
                            let told = reply["parameters"]
                            #expect(told?["role"]?.string == row.least, "\(reply)")
                            let yours = role == "nobody" ? "observer" : role
                            #expect(told?["yours"]?.string == yours, "\(reply)")
                        }
                    }
                    // What was denied did nothing, and these two were denied all that writes.
                    guard ["nobody", "observer"].contains(role) else { continue }
                    #expect(try await Self.sequence(of: daemon) == first)
                }
            }
        }

        private static func sequence(of daemon: DaemonUnderTest) async throws -> Int {
            let status = try await daemon.peer().call("org.atrium.Daemon.Status")
            return try #require(status["parameters"]?["sequence"]?.int)
        }

        @Test func `nobody calls what is between the daemon and its workers`() async throws {
            try await People.withFilms { _, people in
                for role in Self.roles {
                    for method in ["Attach", "Tell"] {
                        let replies = try await people.call(
                            as: role,
                            [["method": .string("org.atrium.Worker." + method), "more": true]])
                        let error = replies.first?["error"]?.string
                        #expect(error == "org.varlink.service.InterfaceNotFound", "\(replies)")
                    }
                }
            }
        }

        /// Methods that act for somebody, and those that only show what somebody sees.
        private static let acting: Set = [
            "org.atrium.Votes.Cast", "org.atrium.Votes.Retract", "org.atrium.Comments.Post",
            "org.atrium.Comments.Edit", "org.atrium.Comments.Delete",
            "org.atrium.Notifications.Publish",
        ]
        private static let showing: Set = [
            "org.atrium.Contents.List", "org.atrium.Contents.Get", "org.atrium.Votes.Tally",
            "org.atrium.Filters.List", "org.atrium.Comments.Thread", "org.atrium.Screens.Open",
        ]

        /// Whether a role may name an actor: itself, one of the front end's, or somebody else.
        private static func mayName(_ actor: String, _ role: String, acting: Bool) -> Bool {
            switch (actor, role) {
            case ("own", _), (_, "admin"): true
            case (_, "moderator"): !acting
            case ("web:ann", "frontend"): true
            default: false
            }
        }

        @Test func `who names an actor may do so as the table says`() async throws {
            var naming: Set<String> = []
            for interface in PublishedInterfaces.all {
                for method in try InterfaceDefinition(interface.description).methods
                where method.parameters.fields.contains(where: { $0.name == "actor" }) {
                    naming.insert("\(interface.name).\(method.name)")
                }
            }
            // An erasure is of an actor, in nobody's name.
            naming.remove("org.atrium.People.Erase")
            #expect(naming == Self.acting.union(Self.showing), "each method stands in a list")
            try await People.withFilms { _, people in
                for role in Self.roles {
                    var asked: [(method: String, actor: String, call: JSONValue)] = []
                    for method in naming.sorted() {
                        let row = try #require(Self.table[method])
                        guard row.allows(role) else { continue }
                        for actor in ["own", "web:ann", "mail:ann", "unix:31000"] {
                            let name = actor == "own" ? "unix:\(People.uids[role] ?? 0)" : actor
                            asked.append(
                                (
                                    method, actor,
                                    [
                                        "method": .string(method), "more": .bool(row.more),
                                        "parameters": Self.with(
                                            row.parameters, ["actor": .string(name)]),
                                    ]
                                ))
                        }
                    }
                    let replies = try await people.call(as: role, asked.map(\.call))
                    for ((method, actor, _), reply) in zip(asked, replies) {
                        let isAllowed = Self.mayName(
                            actor, role, acting: Self.acting.contains(method))
                        let isDenied =
                            reply["error"]?.string == "org.atrium.Daemon.ActorForbidden"
                        #expect(isDenied != isAllowed, "\(role), \(method) for \(actor): \(reply)")
                    }
                }
            }
        }
    }
}
