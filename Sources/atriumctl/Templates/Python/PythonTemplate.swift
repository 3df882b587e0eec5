/// New plugins in Python, by the standard library alone: one file.
enum PythonTemplate {
    static let program = ProgramTemplate(
        program: "{{component}}.py",
        source: "{{component}}.py", start: start, end: server,
        bodies: [
            .contents: PythonContentsTemplate.body, .filters: PythonFiltersTemplate.body,
            .votes: PythonVotesTemplate.body, .comments: PythonCommentsTemplate.body,
        ], shared: [.init(path: ".gitignore", text: "__pycache__/\n.atrium/")])

    private static let start = ##"""
        #!/usr/bin/python3
        """{{Name}}: {{title}}

        The worker that starts this program calls it on the socket that it left in descriptor 3; what is printed goes to the
        daemon's log. All that may be called: atriumctl introspect org.atrium.plugin.{{Kind}}
        """
        """##

    /// What replies to calls.
    private static let server = ##"""
        class Failure(Exception):
            """Raised by a method, in place of a reply: an error of the interface, with its parameters."""

            def __init__(self, name, **parameters):
                self.name, self.parameters = name, parameters


        def reply(call):
            interface, _, method = call["method"].rpartition(".")
            if not hasattr(Plugin, method):
                return {"error": "org.varlink.service.MethodNotImplemented", "parameters": {"method": call["method"]}}
            try:
                return {"parameters": getattr(Plugin(), method)(**call.get("parameters", {}))}
            except Failure as failure:
                return {"error": interface + "." + failure.name, "parameters": failure.parameters}


        socket, waiting = open(3, "r+b", buffering=0), b""
        while arrived := socket.read(1 << 16):
            *calls, waiting = (waiting + arrived).split(b"\0")
            for call in calls:
                socket.write(json.dumps(reply(json.loads(call))).encode() + b"\0")
        """##
}
