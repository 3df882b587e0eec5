import JSONCodec
import TestSupport
import Testing

extension Stories {
    /// A list that asks a service of the network, from a worker.
    @Suite struct Remotes {
        @Test func `a worker without the network says which setting gives it one`() async throws {
            var options = DaemonUnderTest.Options()
            options.configuration = ["atrium.yaml": "networkPlugins: []\n"]
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
    }
}
