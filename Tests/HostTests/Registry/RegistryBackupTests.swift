import AtriumKit
import Foundation
import Store
import Testing

@testable import Host

/// Backups as the control protocol takes them: part by part, few at a time, and not for ever.
@Suite(.timeLimit(.minutes(3)))
struct RegistryBackupTests {
    private static func next(_ host: TestRegistry, _ id: BackupID) async throws -> BackupPart {
        try await host.call { registry, reply in registry.backups.pull(id, as: { $0 }, reply) }
    }

    private static func begin(_ host: TestRegistry) async -> Result<BackupID, HostError> {
        await host.on { registry in
            Result { () throws(HostError) in try registry.backups.begin() }
        }
    }

    /// How many files without a name this process has open beside the store.
    private static func openCopies(_ host: TestRegistry) -> Int {
        let folder = "/proc/self/fd"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        let store = URL(filePath: host.store.file).deletingLastPathComponent().path
        return names.count { name in
            let target = try? FileManager.default.destinationOfSymbolicLink(
                atPath: "\(folder)/\(name)")
            return target?.hasPrefix(store + "/atrium.backup-") == true
        }
    }

    @Test func `the parts are one file, and the last one is empty and ends the backup`()
        async throws
    {
        let host = try await TestRegistry.start()
        try await host.apply(.films)
        for number in 1...3 {
            var film = Item.film("film-\(number)")
            film.fields["title"] = .text(String(repeating: "x", count: 200 << 10))
            try await host.put(film)
        }
        let id = try await Self.begin(host).get()
        var parts: [BackupPart] = []
        while parts.last?.isLast != true {
            parts.append(try await Self.next(host, id))
            if parts.count == 1 {
                #expect(Self.openCopies(host) == 1)
                try await host.put(.film("later"))
            }
        }
        let bytes = parts.flatMap(\.bytes)
        #expect(parts.count > 3)
        #expect(parts.allSatisfy { $0.bytes.count <= 256 << 10 && $0.total == bytes.count })
        #expect(parts.last?.bytes.isEmpty == true)
        #expect(Set(parts.map(\.sequence)) == [host.store.lastSequence - 1])
        #expect(Set(parts.map(\.store)) == [host.store.identity])
        #expect(bytes.starts(with: Array("SQLite format 3".utf8)))
        #expect(await host.on { $0.backups.open.count } == 0)
        #expect(Self.openCopies(host) == 0, "its room is free again")
        try await host.end()
    }

    @Test func `one that is ended while the store is copied says to begin again`() async throws {
        let host = try await TestRegistry.start()
        try await host.apply(.films)
        let id = try await Self.begin(host).get()
        await #expect {
            let _: BackupPart = try await host.call { registry, reply in
                let gate = DispatchSemaphore(value: 0)
                // Held, so that the copy is not complete before the backup is ended.
                registry.backups.open.renew(id.number)?.queue.async { gate.wait() }
                registry.backups.pull(id, as: { $0 }, reply)
                registry.backups.open.endAll()
                gate.signal()
            }
        } throws: { error in
            guard case .storeUnavailable(let reason, retryAfter: 0)? = error as? HostError else {
                return false
            }
            return reason.hasSuffix("begin again.")
        }
        try await host.end()
    }

    @Test func `two are open at a time, and a forsaken one is ended with its file`() async throws {
        let host = try await TestRegistry.start()
        try await host.apply(.films)
        let ids = [try await Self.begin(host).get(), try await Self.begin(host).get()]
        #expect(
            await Self.begin(host)
                == .failure(.limitExceeded(limit: "backups", value: 2, retryAfter: 10)))
        for id in ids { _ = try await Self.next(host, id) }
        await host.on { $0.backups.close(ids[0]) }
        #expect(Self.openCopies(host) == 1)
        await host.on { $0.backups.open.endUnused() }
        #expect(await host.on { $0.backups.open.count } == 1)
        await host.on { $0.backups.open.endUnused() }
        #expect(Self.openCopies(host) == 0)
        await expectUnavailable { _ = try await Self.next(host, ids[1]) }
        let again = try await Self.begin(host).get()
        #expect(try await Self.next(host, again).isLast == false)
        try await host.end()
        #expect(Self.openCopies(host) == 0, "one that is open ends with the store")
    }
}
