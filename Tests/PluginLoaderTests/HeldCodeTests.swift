import Foundation
import Glibc
import TestSupport
import Testing

@testable import PluginLoader

/// The code that a plugin was loaded with, whatever is at its path later.
@Suite struct HeldCodeTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    private func library(_ text: String, replacing: Bool) throws -> String {
        let path = folder.path + "/lib.so"
        guard replacing else {
            let file = try #require(fopen(path, "w"))
            fputs(text, file)
            fclose(file)
            return path
        }
        try folder.write("new", text)
        #expect(rename(folder.path + "/new", path) == 0)
        return path
    }

    /// Makes a socket.
    private func listen(at path: String) throws {
        let socket = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(socket) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let size = socklen_t(MemoryLayout<sockaddr_un>.size)
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(socket, $0, size) }
        }
        try #require(bound == 0)
    }

    @Test func `a library is the one at its path, then the open file, then none`() throws {
        let path = try library("one", replacing: true)
        let held = try HeldCode(.library(path))
        let descriptor = try #require(held.descriptor)
        #expect(descriptor >= 64)
        func found() throws(PluginProblem) -> PluginCode {
            try HeldCode.found(
                .library(path), identity: held.identity, descriptor: descriptor, plugin: "org.a")
        }
        #expect(try found() == .library(path))
        _ = try library("two", replacing: true)
        #expect(try found() == .library("/proc/self/fd/\(descriptor)"))
        unlink(path)
        #expect(try found() == .library("/proc/self/fd/\(descriptor)"))
        #expect(try String(contentsOfFile: found().path, encoding: .utf8) == "one")
    }

    @Test func `a library that was overwritten is not run`() throws {
        let path = try library("one", replacing: true)
        let held = try HeldCode(.library(path))
        _ = try library("three", replacing: false)
        let problem = #expect(throws: PluginProblem.self) {
            try HeldCode.found(
                .library(path), identity: held.identity, descriptor: held.descriptor ?? -1,
                plugin: "org.a")
        }
        #expect(problem?.reason.contains("was overwritten") == true)
        #expect(problem?.reason.contains("'atriumctl plugin reload org.a'") == true)
    }

    @Test func `a program is all files of its folder that may be its code`() throws {
        for name in ["run.py", "more/lib.py", "manifest.json", "other/manifest.json", "other/x"] {
            try folder.write("p/\(name)", name)
        }
        let code = PluginCode.program(folder.path + "/p/run.py")
        let held = try HeldCode(code)
        #expect(held.descriptor == nil)
        func isSame() -> Bool { HeldCode.identity(of: code) == held.identity }
        for name in ["manifest.json", "other/x", ".hidden", "__pycache__/run.pyc"] {
            try folder.write("p/\(name)", "another text")
            #expect(isSame(), "\(name)")
        }
        // What a daemon that was started in this folder leaves there.
        try folder.write("p/state/atrium.sqlite", "")
        try folder.write("p/state/atrium.lock", "")
        try folder.write("p/state/kept", "")
        #expect(mkfifo(folder.path + "/p/more/pipe", 0o600) == 0)
        try listen(at: folder.path + "/p/s")
        #expect(isSame())
        try folder.write("p/more/new.py", "")
        #expect(!isSame())
        unlink(folder.path + "/p/more/new.py")
        #expect(isSame())
        try folder.write("p/more/lib.py", "another text")
        #expect(!isSame())
        let problem = #expect(throws: PluginProblem.self) {
            try HeldCode.found(code, identity: held.identity, descriptor: -1, plugin: "org.a")
        }
        #expect(
            problem?.reason.hasPrefix(
                "The file more/lib.py beside the program \(code.path), where only its own belong, "
                    + "is new or has changed since") == true)
        try folder.write("p/notes.txt", "mine")
        func reason() -> String? {
            let problem = #expect(throws: PluginProblem.self) {
                try HeldCode.found(code, identity: held.identity, descriptor: -1, plugin: "org.a")
            }
            return problem?.reason
        }
        #expect(reason()?.contains(" (and 1 more) beside the program") == true)
        try folder.write("p/run.py", "another text")
        #expect(reason()?.contains("The program \(code.path) has changed since") == true)
        // A file that is gone has no name here.
        let whole = try HeldCode(code)
        unlink(folder.path + "/p/notes.txt")
        let gone = #expect(throws: PluginProblem.self) {
            try HeldCode.found(code, identity: whole.identity, descriptor: -1, plugin: "org.a")
        }
        #expect(gone?.reason.contains("or a file beside it, has changed") == true)
    }
}
