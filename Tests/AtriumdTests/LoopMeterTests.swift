import LogMessages
import Synchronization
import TestSupport
import Testing

@testable import atriumd

/// What is measured of the event loop's turns.
@Suite struct LoopMeterTests {
    private let captured = CapturedLog()
    private let processor = Clock()
    private let meter: LoopMeter

    /// The thread's processor time, and how often it was read.
    private final class Clock: Sendable {
        let milliseconds = Mutex(Int64(0))
        let readings = Mutex(0)
    }

    init() {
        meter = LoopMeter(logger: captured.logger) { [processor] in
            processor.readings.withLock { $0 += 1 }
            return processor.milliseconds.withLock { $0 } * 1_000_000
        }
    }

    /// A turn between these times, in milliseconds, that uses so much of a processor.
    private func turn(_ start: Int64, _ end: Int64, using time: Int64) {
        processor.milliseconds.withLock { $0 += time }
        meter.ended(from: start * 1_000_000, to: end * 1_000_000)
    }

    @Test func `short turns cost no more than a hundred readings a second`() {
        for time in Int64(0)..<2_000 { turn(1_000 + time, 1_001 + time, using: 1) }
        #expect(processor.readings.withLock { $0 } <= 201)
        #expect(captured.lines.isEmpty, "they are not taken together")
    }

    @Test func `a long turn is logged with its processor time, a little more at most`() throws {
        for time in Int64(0)..<1_000 { turn(1_000 + time, 1_001 + time, using: 1) }
        turn(2_000, 2_150, using: 120)
        let event = try #require(captured.events.first)
        #expect(event["turn-ms"] == "150")
        let used = try #require(event["processor-ms"].flatMap { Int($0) })
        #expect((120...130).contains(used))
        #expect(event["work"] == "other")
    }

    @Test func `a turn begins with its first call, and the longest calls are named`() throws {
        meter.notes.methods = ["org.example.Quick", "org.example.Slow", "unknown"]
        func calls(_ method: UInt16, _ pid: Int32, _ milliseconds: Int64) {
            var calls = TurnNotes.Calls()
            calls.methods = TurnNotes.Calls.bit(of: method)
            (calls.uid, calls.pid) = (1_000, pid)
            calls.nanoseconds = milliseconds * 1_000_000
            meter.notes.end(calls)
        }
        meter.notes.begin(at: 1_000 * 1_000_000)
        calls(0, 7, 1)
        calls(1, 8, 200)
        calls(0, 9, 2)
        turn(1_203, 1_204, using: 203)
        let first = try #require(captured.events.first)
        #expect(first["turn-ms"] == "204")
        #expect(first["method"] == "org.example.Slow" && first["peer-pid"] == "8")
        #expect(first["work"] == nil)

        calls(0, 7, 1)
        meter.notes.work.insert([.slice, .outcomes])
        turn(2_000, 2_300, using: 300)
        let second = try #require(captured.events.last)
        #expect(second["work"] == "outcomes, slice, calls", "of before nothing is left")
        #expect(second["method"] == nil)
    }

    @Test func `bytes that are no call are named by their sender`() throws {
        meter.notes.begin(at: 1_000 * 1_000_000)
        var calls = TurnNotes.Calls()
        (calls.uid, calls.pid) = (1_000, 7)
        calls.nanoseconds = 150 * 1_000_000
        meter.notes.end(calls)
        turn(1_151, 1_152, using: 152)
        let event = try #require(captured.events.first)
        #expect(event["work"] == "reading" && event["method"] == nil)
        #expect(event["peer-uid"] == "1000" && event["peer-pid"] == "7")
    }

    @Test func `a minute has ten lines, and one for each turn longer than all before`() {
        for number in Int64(0)..<40 {
            turn(60_000 + number * 200, 60_150 + number * 200, using: 1)
        }
        #expect(captured.lines.count == 10)
        turn(70_000, 70_400, using: 1)
        #expect(captured.events.last?["untold"] == "30")
        #expect(captured.events.last?["turn-ms"] == "400")
        turn(120_000, 120_150, using: 1)
        #expect(captured.lines.count == 12, "the next minute has its own")
        #expect(captured.events.last?["untold"] == nil)
    }
}
