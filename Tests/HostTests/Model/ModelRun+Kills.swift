import AtriumKit
import Index
import Store
import Synchronization
import Testing

@testable import Host

// Hosts that are killed, and started in good order.
extension ModelRun {
    /// Kills the host while commands are on their way, and starts it again.
    ///
    /// Of the commands that were not answered, the store's notifications say which happened.
    mutating func kill() async throws {
        let before = host.store.lastSequence
        let issued = (0..<pick(5..<40)).map { _ in identifiable() }
        commands += issued.count
        let replies = ModelReplies()
        let target = host
        await target.on { registry in
            for (index, command) in issued.enumerated() {
                registry.make(command) { replies.set($0, at: index) }
            }
        }
        for _ in 0..<pick(0..<40_000) { _ = target.store.lastSequence }
        try await target.kill()
        host = try await Self.start(script, in: target.directory)
        let stored = try host.store.notifications(after: before, limit: 10_000).notifications
        let actors = Dictionary(
            uniqueKeysWithValues: try host.store.actors().map { ($0.number, $0.name) })
        var happened: [(sequence: Int64, issued: Issued)] = []
        for (index, command) in issued.enumerated() {
            let found = try stored.first { try command.isTold(by: $0, actors) }?.sequence
            switch replies[index] {
            case .success(let sequence): #expect(found == sequence, "\(command)")
            case .failure: #expect(found == nil, "\(command)")
            case nil: break
            }
            if let found { happened.append((found, command)) }
        }
        #expect(happened.count == stored.count)
        note(happened)
        try await checkAgainstModel()
    }

    /// A command that its notification tells from all others.
    mutating func identifiable() -> Issued {
        serial += 1
        let container = names[pick(0..<names.count)]
        let effect: HostModel.Effect =
            switch pick(0..<3) {
            case 0: .put(["k\(serial)", "l\(serial)", "m\(serial)"], title: "t\(serial)")
            case 1: .cast(nil, actor: "kill:\(serial)", Double(pick(1..<6)))
            default: .post("c\(serial)", on: nil, text: "x\(serial)", actor: "unix:1")
            }
        return Issued(container: container, effect: effect, seed: 0)
    }

    mutating func restart() async throws {
        try await host.stop()
        host = try await Self.start(script, in: host.directory)
        try await checkAgainstModel()
        try checkNotifications()
    }
}

/// The replies that came before a kill.
private final class ModelReplies: Sendable {
    let replies = Mutex<[Int: Result<Int64, HostError>]>([:])

    subscript(index: Int) -> Result<Int64, HostError>? { replies.withLock { $0[index] } }

    func set(_ reply: Result<Int64, HostError>, at index: Int) {
        replies.withLock { $0[index] = reply }
    }
}

extension Issued {
    /// Whether a notification is this command's.
    func isTold(
        by notification: StoredNotification, _ actors: [Int64: String]
    ) throws -> Bool {
        guard notification.topic.hasPrefix(container + ".") else { return false }
        let payload = try Value(jsonBytes: notification.payload).object ?? [:]
        switch effect {
        case .put(let ids, _):
            return payload["items"]?.list?.contains(.text(ids[0])) ?? false
        case .cast(_, let actor, _):
            return notification.topic.hasSuffix("votes.cast")
                && notification.actor.flatMap { actors[$0] } == actor
        case .post(let id, _, _, _): return payload["comment"]?.text == id
        default: return false
        }
    }
}
