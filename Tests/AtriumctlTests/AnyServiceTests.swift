import Foundation
import TestSupport
import Testing
import Varlink

@testable import atriumctl

/// `call`, `interfaces` and `introspect` against a service that nobody here wrote: the example that comes with
/// PyPI's varlink.
@Suite(
    .timeLimit(.minutes(3)),
    .enabled(if: Checkout.python != nil, "run 'make test-deps' for Python's varlink"))
struct `Any Varlink service` {
    @Test func `its interfaces are listed, and each is shown`() async throws {
        try await withExample { socket in
            let listed = try await type("interfaces", "unix:\(socket)")
            #expect(listed.status == 0)
            #expect(listed.output == "org.varlink.service\norg.example.more\n")
            let shown = try await type("introspect", "unix:\(socket)", "org.example.more")
            #expect(
                shown.output.hasPrefix("# Example Varlink service\ninterface org.example.more\n"))
            let inOne = try await type("introspect", "\(socket)/org.example.more")
            #expect(inOne.output == shown.output)
        }
    }

    @Test func `its methods are called however the address is written`() async throws {
        try await withExample { socket in
            for words in [
                ["call", "unix:\(socket)", "org.example.more.Ping"],
                ["call", "unix:\(socket);mode=0666", "org.example.more.Ping"],
                ["call", socket, "org.example.more.Ping"],
                ["call", "unix:\(socket)/org.example.more.Ping"],
                ["call", "--socket", "unix:\(socket)", "org.example.more.Ping"],
                ["--socket", socket, "call", "org.example.more.Ping"],
            ] {
                let done = try await type(words + [#"{"ping":"a"}"#])
                #expect(
                    done.description == "status 0\n{\"pong\":\"a\"}\n", "\(words)")
            }
        }
    }

    @Test func `no parameters are none, and a series is a line each`() async throws {
        try await withExample { socket in
            let info = try await type("call", socket, "org.varlink.service.GetInfo")
            #expect(info.status == 0 && info.output.contains("\"vendor\":\"Varlink\""))
            let series = try await type(
                "call", socket, "org.example.more.TestMore", #"{"n":1}"#, "--more")
            #expect(
                series.output == """
                    {"state":{"start":true}}
                    {"state":{"progress":0}}
                    {"state":{"progress":100}}
                    {"state":{"end":true}}

                    """)
            let quiet = try await type(
                "call", socket, "org.example.more.Ping", #"{"ping":"a"}"#, "--oneway")
            #expect(quiet.description == "status 0\n")
        }
    }

    @Test func `an error is printed by name, with what it carries, and the status says so`()
        async throws
    {
        try await withExample { socket in
            let unknown = try await type("call", socket, "org.example.none.Do")
            #expect(unknown.status == 1 && unknown.output.isEmpty)
            #expect(
                unknown.errors == """
                    atriumctl: org.varlink.service.InterfaceNotFound {"interface":"org.example.none"}
                    hint: 'atriumctl interfaces \(socket)' lists what there is.

                    """)
            let wrong = try await type("call", socket, "org.example.more.Ping")
            #expect(wrong.status == 1)
            #expect(wrong.errors.contains("org.varlink.service.InvalidParameter {"))
            #expect(wrong.errors.contains("'atriumctl introspect \(socket) org.example.more'"))
        }
    }

    @Test(arguments: [
        ("org.example.more.Do", "introspect unix:/a org.example.more"),
        ("Do", "interfaces unix:/a"),
    ])
    func `who calls a method that is not there gets a hint where to look`(
        method: String, way: String
    ) {
        let error = VarlinkRemoteError(name: "org.varlink.service.MethodNotFound")
        let told = CallProblem.explain(error, method: method, address: "unix:/a")
        #expect(told.hint?.hasPrefix("'atriumctl \(way)' ") == true)
    }

    @Test func `a method that needs more says so and how`() async throws {
        try await withExample { socket in
            let done = try await type("call", socket, "org.example.more.TestMore", #"{"n":1}"#)
            #expect(done.status == 1)
            #expect(
                done.errors.contains("org.example.more.TestMore answers with a series of replies: ")
            )
            #expect(done.errors.contains("add --more."))
        }
    }

    @Test func `a service is started for the call where the address says so`() async throws {
        let directory = try TemporaryDirectory()
        // Answers one call on the connection that it finds as systemd passes it on.
        let script = """
            #!\(try #require(Checkout.python))
            import os, socket
            assert os.environ["LISTEN_PID"] == str(os.getpid())
            assert os.environ["LISTEN_FDS"] == "1" and os.environ["LISTEN_FDNAMES"] == "varlink"
            connection = socket.socket(fileno=3)
            call = b""
            while not call.endswith(b"\\0"):
                call += connection.recv(1000)
            assert call == b'{"method":"org.example.a.Do","parameters":{"x":1}}\\0', call
            connection.sendall(b'{"parameters":{"y":2}}\\0')
            """
        let program = try directory.write("service", script)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: program)
        let done = try await type("call", "exec:\(program)", "org.example.a.Do", #"{"x":1}"#)
        #expect(done.description == "status 0\n{\"y\":2}\n")
        let missing = try await type("call", "exec:/nowhere/at.all", "org.example.a.Do")
        #expect(missing.status == 3)
        #expect(
            missing.errors
                == "atriumctl: can't start '/nowhere/at.all': No such file or directory\n")
    }

    @Test func `an upgraded connection is joined to standard input and output`() async throws {
        let directory = try TemporaryDirectory()
        let script = """
            #!\(try #require(Checkout.python))
            import socket
            connection = socket.socket(fileno=3)
            call = b""
            while not call.endswith(b"\\0"):
                call += connection.recv(1000)
            assert call == b'{"method":"org.example.a.Do","upgrade":true}\\0', call
            connection.sendall(b'{"parameters":{"to":"shouting"}}\\0READY:')
            while text := connection.recv(1000):
                connection.sendall(text.upper())
            """
        let program = try directory.write("service", script)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: program)
        let done = try await type(
            ["call", "exec:\(program)", "org.example.a.Do", "--upgrade"], input: "hello\0{")
        #expect(done.output == "READY:HELLO\0{")
        #expect(done.errors == "{\"to\":\"shouting\"}\n")
        #expect(done.status == 0)
    }
}

@Suite struct `Addresses on the command line` {
    @Test(arguments: [
        (["call", "unix:/a", "x.y.Z"], ["call", "--socket", "unix:/a", "x.y.Z"]),
        (["call", "--more", "/a", "x.y.Z"], ["call", "--socket", "/a", "--more", "x.y.Z"]),
        (["call", "unix:/there/x.y.Z", "{}"], ["call", "--socket", "unix:/there", "x.y.Z", "{}"]),
        (["call", "unix:@b/x.y.Z"], ["call", "--socket", "unix:@b", "x.y.Z"]),
        (
            ["interfaces", "unix:/there/org.example.sock"],
            ["interfaces", "--socket", "unix:/there/org.example.sock"]
        ),
        (["introspect", "/there/x.y.z"], ["introspect", "--socket", "/there", "x.y.z"]),
        (["call", "Contents.List", #"{"a":"b/c"}"#], ["call", "Contents.List", #"{"a":"b/c"}"#]),
        (["call", "--socket", "/a", "x.y.Z"], ["call", "--socket", "/a", "x.y.Z"]),
        (["put", "films/alien", "a=/b"], ["put", "films/alien", "a=/b"]),
    ])
    func `the first operand may be an address`(_ words: [String], _ expected: [String]) {
        #expect(ServiceAddress.moveToOption(words, exists: { $0 == "/there" }) == expected)
    }
}

private func type(_ words: String...) async throws -> Finished { try await type(words) }

/// Runs `atriumctl`.
private func type(_ words: [String], input: String = "") async throws -> Finished {
    try await run([Checkout.products + "/atriumctl"] + words, input: input)
}

/// Runs a test against the Python example, and stops it after.
private func withExample(_ body: (String) async throws -> Void) async throws {
    let directory = try TemporaryDirectory()
    let socket = directory.path + "/service"
    let words = [
        try #require(Checkout.python), "-u", "-m", "varlink.tests.test_orgexamplemore",
        "--varlink=unix:\(socket)",
    ]
    try await withRunning(words) { example in
        // It tells when it listens.
        #expect(try await example.next().contains("Listening"))
        try await body(socket)
    }
}
