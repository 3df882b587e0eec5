import LogMessages
import TestSupport
import Testing

@Suite struct PeerLogTests {
    private let captured = CapturedLog()
    private let start = ContinuousClock.now

    private func makeLog(lines: Int) -> PeerLog {
        PeerLog(lines: lines, logger: captured.logger)
    }

    @Test func `beyond some lines a minute a user's closed connections are only counted`() {
        var log = makeLog(lines: 3)
        for number in 0..<50 {
            log.log(
                .connectionClosed, ["reason": "reason \(number)"], uid: 1_000, pid: 7, now: start)
        }
        #expect(
            captured.lines
                == (0..<3).map {
                    "a connection was closed peer-pid=7 peer-uid=1000 reason=reason \($0)"
                })
        log.log(
            .connectionRefused, ["reason": "other"], uid: 1, pid: 8, now: start)
        #expect(
            captured.lines.last == "a connection was refused peer-pid=8 peer-uid=1 reason=other")
        log.sweep(now: start + .seconds(59))
        #expect(captured.lines.count == 4)
        log.sweep(now: start + .seconds(60))
        #expect(
            captured.lines.dropFirst(4) == [
                "repetitions of a message were not logged count=47 peer-uid=1000 "
                    + "reason=reason 49 what=a connection was closed"
            ])
        #expect(!log.isBusy)
        log.log(
            .connectionClosed, ["reason": "again"], uid: 1_000, pid: 7, now: start + .seconds(61))
        #expect(
            captured.lines.last == "a connection was closed peer-pid=7 peer-uid=1000 reason=again")
    }

    @Test func `however many users there are, most of what they do is only counted`() {
        var log = makeLog(lines: 2)
        for uid in 0..<5_000 {
            log.log(
                .connectionRefused, ["reason": "full"], uid: UInt32(uid), pid: 7, now: start)
        }
        #expect(captured.lines.count == 1_002)
        log.sweep(now: start + .seconds(60))
        #expect(captured.lines.count == 1_003)
        #expect(captured.lines.last?.contains("count=3998") == true)
        #expect(!log.isBusy)
    }

    @Test func `closed connections take no lines from denied calls`() {
        var log = makeLog(lines: 1)
        for _ in 0..<3 {
            log.log(.connectionClosed, ["reason": "a"], uid: 1_000, pid: 7, now: start)
        }
        log.log(.callDenied, ["method": "org.example.A"], uid: 1_000, pid: 7, now: start)
        #expect(
            captured.lines.last == "a call was denied method=org.example.A peer-pid=7 peer-uid=1000"
        )
    }

    @Test func `a minute that is over is summed up before the next line, or at the end`() {
        var log = makeLog(lines: 1)
        for _ in 0..<3 {
            log.log(.connectionClosed, ["reason": "a"], uid: 1_000, pid: 7, now: start)
        }
        for (reason, seconds) in [("b", 90), ("c", 91)] {
            log.log(
                .connectionClosed, ["reason": reason], uid: 1_000, pid: 7,
                now: start + .seconds(Int64(seconds)))
        }
        log.end()
        #expect(
            captured.lines == [
                "a connection was closed peer-pid=7 peer-uid=1000 reason=a",
                "repetitions of a message were not logged count=2 peer-uid=1000 reason=a "
                    + "what=a connection was closed",
                "a connection was closed peer-pid=7 peer-uid=1000 reason=b",
                "repetitions of a message were not logged count=1 peer-uid=1000 reason=c "
                    + "what=a connection was closed",
            ])
    }

    @Test func `what a peer sent can't forge a line of the log, nor fill one`() {
        var log = makeLog(lines: 9)
        let forged = "'\n2026-01-01 admin logged in\u{1B}[2J" + String(repeating: "x", count: 5_000)
        log.log(.connectionClosed, ["reason": forged], uid: 1_000, pid: 7, now: start)
        let line = captured.lines[0]
        #expect(line.hasSuffix("x") && line.contains("reason='?2026-01-01 admin logged in?[2Jxxx"))
        #expect(line.utf8.count < 500)
    }
}
