import Foundation
import JSONCodec

/// One call after the other: how long until its reply, and what it costs the daemon.
///
/// In a virtual machine a round trip depends mostly on whether both ends share a core or must wake each
/// other across cores, hence both; for comparisons, one core is the steadier.
struct CallBenchmark {
    private static let rounds = 30
    private static let calls = 200

    let bench: Workbench

    /// Who answers, and what it is asked.
    private final class Subject {
        let name: String
        let pid: Int32
        let connection: Connection
        let frame: [UInt8]
        var latencies = Samples()
        var costs = Samples()

        init(_ name: String, _ pid: Int32, _ connection: Connection, _ frame: [UInt8]) {
            self.name = name
            self.pid = pid
            self.connection = connection
            self.frame = frame
        }

        /// One round of calls.
        func run() throws {
            let before = try Processors.time(of: pid)
            for _ in 0..<CallBenchmark.calls {
                let seconds = try Timing.seconds { _ = try connection.exchange(frame) }
                latencies.append(seconds * 1e6)
            }
            let used = try Processors.time(of: pid) - before
            costs.append(used / Double(CallBenchmark.calls) * 1e6)
        }
    }

    /// Measures with both ends on one core, and wherever the kernel puts them.
    func run() throws -> [Row] {
        let daemon = try bench.daemon()
        let subject = try subjectWithVote(daemon)
        let tally = Frame.call("org.atrium.Votes.Tally", subject)
        let info = Frame.call("org.varlink.service.GetInfo")
        let echo = try EchoProcess()
        let all = try Processors.current()
        defer { for pid in [getpid(), daemon.pid] { try? all.take(pid) } }
        var rows: [Row] = []
        for (place, processors) in [("one core", all.first), ("any core", all)] {
            for pid in [getpid(), daemon.pid, echo.pid] { try processors.take(pid) }
            let connection = try daemon.connect()
            let subjects = [
                Subject("ping-pong", echo.pid, echo.connection, tally),
                Subject("GetInfo", daemon.pid, connection, info),
                Subject("Votes.Tally", daemon.pid, connection, tally),
            ]
            for _ in 0..<Self.rounds {
                for subject in subjects { try subject.run() }
            }
            rows += Self.rows(subjects, place)
        }
        return rows
    }

    private static func rows(_ subjects: [Subject], _ place: String) -> [Row] {
        subjects.dropFirst().flatMap { subject in
            [
                Row(
                    benchmark: "calls", name: "\(subject.name), \(place): p50",
                    unit: .microseconds, ours: subject.latencies.median,
                    peer: .init(
                        name: "\(subjects[0].name), \(place)", value: subjects[0].latencies.median)
                ),
                Row(
                    benchmark: "calls", name: "\(subject.name), \(place): server CPU",
                    unit: .microseconds, ours: subject.costs.median,
                    peer: .init(
                        name: "\(subjects[0].name), its CPU", value: subjects[0].costs.median)),
            ]
        }
    }

    /// An item that somebody voted on.
    private func subjectWithVote(_ daemon: DaemonProcess) throws -> JSONValue {
        guard let item = try bench.catalogue().items.first else {
            throw BenchmarkError("the catalogue is empty")
        }
        let subject: JSONValue = [
            "container": .string(Workbench.container), "item": .string(item.id),
        ]
        var vote = subject
        vote["value"] = 4
        _ = try daemon.connect().call("org.atrium.Votes.Cast", vote)
        return subject
    }
}
