import Foundation
import Store
import TestSupport
import Testing

/// The log of a store: how long it gets, and what its file holds.
@Suite(.timeLimit(.minutes(3))) struct WriteAheadLogTests {
    /// A frame: its header and a page.
    private static let frame = 24 + 4_096

    @Test func `a long log is copied by commits, and begins anew`() throws {
        let bench = try Bench()
        bench.store.keepLog(limit: 50, step: 0)
        var longest = 0
        for number in 0..<2_000 {
            bench.write(put("\(number)", "x"))
            longest = max(longest, bench.logSize)
        }
        // Each of the commits adds two frames at least.
        #expect(longest < 400 * Self.frame)
        #expect(try bench.records("films", "list").count == 2_000)
        bench.store.close()
        #expect(try Bench(bench.scratch).records("films", "list").count == 2_000)
    }

    @Test func `the commit that leaves a long log copies it`() throws {
        let bench = try Bench()
        bench.store.keepLog(limit: 50, step: 0)
        _ = try bench.writeTogether((0..<3_000).map { put("\($0)", "x") })
        let before = bench.logSize
        bench.write(put("last", "x"))
        #expect(bench.logSize == before)
    }

    @Test func `commits overwrite the log's file, and do not make it longer`() throws {
        let bench = try Bench()
        bench.write(put("first", "x"))
        bench.settle()
        let size = bench.logSize
        #expect(size >= 256 * Self.frame)
        for number in 0..<50 { bench.write(put("\(number)", "x")) }
        #expect(bench.logSize == size)
    }

    @Test func `a log's file with room behind the last commit opens without damage`() throws {
        let bench = try Bench()
        for number in 0..<50 { bench.write(put("\(number)", "x")) }
        let files = try StoreFiles(of: bench.scratch)
        #expect(files.log.suffix(1 << 18).allSatisfy { $0 == 0 })
        let again = try Bench(files.written())
        #expect(again.store.damages == [])
        #expect(try again.records("films", "list").count == 50)
        #expect(again.write(put("next", "x"))?.sequence == 51)
    }

    @Test func `a reader of an old snapshot keeps the log, which begins anew after it`() throws {
        let bench = try Bench()
        bench.store.keepLog(limit: 50, step: 0)
        bench.write(put("first", "x"))
        try bench.whileReading {
            for number in 0..<300 { bench.write(put("\(number)", "x")) }
            #expect(bench.logSize > 300 * Self.frame)
        }
        for number in 300..<400 { bench.write(put("\(number)", "x")) }
        let size = bench.logSize
        for number in 400..<440 { bench.write(put("\(number)", "x")) }
        #expect(bench.logSize == size)
        #expect(try bench.records("films", "list").count == 441)
    }
}
