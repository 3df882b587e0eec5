import AtriumKit
import Glibc
import PluginLoader
import TestSupport

extension Plugin {
    /// A plugin whose program in Python has a function for each method.
    ///
    /// - Parameters:
    ///   - kind: the kind of its components.
    ///   - methods: the functions; `Hello` and `Stop` are there already, and may be replaced.
    ///   - folder: where the program is written.
    /// - Returns: the plugin.
    /// - Throws: why the program can't be written.
    static func python(
        _ kind: Kind, _ methods: String, in folder: TemporaryDirectory
    ) throws -> Plugin {
        let text = """
            #!/usr/bin/python3
            import json, os, signal, time

            class Error(Exception):
                pass

            def Hello(protocols): return {"protocol": 1}
            def Stop():
                print("stops", flush=True)
                return {}

            \(methods)

            def reply(call):
                interface, _, name = call["method"].rpartition(".")
                if name not in globals():
                    return {"error": "org.varlink.service.MethodNotImplemented", "parameters": {"method": call["method"]}}
                try:
                    return {"parameters": globals()[name](**call.get("parameters", {}))}
                except Error as error:
                    return {"error": interface + "." + error.args[0], "parameters": error.args[1]}

            socket, waiting = open(3, "r+b", buffering=0), b""
            while arrived := socket.read(1 << 16):
                *calls, waiting = (waiting + arrived).split(b"\\0")
                for call in calls:
                    socket.write(json.dumps(reply(json.loads(call))).encode() + b"\\0")
            """
        let path = try folder.write("program.py", text)
        chmod(path, 0o755)
        return Plugin(
            id: "org.test.program", version: "1.0.0", kind: kind, title: "Program",
            code: .program(path), isolation: .process)
    }
}
