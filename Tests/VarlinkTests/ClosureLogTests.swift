import Logging
import NIOCore
import Testing

@testable import Varlink

@Suite struct ClosureLogTests {
    private let captured = CapturedLog()
    private let start = NIODeadline.now()
    private let loud = Peer(uid: 1_000, gid: 1_000, pid: 7)

    private func makeLog(lines: Int) -> ClosureLog {
        ClosureLog(lines: lines, logger: Logger(label: "test") { [captured] _ in captured.handler })
    }

    @Test func `beyond some lines a minute a user's closed connections are only counted`() {
        var log = makeLog(lines: 3)
        for number in 0..<50 {
            log.tell("closing a connection", "reason \(number)", loud, now: start)
        }
        #expect(
            captured.all == (0..<3).map { "closing a connection: reason \($0) pid=7 uid=1000" })
        log.tell(
            "refused a connection", "other", Peer(uid: 1, gid: 1, pid: 8), now: start)
        #expect(captured.all.last == "refused a connection: other pid=8 uid=1")
        log.sweep(now: start + .seconds(59))
        #expect(captured.all.count == 4)
        log.sweep(now: start + .seconds(60))
        #expect(
            captured.all.dropFirst(4) == [
                "47 more connections like these were closed or refused; the last one: reason 49 "
                    + "uid=1000"
            ])
        #expect(!log.isBusy)
        log.tell("closing a connection", "again", loud, now: start + .seconds(61))
        #expect(captured.all.last == "closing a connection: again pid=7 uid=1000")
    }

    @Test func `a minute that is over is summed up before the next line, or at the end`() {
        var log = makeLog(lines: 1)
        for _ in 0..<3 { log.tell("closing a connection", "a", loud, now: start) }
        log.tell("closing a connection", "b", loud, now: start + .seconds(90))
        log.tell("closing a connection", "c", loud, now: start + .seconds(91))
        log.end()
        #expect(
            captured.all == [
                "closing a connection: a pid=7 uid=1000",
                "2 more connections like these were closed or refused; the last one: a uid=1000",
                "closing a connection: b pid=7 uid=1000",
                "1 more connections like these were closed or refused; the last one: c uid=1000",
            ])
    }

    @Test func `what a peer sent can't forge a line of the log, nor fill one`() {
        var log = makeLog(lines: 9)
        let forged = "'\n2026-01-01 admin logged in\u{1B}[2J" + String(repeating: "x", count: 5_000)
        log.tell("closing a connection", forged, loud, now: start)
        let line = captured.all[0]
        #expect(line.hasPrefix("closing a connection: '?2026-01-01 admin logged in?[2Jxxx"))
        #expect(line.utf8.count < 500)
    }
}
