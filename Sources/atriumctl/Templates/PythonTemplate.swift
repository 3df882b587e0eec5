/// A new plugin in Python, by the standard library alone; what differs by its kind is in the templates of the kinds.
enum PythonTemplate {
    /// The program of a kind.
    static func source(_ kind: PluginKind) -> String? {
        switch kind {
        case .votes: start(PythonVotesTemplate.title) + PythonVotesTemplate.body + server
        case .contents: start(PythonContentsTemplate.title) + PythonContentsTemplate.body + server
        case .filters: start(PythonFiltersTemplate.title) + PythonFiltersTemplate.body + server
        case .comments: start(PythonCommentsTemplate.title) + PythonCommentsTemplate.body + server
        case .delegate: nil
        }
    }

    private static func start(_ title: String) -> String {
        ##"""
        #!/usr/bin/python3
        """{{Name}}: \##(title)

        The worker that starts this program asks it on the socket that it left in descriptor 3; what is printed goes to the
        daemon's log. All that may be asked: atriumctl introspect org.atrium.plugin.{{Kind}}
        """

        """##
    }

    /// What replies to calls, the same for every kind.
    private static let server = ##"""



        def reply(call):
            interface, _, method = call["method"].rpartition(".")
            if not hasattr(Plugin, method):
                return {"error": "org.varlink.service.MethodNotImplemented", "parameters": {"method": call["method"]}}
            try:
                return {"parameters": getattr(Plugin(), method)(**call.get("parameters", {}))}
            except Refused as refused:
                return {"error": interface + "." + refused.name, "parameters": {"reason": str(refused)}}


        socket, waiting = open(3, "r+b", buffering=0), b""
        while arrived := socket.read(1 << 16):
            *calls, waiting = (waiting + arrived).split(b"\0")
            for call in calls:
                socket.write(json.dumps(reply(json.loads(call))).encode() + b"\0")
        """##
}
