import Glibc
import JSONCodec
import TestSupport
import Testing

extension Stories {
    /// A list that asks a service of the network, from a worker.
    @Suite struct Remotes {
        @Test(arguments: [
            DaemonUnderTest.Options(configuration: ["atrium.yaml": "networkPlugins: []\n"]),
            DaemonUnderTest.Options(prefix: ["env", "ATRIUM_NETWORK_PLUGINS="]),
        ])
        func `a worker without the network says which setting gives it one`(
            _ options: DaemonUnderTest.Options
        ) async throws {
            try await withDaemon(options) { daemon in
                try daemon.home.write(
                    "mirrors.yaml",
                    """
                    atrium: 1
                    container: mirrors
                    fields: { name: { type: text } }
                    components:
                      - name: list
                        plugin: org.atrium.remote
                        settings: { url: "http://127.0.0.1:9/list.json?key=hush" }
                    """)
                let made = try await daemon.type(
                    "atriumctl apply -f \(daemon.home.path)/mirrors.yaml")
                #expect(made.status == 0, "\(made)")
                let peer = try daemon.peer()
                var told = ""
                while !told.contains("127.0.0.1:9") {
                    try Task.checkCancellation()
                    let reply = try await peer.call(
                        "org.atrium.Containers.Describe", ["container": "mirrors"])
                    told = reply["parameters"]?["container"]?["reason"]?.string ?? ""
                }
                #expect(told.contains("http://127.0.0.1:9/list.json: "), "\(told)")
                #expect(told.contains("'networkPlugins' of atrium.yaml"), "\(told)")
                #expect(!told.contains("hush") && !daemon.log.contains("hush"))
            }
        }

        private static let service = Checkout.root + "/Tests/Fixtures/TLS"

        /// Applies a container whose list asks a service.
        private func apply(
            _ daemon: DaemonUnderTest, _ url: String, _ more: String = ""
        ) async throws {
            try daemon.home.write(
                "books.yaml",
                """
                atrium: 1
                container: books
                fields: { title: { type: text } }
                components:
                  - name: list
                    plugin: org.atrium.remote
                    settings: { url: "\(url)"\(more) }
                """)
            let made = try await daemon.type("atriumctl apply -f \(daemon.home.path)/books.yaml")
            #expect(made.status == 0, "\(made)")
        }

        /// Waits for a state of the container and so many items in it, and gives the reason for the state.
        @discardableResult
        private func wait(
            for state: String, items: Int?, _ daemon: DaemonUnderTest
        ) async throws -> String {
            let peer = try daemon.peer()
            while true {
                try Task.checkCancellation()
                let reply = try await peer.call(
                    "org.atrium.Containers.Describe", ["container": "books"])
                let list = try await peer.call(
                    "org.atrium.Contents.List", ["container": "books", "limit": 1])
                let container = reply["parameters"]?["container"]
                guard container?["state"]?.string == state,
                    list["parameters"]?["total"]?.int == items
                else { continue }
                return container?["reason"]?.string ?? ""
            }
        }

        @Test func `after a restart the last good copy is shown while the service fails`()
            async throws
        {
            try await withDaemon { daemon in
                // Several parts on its way to the worker.
                let title = String(repeating: "t", count: 200)
                let items = (0..<6_000).map { #"{"id": "\#($0)", "title": "\#(title)"}"# }
                let text = "[\(items.joined(separator: ",\n"))]"
                try daemon.home.write("list.json", text)
                let file = daemon.home.path + "/list.json"
                try await withRunning(
                    ["/usr/bin/python3", Self.service + "/serve", "good", file]
                ) { service in
                    let port = try await service.next()
                    try await apply(daemon, "http://127.0.0.1:\(port)/file")
                    try await wait(for: "ready", items: 6_000, daemon)
                    #expect(try await service.next() == "200")
                    let kept = daemon.home.path + "/state/kept/books.list"
                    try await until { access(kept, F_OK) == 0 }

                    #expect(unlink(file) == 0)
                    #expect(try await daemon.stop() == 0)
                    try await daemon.start()
                    let reason = try await wait(for: "degraded", items: 6_000, daemon)
                    #expect(try await service.next() == "503")
                    #expect(reason.contains("answers 503"), "\(reason)")

                    try daemon.home.write("list.json", text)
                    try await wait(for: "ready", items: 6_000, daemon)
                    var status = "503"
                    while status == "503" { status = try await service.next() }
                    #expect(status == "304", "it is asked only whether it is another one")
                }
            }
        }

        @Test func `a worker trusts the authorities of the system, and those that are named`()
            async throws
        {
            try await withDaemon { daemon in
                try await withRunning(["/usr/bin/python3", Self.service + "/serve", "good"]) {
                    service in
                    let url = "https://127.0.0.1:\(try await service.next())/list.json"
                    try await apply(daemon, url)
                    let shut = try await wait(for: "degraded", items: nil, daemon)
                    // It read those of the system, or it would say that these can't be read.
                    #expect(shut.contains("unable to get local issuer"), "\(shut)")
                    #expect(shut.contains("'caFile'"), "\(shut)")
                    try await apply(daemon, url, ", caFile: \(Self.service)/authority.pem")
                    try await wait(for: "ready", items: 1, daemon)
                }
            }
        }
    }
}
