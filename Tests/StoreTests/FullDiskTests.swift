import Dispatch
import FaultVFS
import Foundation
import Logging
import Store
import StoreFaults
import TestSupport
import Testing

/// A store whose disk is full, also after it was killed there.
@Suite(
    .enabled(if: getuid() == 0, "only root may mount a file system that is small"),
    .timeLimit(.minutes(3)))
struct FullDiskTests {
    @Test
    func `a store on a disk without room opens, is read, and takes writes once there is room`()
        throws
    {
        let disk = try SmallDisk()
        let before = try Bench(disk.scratch)
        before.write(put("a", "small"))
        before.store.close()
        try disk.fill()

        let bench = try Bench(disk.scratch)
        #expect(try bench.records("films", "list") == ["a": "small"])
        let refused = bench.write(put("b", String(repeating: "x", count: 1 << 19)))
        guard case .storage(let reason)? = refused?.failure else {
            Issue.record("a value was written without room: \(String(describing: refused))")
            return
        }
        #expect(reason.contains("full"))
        disk.empty()
        bench.store.probe()
        #expect(bench.write(put("c", "small", epoch: 1))?.sequence == 2)
        #expect(try bench.records("films", "list").keys.sorted() == ["a", "c"])
        bench.store.close()
    }

    @Test(arguments: [Moment.refusal, .tail, .probe])
    func `a store that is killed on a full disk is read there, and takes writes once there is room`(
        moment: Moment
    ) async throws {
        let disk = try SmallDisk()
        // The reserve is gone before the first kill, and whatever a start finds is all there is.
        try await kill(moment, on: disk)
        try check(disk)
        let count = try disk.answered.count
        // All entries of which changes were to be made, and none was refused before.
        if moment == .tail { #expect(count == 5) }
        for call in 0..<8 {
            try await kill(.opening, call: call, on: disk)
            try check(disk)
        }
        // What a start has left is used up, and the next is killed there again.
        try await kill(.refusal, on: disk)
        try check(disk, hasRoom: true)
    }

    @Test func `a start for which there is no room at all says how much it needs`() throws {
        let disk = try SmallDisk()
        try Bench(disk.scratch).store.close()
        try disk.fill(without: "atrium.reserve")
        let error = #expect(throws: StoreError.self) { try Bench(disk.scratch) }
        let text = error?.description ?? ""
        #expect(text.contains("no space for \(disk.scratch.database)"), "\(text)")
        #expect(text.contains("needs 262144 bytes, 0 are free"), "\(text)")
        #expect(text.hasSuffix("free some on its file system"), "\(text)")
        disk.empty()
        #expect(try Bench(disk.scratch).write(put("a", "x"))?.sequence == 1)
    }

    @Test func `a start that finds the store in use leaves the reserve to its owner`() throws {
        let disk = try SmallDisk()
        let reserve = "\(disk.scratch.path)/atrium.reserve"
        let bench = try Bench(disk.scratch)
        try disk.fill()
        let error = #expect(throws: StoreError.self) { try Bench(disk.scratch) }
        guard case .inUse? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(FileManager.default.fileExists(atPath: reserve))
        bench.store.close()
        // Nor does a start that refuses the file for its content release it.
        let other = Data(repeating: UInt8(ascii: "x"), count: 4_096)
        try other.write(to: URL(filePath: disk.scratch.database))
        try disk.fill()
        #expect(throws: StoreError.self) { try Bench(disk.scratch) }
        #expect(FileManager.default.fileExists(atPath: reserve))
    }

    // MARK: Parts

    /// When the process is killed.
    enum Moment: String, CaseIterable, Sendable {
        /// In the first commit of an entry for which there is no room.
        case refusal
        /// In the first transaction for which there is no room: one that writes the changes of acknowledged entries.
        case tail
        /// In a probe, after an entry was refused.
        case probe
        /// While it opens the store.
        case opening
    }

    private func kill(_ moment: Moment, call: Int = 0, on disk: SmallDisk) async throws {
        disk.kills += 1
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [
                path = disk.scratch.path as String, answers = disk.answers as String,
                name = moment.rawValue as String, call = call as Int
            ] in
            let moment = try #require(Moment(rawValue: name))
            try FullDiskVictim(disk: path, answers: answers, moment: moment, call: call).run()
        }
    }

    /// All that was acknowledged is read, though nothing can be written yet.
    private func check(_ disk: SmallDisk, hasRoom: Bool = false) throws {
        let bench = try Bench(disk.scratch)
        #expect(bench.store.damages == [])
        let answered = try disk.answered
        #expect(!answered.isEmpty)
        var keys: Set<String> = []
        try bench.store.forEachRecord(container: "films", component: "list") { key, value, _ in
            #expect(value != nil)
            keys.insert(String(decoding: key, as: UTF8.self))
        }
        let told = try bench.store.notifications(after: 0, limit: .max).notifications
        #expect(told.map(\.sequence) == Array(1...bench.store.lastSequence))
        let found = Set(told.map { String(decoding: $0.payload, as: UTF8.self) })
        #expect(answered.isSubset(of: found))
        #expect(found.count <= answered.count + disk.kills)
        #expect(Set(keys.map { String($0.prefix { $0 != "." }) }) == found)
        let large = put("large", String(repeating: "x", count: 1 << 19))
        #expect(bench.write(large)?.isStorageFailure == true)
        #expect(bench.store.unavailability?.contains("full") == true)
        if hasRoom {
            disk.empty()
            bench.store.probe()
            #expect(bench.write(put("last", "x", epoch: 1))?.sequence == Int64(found.count) + 1)
            bench.store.close()
            #expect(try Bench(disk.scratch).records("films", "list").count == keys.count + 1)
        } else {
            bench.store.abandon()
        }
    }
}

/// A file system of 4 MiB, and what was acknowledged of what was written there.
private final class SmallDisk {
    let scratch: TemporaryDirectory
    private let elsewhere: TemporaryDirectory
    /// How often a process was killed on it, each with at most one entry that was not answered.
    var kills = 0

    init() throws {
        scratch = try TemporaryDirectory()
        elsewhere = try TemporaryDirectory()
        try #require(mount("small", scratch.path, "tmpfs", 0, "size=4m") == 0)
    }

    deinit { umount2(scratch.path, Int32(MNT_DETACH)) }

    /// A file that has a line for each acknowledged entry.
    var answers: String { "\(elsewhere.path)/answered" }

    var answered: Set<String> {
        get throws {
            let lines = try Data(contentsOf: URL(filePath: answers)).split(separator: 10)
            return Set(lines.map { String(decoding: $0, as: UTF8.self) })
        }
    }

    /// Takes all the room that there is, and that of a file.
    func fill(without file: String? = nil) throws {
        if let file { unlink("\(scratch.path)/\(file)") }
        try fillDisk(scratch.path)
    }

    /// Gives the room back.
    func empty() { unlink("\(scratch.path)/filler") }
}

/// Writes a file that takes all the room of a file system.
private func fillDisk(_ path: String) throws {
    let descriptor = open("\(path)/filler", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    try #require(descriptor >= 0)
    defer { close(descriptor) }
    let bytes = [UInt8](repeating: 0, count: 4_096)
    while write(descriptor, bytes, bytes.count) > 0 {}
    try #require(errno == ENOSPC)
}

/// What the killed process does.
private struct FullDiskVictim {
    var disk: String
    var answers: String
    var moment: FullDiskTests.Moment
    /// The call that it is killed in place of, while it opens the store.
    var call: Int

    func run() throws {
        let files = FaultFiles(disk)
        if moment == .opening { files.fail(FaultKill, at: call, count: 1, seed: 0) }
        let log = open(answers, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        let answered = DispatchSemaphore(value: 0)
        let base = Int64.random(in: 0..<Int64.max / 2)
        let store = try Store(
            at: disk, logger: quiet, probeInterval: .seconds(3_600)
        ) { outcomes in
            for outcome in outcomes {
                if case .success = outcome.result {
                    let line = "\(base + Int64(outcome.ticket))\n"
                    _ = line.withCString { write(log, $0, line.utf8.count) }
                }
                answered.signal()
            }
        }
        guard moment != .opening else {
            // It has opened it with fewer calls.
            kill(getpid(), SIGKILL)
            return
        }
        store.keepLog(limit: .max, step: 40)
        func append(_ ticket: UInt64, changes: Int = 2, bytes: Int = 700) {
            store.append(
                entry("\(base + Int64(ticket))", changes: changes, bytes: bytes), ticket: ticket)
            answered.wait()
            // It has made room in the log by then.
            store.enqueueRead { _ in answered.signal() }
            answered.wait()
        }
        append(0)
        // The reserve was used by an earlier start.
        unlink("\(disk)/atrium.reserve")
        try fillDisk(disk)
        let isProbe = moment == .probe
        if !isProbe { files.fail(FaultKillFull, at: 0, count: .max, seed: 0) }
        // Of the second kind four make changes enough to be written, for which there is less room than for the entries.
        let (changes, bytes) = moment == .tail ? (50, 250) : (2, 700)
        var ticket: UInt64 = 1
        while store.unavailability == nil {
            append(ticket, changes: changes, bytes: bytes)
            ticket += 1
        }
        files.fail(FaultKillFull, at: 0, count: .max, seed: 0)
        store.probe()
    }

    private func entry(_ name: String, changes: Int, bytes: Int) -> Entry {
        Entry(
            container: "films", epoch: 0, time: 0,
            changes: (0..<changes).map {
                RecordChange(
                    container: "films", component: "list", key: "\(name).\($0)",
                    value: [UInt8](repeating: 0x78, count: bytes))
            },
            notification: NotificationDraft(topic: "t", payload: [UInt8](name.utf8)))
    }
}
