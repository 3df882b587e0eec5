import AtriumKit
import Host
import JSONCodec
import NIOCore
import PluginLoader
import Testing

@testable import Workers

/// What the daemon tells a worker, where that is much.
@Suite(.timeLimit(.minutes(3))) struct `Calls that are big go out in parts` {
    private static let text = String(repeating: "long ", count: 60)

    private static func size(_ call: WorkerCall) -> Int { Wire.encode(call).bytes.count }

    @Test func `the values of fields`() {
        let values = Dictionary(
            uniqueKeysWithValues: ["a", "b", "c"].map { field in
                (field, (0..<1_000).map { Value.text("\(field) \($0) \(Self.text)") })
            })
        let calls = CallParts.report(values, cut: ["b"])
        #expect(calls.count >= 4)
        #expect(calls.allSatisfy { Self.size($0) < 300 << 10 })
        var told: [String: [Value]] = [:]
        for (place, call) in calls.enumerated() {
            switch call {
            case .reportPart(let part) where place < calls.count - 1:
                told.merge(part) { $0 + $1 }
            case .report(let part, let cut) where place == calls.count - 1:
                told.merge(part) { $0 + $1 }
                #expect(cut == ["b"])
            default: Issue.record("\(call.name) at \(place)")
            }
        }
        #expect(told == values)
        #expect(CallParts.report(["a": []], cut: []) == [.report(["a": []], cut: [])])
    }

    @Test func `what a component has kept`() {
        let kept = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let calls = CallParts.kept(kept)
        #expect(calls.count == 6)
        #expect(calls.allSatisfy { Self.size($0) < 300 << 10 })
        var told: [UInt8] = []
        for case .keptPart(let part) in calls { told += part }
        #expect(told == kept)
        #expect(CallParts.kept([]) == [.keptPart([])])
    }

    @Test func `records that are undone`() {
        let changes = (0..<2_000).map { Change.put(key: "\($0)", value: .text(Self.text)) }
        let calls = CallParts.undo(changes)
        #expect(calls.count >= 3)
        #expect(calls.allSatisfy { Self.size($0) < 300 << 10 })
        let told = calls.flatMap { if case .undo(let part) = $0 { part } else { [Change]() } }
        #expect(told == changes)
    }

    @Test func `and what is asked meanwhile is asked behind them`() async throws {
        let component = Installed.component(of: Installed.plugin("facets", .filters))
        _ = try await component.start(
            settings: [
                "sections": [["id": "genre", "field": "genre", "input": "several"]]
            ], fields: [Field(name: "genre", type: .keywords)])
        let values = (0..<3_000).map { Value.text("\($0) \(Self.text)") }
        #expect(CallParts.report(["genre": values], cut: []).count > 3)
        try await component.report(["genre": values])
        guard case .sections(let sections) = try await component.answer(.sections) else {
            Issue.record("no sections")
            return
        }
        #expect(sections.first?.filters.count == 3_000)
        await component.stop()
    }

    @Test func `a component may publish a second's worth at once, and then waits`() {
        var pace = WorkerPace(WorkerPace.notifications)
        var now = NIODeadline.uptimeNanoseconds(1_000_000_000_000)
        for _ in 0..<WorkerPace.notifications { #expect(pace.count(bytes: 10, at: now) == nil) }
        let first = pace.count(bytes: 10, at: now)
        #expect(first?.time == .milliseconds(101))
        #expect(first?.isFirst == true)
        now = now + .milliseconds(101)
        for _ in 0..<100 { #expect(pace.count(bytes: 10, at: now) == nil) }
        #expect(pace.count(bytes: 10, at: now)?.isFirst == false, "told once")
        now = now + .seconds(11)
        #expect(pace.count(bytes: 999 * WorkerPace.unitBytes, at: now) == nil)
        #expect(pace.count(bytes: 10, at: now)?.isFirst == true, "bytes count too")
        #expect(pace.count(bytes: 30_000_000, at: now)?.time == .seconds(1), "never long")
    }
}
