import AtriumKit
import AtriumKitTesting
import Foundation
import Host
import PluginLoader
import Testing

@testable import Workers

@Suite(.timeLimit(.minutes(3))) struct `A component in a worker` {
    @Test func `what it says by itself arrives in order and as it was`() async throws {
        let component = Installed.component(of: Installed.breaker)
        try await component.start()
        try await component.put("say")
        #expect(
            await component.messages == [
                "observes test.heard", #"publishes said {"id":"say","mean":4}"#,
                "warning: a warning",
            ])
        try await component.deliver(
            Notification(
                sequence: nil, time: Timestamp(milliseconds: 0), topic: "test.heard",
                payload: ["word": "hello"]))
        _ = try await component.answer(.details(item: "say"))
        #expect(await component.messages.last == "info: heard hello")
        #expect(await component.events == [.contents(.update([]))])
        await component.stop()
    }

    @Test func `background work comes back`() async throws {
        let component = Installed.component(of: Installed.breaker)
        try await component.start()
        try await component.put("work")
        try await eventually("the work's result") {
            await component.messages.last == "info: work is done"
        }
        await component.stop()
    }

    @Test func `a fraction that is whole is still a fraction`() async throws {
        let component = Installed.component(of: Installed.breaker)
        try await component.start()
        let decision = try await component.put("a")
        #expect(decision.changes == [Item(id: "a", fields: ["mean": 4.0]).record])
        guard case .number = decision.changes.first?.value?.object?["fields"]?.object?["mean"]
        else {
            Issue.record("not a fraction: \(decision.changes)")
            return
        }
        await component.stop()
    }

    @Test func `a refusal is a refusal`() async throws {
        let component = Installed.component(of: Installed.stars)
        try await component.start()
        await #expect(throws: Refusal.self) { try await component.put("a") }
        await component.stop()
    }

    @Test func `a setting that makes no sense is named`() async throws {
        let component = Installed.component(of: Installed.stars)
        let failure = await #expect(throws: LaunchFailure.self) {
            try await component.start(["scale": "many"])
        }
        guard case .setting(let error) = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(error.setting == "scale")
    }

    @Test func `a library that is no plugin is refused before it is loaded`() async throws {
        var plugin = Installed.stars
        plugin.code = .library("/usr/lib/x86_64-linux-gnu/libc.so.6")
        if !FileManager.default.fileExists(atPath: plugin.path) {
            plugin.code = .library(Installed.worker)
        }
        let component = Installed.component(of: plugin)
        let failure = await #expect(throws: LaunchFailure.self) { try await component.start() }
        guard case .failed(let reason) = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(reason.contains(plugin.path))
    }

    @Test func `a worker that is not there can't be started`() async throws {
        let component = WorkerComponent(
            of: Installed.stars, on: Installed.loop, executable: "/nowhere/atrium-worker",
            logger: Installed.quiet)
        await #expect(
            throws: LaunchFailure.failed(
                reason: "The worker /nowhere/atrium-worker can't be started: "
                    + "No such file or directory.")
        ) { try await component.start() }
    }

    @Test func `one that was closed ends and is reaped`() async throws {
        let component = Installed.component(of: Installed.stars)
        try await component.start()
        let process = try #require(await component.processID)
        #expect(exists(process))
        await component.stop()
        try await eventually("the worker is reaped") { !exists(process) }
        #expect(await component.deaths.isEmpty)
    }

    @Test func `one that hangs when it is closed is killed`() async throws {
        var limits = WorkerLimits()
        limits.end = .milliseconds(100)
        let component = Installed.component(of: Installed.breaker, limits: limits)
        try await component.start()
        let process = try #require(await component.processID)
        let hanging = Task { _ = try await component.put("hang") }
        try await eventually("the call is under way") { await component.openCalls == 1 }
        await component.stop()
        try await eventually("the worker is reaped") { !exists(process) }
        #expect(await component.deaths.isEmpty)
        await #expect(throws: PortFailure.self) { try await hanging.value }
    }
}
