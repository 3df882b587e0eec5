import JSONCodec
import TestSupport
import Testing

extension Stories {
    /// Work that takes long is done in slices: nobody waits for all of it.
    @Suite struct LongWork {
        /// What a turn may use of its thread's processor time here, in milliseconds.
        ///
        /// Put of 1,000 items uses most, up to 100 in a build with all checks; to read 20,000 items anew uses 1,000
        /// and more.
        private static let bound = 250

        @Test func `no turn does all of a long work, beside screens that are open`() async throws {
            let log = try await withDaemon { daemon in
                let story = try BigContainer(peer: daemon.peer())
                try await story.fill()
                let screens = try await story.openScreens(daemon)
                try await story.work()
                try await daemon.stop()
                return withExtendedLifetime(screens) { daemon.log }
            }
            for turn in HeldUp.turns(in: log) where turn.processorTime > Self.bound {
                Issue.record("over \(Self.bound) ms: \(turn.line)")
            }
        }
    }
}

/// A large container, and who has it worked on.
private struct BigContainer {
    static let items = 20_000
    static let voters = 4_000
    static let screens = 60

    static func definition(_ fields: String = "") -> String {
        """
        atrium: 1
        container: big
        title: Big
        fields:
          title: { type: text, required: true, search: true }
          kind: { type: text }
          tags: { type: keywords }
          year: { type: integer }\(fields)
        components:
          - name: filters
            plugin: org.atrium.facets
            settings:
              sections:
                - { id: kind, field: kind, input: several }
                - { id: tags, field: tags, input: several }
                - { id: year, field: year, input: several }
          - { name: list, plugin: org.atrium.catalog }
          - { name: stars, plugin: org.atrium.stars, settings: { scale: 5, subjects: [items] } }
        """
    }

    static func item(_ number: Int, _ salt: Int = 0) -> JSONValue {
        let tags = [1, 3, 7].map { JSONValue.string("t\(number * $0 % 500)") }
        return [
            "id": .string("item-\(number)"),
            "fields": [
                "title": .string("Title of \((number * 7919 + salt) % items) thing"),
                "kind": .string("kind\(number % 3)"), "tags": .array(tags),
                "year": .int(1_900 + Int64(number + salt) % 150),
            ],
        ]
    }

    let peer: Peer

    func call(_ method: String, _ parameters: JSONValue) async throws {
        let reply = try await peer.call("org.atrium." + method, parameters)
        try #require(reply["error"] == nil, "\(method): \(reply)")
    }

    func apply(_ text: String) async throws {
        try await call(
            "Containers.Apply",
            ["definitions": [["file": "big.yaml", "text": .string(text)]]])
    }

    func put(_ numbers: some Sequence<Int>, salt: Int = 0) async throws {
        try await call(
            "Contents.Put",
            [
                "container": "big", "component": "list",
                "items": .array(numbers.map { Self.item($0, salt) }),
            ])
    }

    func fill() async throws {
        try await apply(Self.definition())
        for start in stride(from: 0, to: Self.items, by: 1_000) {
            try await put(start..<start + 1_000)
        }
        for start in stride(from: 0, to: Self.voters, by: 500) {
            for voter in start..<start + 500 {
                try await peer.send(
                    Peer.frame(
                        "org.atrium.Votes.Cast",
                        [
                            "container": "big", "item": .string("item-\(voter / 2)"),
                            "value": 4, "actor": .string("web:u\(voter)"),
                        ]))
            }
            for _ in start..<start + 500 { _ = try await peer.receive() }
        }
    }

    /// Opens screens that all show something else.
    func openScreens(_ daemon: DaemonUnderTest) async throws -> [Peer] {
        let sorts: [JSONValue] = [["title"], ["kind", "title"], ["-votes.score", "year"]]
        var open: [Peer] = []
        for number in 0..<Self.screens {
            let screen = try daemon.peer()
            try await screen.send(
                Peer.frame(
                    "org.atrium.Screens.Open",
                    [
                        "container": "big", "search": .string("\(number)"),
                        "sort": sorts[number % 3],
                    ], more: true))
            let first = try #require(try await screen.receive())
            try #require(first["error"] == nil, "\(first)")
            open.append(screen)
        }
        return open
    }

    func verify() async throws {
        try await peer.send(Peer.frame("org.atrium.Store.Verify", more: true))
        while let reply = try await peer.receive(), reply["continues"]?.bool == true {}
    }

    /// What would be one long turn each, were it not done in slices.
    func work() async throws {
        try await put((0..<1_000).map { $0 * 19 }, salt: 5)
        try await apply(Self.definition("\n  more: { type: text }"))
        for hides in [true, false] {
            try await call(
                "Containers.SetHidden",
                ["container": "big", "component": "stars", "hidden": .bool(hides)])
        }
        let purged = (0..<1_000).map { JSONValue.string("item-\($0)") }
        try await call(
            "Contents.Remove",
            ["container": "big", "component": "list", "items": .array(purged), "purge": true])
        try await verify()
        for component in ["stars", "list"] {
            try await call(
                "Containers.Detach", ["container": "big", "component": .string(component)])
        }
        try await call(
            "Containers.Attach",
            ["container": "big", "component": "list", "plugin": "org.atrium.catalog"])
        try await call("Containers.Delete", ["container": "big"])
    }
}
