import Dispatch
import Synchronization
import Testing
import Varlink

@testable import Control

/// Comes back on a thread.
let delay: AccessBook.Delay = { time, body in
    DispatchQueue.global().asyncAfter(deadline: .now() + time / .seconds(1), execute: body)
}

/// Who a peer is: its own groups, the directory's, and whose subordinate it may be.
@Suite(.timeLimit(.minutes(1))) struct IdentityTests {
    /// A directory that answers when it is told to.
    private final class SlowDirectory: Sendable {
        private let gate = DispatchSemaphore(value: 0)
        private let said: Mutex<UserDirectory.Entry>
        private let count = Mutex(0)

        init(_ entry: UserDirectory.Entry) { said = Mutex(entry) }

        var asked: Int { count.withLock { $0 } }

        func answer(_ entry: UserDirectory.Entry? = nil) {
            if let entry { said.withLock { $0 = entry } }
            gate.signal()
        }

        func ask() -> UserDirectory.Entry {
            count.withLock { $0 += 1 }
            gate.wait()
            return said.withLock { $0 }
        }
    }

    private func book(
        _ settings: RoleSettings = .init(), subordinates: String = "",
        patience: Duration? = nil,
        _ ask: @escaping @Sendable (UInt32) -> UserDirectory.Entry
    ) throws -> AccessBook {
        AccessBook(
            try RoleTable(
                settings, ownUser: 1_234, socketGroups: [4_321],
                subordinates: SubordinateUsers(subordinates)),
            directory: UserDirectory(
                patience: patience, delay: delay, ask: ask))
    }

    private func identified(_ peer: Peer, by book: AccessBook) async -> Peer {
        await withCheckedContinuation { continuation in
            book.identify(peer) { continuation.resume(returning: $0) }
        }
    }

    private func until(_ holds: () -> Bool) async throws {
        while !holds() {
            try Task.checkCancellation()
            await Task.yield()
        }
    }

    @Test func `a process with the group among its own is a member without any account`() throws {
        let book = try book { _ in .unknown }
        let peer = Peer(uid: 65_000, gid: 65_000, pid: 2, groups: [7, 4_321])
        #expect(book.access(of: peer).role == .member)
        #expect(
            book.access(of: Peer(uid: 65_000, gid: 65_000, pid: 2, groups: [7])).role == .observer)
    }

    @Test func `while the directory does not answer calls do not wait for it`() async throws {
        let directory = SlowDirectory(.init(hasAccount: true, groups: [4_321]))
        let book = try book { _ in directory.ask() }
        let peer = Peer(uid: 65_000, gid: 65_000, pid: 2)
        let found = Task { await identified(peer, by: book) }
        // Nobody has answered: what is not known does not count, and does not hold anybody.
        #expect(book.access(of: peer).role == .observer)
        #expect(book.access(of: Peer(uid: 65_001, gid: 4_321, pid: 2)).role == .member)
        directory.answer()
        #expect(await found.value == peer)
        #expect(book.access(of: peer).role == .member)
        #expect(directory.asked == 1)
    }

    @Test func `one that never answers keeps nobody waiting for ever`() async throws {
        let directory = SlowDirectory(.init(hasAccount: true, groups: [4_321]))
        let book = try book(patience: .milliseconds(1)) { _ in directory.ask() }
        let peer = Peer(uid: 65_000, gid: 65_000, pid: 2)
        #expect(await identified(peer, by: book) == peer)
        #expect(book.access(of: peer).role == .observer)
        directory.answer()
    }

    @Test func `who left a group has lost its role by the next reload`() async throws {
        let groups = Mutex<[UInt32]>([4_321])
        let book = try book { _ in .init(hasAccount: true, groups: groups.withLock { $0 }) }
        let peer = await identified(Peer(uid: 65_000, gid: 65_000, pid: 2), by: book)
        #expect(book.access(of: peer).role == .member)
        groups.withLock { $0 = [] }
        let table = try RoleTable(.init(), ownUser: 1_234, socketGroups: [4_321])
        let renewed = await book.renew({ table }, late: { _ in })
        #expect(renewed.isComplete)
        book.replace(try #require(renewed.table))
        #expect(book.access(of: peer).role == .observer)
    }

    @Test func `a directory that hangs keeps no reload waiting, which counts once it answers`()
        async throws
    {
        let directory = SlowDirectory(.init(hasAccount: true, groups: [4_321]))
        let book = try book(patience: .milliseconds(1)) { _ in directory.ask() }
        let peer = Peer(uid: 65_000, gid: 65_000, pid: 2)
        directory.answer()
        _ = await identified(peer, by: book)
        try await until { book.access(of: peer).role == .member }
        let table = try RoleTable(.init(), ownUser: 1_234, socketGroups: [4_321])
        let late = AsyncStream.makeStream(of: RoleTable.self)
        let named = DispatchSemaphore(value: 0)
        let renewed = await book.renew(
            {
                named.wait()
                return table
            }, late: { late.continuation.yield($0) })
        #expect(renewed.table == nil && !renewed.isComplete)
        #expect(book.access(of: peer).role == .member)
        named.signal()
        directory.answer(.init(hasAccount: true, groups: []))
        book.replace(try #require(await late.stream.first { _ in true }))
        #expect(book.access(of: peer).role == .observer)
    }

    @Test
    func `new roles count at once, however long the directory takes to say who is in which group`()
        async throws
    {
        let directory = SlowDirectory(.init(hasAccount: true, groups: [4_321]))
        // Long enough for a table that is there already.
        let book = try book(patience: .seconds(1)) { _ in directory.ask() }
        let peer = Peer(uid: 65_000, gid: 65_000, pid: 2)
        directory.answer()
        _ = await identified(peer, by: book)
        try await until { book.access(of: peer).role == .member }
        let table = try RoleTable(.init(), ownUser: 1_234, socketGroups: [7])
        let late = AsyncStream.makeStream(of: RoleTable.self)
        let renewed = await book.renew({ table }, late: { late.continuation.yield($0) })
        #expect(!renewed.isComplete)
        book.replace(try #require(renewed.table))
        #expect(book.access(of: peer).role == .observer)
        directory.answer(.init(hasAccount: true, groups: [7]))
        book.replace(try #require(await late.stream.first { _ in true }))
        #expect(book.access(of: peer).role == .member)
    }

    @Test func `a reload asks about no subordinate users, however many one person has made known`()
        async throws
    {
        let asked = Mutex<[UInt32]>([])
        let book = try book(subordinates: "daemon:100000:65536") { uid in
            asked.withLock { $0.append(uid) }
            return .init(hasAccount: uid == 65_000, groups: [])
        }
        for uid: UInt32 in [65_000, 100_001, 100_002] {
            _ = await identified(Peer(uid: uid, gid: uid, pid: 2), by: book)
        }
        asked.withLock { $0 = [] }
        let table = try RoleTable(.init(), ownUser: 1_234, socketGroups: [])
        #expect(await book.renew({ table }, late: { _ in }).isComplete)
        #expect(asked.withLock { $0 } == [65_000])
    }

    @Test func `questions about subordinate users keep nobody else waiting`() async throws {
        let hanging = SlowDirectory(.unknown)
        let book = try book(subordinates: "daemon:100000:65536") { uid in
            uid < 100_000 ? .init(hasAccount: true, groups: [4_321]) : hanging.ask()
        }
        let subordinate = Task {
            await identified(Peer(uid: 100_001, gid: 100_001, pid: 2), by: book)
        }
        try await until { hanging.asked == 1 }
        let peer = await identified(Peer(uid: 65_000, gid: 65_000, pid: 3), by: book)
        #expect(book.access(of: peer).role == .member)
        hanging.answer()
        #expect(await subordinate.value.uid == 1)
    }

    @Test func `who has no account makes room before those who have`() async throws {
        let directory = UserDirectory(delay: delay) { .init(hasAccount: $0 == 1, groups: []) }
        for uid in 1...UInt32(UserDirectory.most + 1) {
            await withCheckedContinuation { done in
                directory.learn(of: uid, answered: {}, { done.resume() })
            }
        }
        #expect(directory.remembered(2) == nil, "there was no room")
        #expect(directory.remembered(1)?.hasAccount == true)
    }

    @Test func `credentials that differ in one group alone have hashes of their own`() {
        let hashes = (0..<100).map { group in
            AccessBook.Credentials(Peer(uid: 7, gid: 7, pid: 2, groups: [1, 2, group])).hashValue
        }
        #expect(Set(hashes).count > 90)
    }

    @Test func `however often somebody connects, a directory that hangs is asked about them once`()
        async throws
    {
        let directory = SlowDirectory(.init(hasAccount: true, groups: [4_321]))
        let book = try book(patience: .milliseconds(1)) { _ in directory.ask() }
        for pid: Int32 in 0..<20 {
            _ = await identified(Peer(uid: 65_000, gid: 65_000, pid: pid), by: book)
        }
        for _ in 0..<30 { directory.answer() }
        // It is asked one question after the other: this is the last.
        let other = await identified(Peer(uid: 65_001, gid: 1, pid: 3), by: book)
        try await until { book.access(of: other).role == .member }
        #expect(directory.asked == 2)
    }

    @Test func `however many connect, what is remembered of them is bounded`() async throws {
        let book = try book { _ in .init(hasAccount: true, groups: []) }
        let directory = UserDirectory(delay: delay) { _ in .unknown }
        let hanging = SlowDirectory(.unknown)
        let silent = UserDirectory(patience: nil, delay: delay) { _ in hanging.ask() }
        for uid in 1..<UInt32(UserDirectory.most + 100) {
            _ = book.access(of: Peer(uid: uid, gid: 7, pid: 2))
            #expect(book.count <= AccessBook.most)
            directory.learn(of: uid, answered: {}, {})
            silent.learn(of: uid, answered: {}, {})
        }
        // It is asked one question after the other: this is the last.
        await withCheckedContinuation { done in
            directory.learn(of: 0, answered: {}, { done.resume() })
        }
        #expect(directory.count <= UserDirectory.most)
        #expect(silent.count <= UserDirectory.most)
        for _ in 0..<silent.count { hanging.answer() }
    }

    @Test func `all subordinate users of a user are that user, and a member at most`() async throws
    {
        let book = try book(RoleSettings(admins: ["daemon"]), subordinates: "daemon:100000:65536\n")
        {
            _ in .unknown
        }
        for uid: UInt32 in [100_000, 131_072, 165_535] {
            let peer = await identified(Peer(uid: uid, gid: uid, pid: 2, groups: [4_321]), by: book)
            #expect(peer.uid == 1)
            #expect(peer.subordinate == uid)
            #expect(book.access(of: peer) == Access(role: .member))
        }
        for uid: UInt32 in [99_999, 165_536] {
            let peer = await identified(Peer(uid: uid, gid: uid, pid: 2), by: book)
            #expect(peer.uid == uid)
        }
    }

    @Test func `an account is itself, wherever its number lies`() async throws {
        let book = try book(subordinates: "daemon:100000:65536") { _ in
            .init(hasAccount: true, groups: [])
        }
        #expect(await identified(Peer(uid: 100_500, gid: 100, pid: 2), by: book).uid == 100_500)
    }

    @Test func `nobody in a range connects while it is not known whether they are an account`()
        async throws
    {
        let directory = SlowDirectory(.init(hasAccount: true, groups: []))
        let book = try book(
            subordinates: "daemon:100000:65536", patience: .milliseconds(1)
        ) { _ in directory.ask() }
        let peer = await identified(Peer(uid: 100_500, gid: 100, pid: 2), by: book)
        #expect(peer.uid == 100_500)
        #expect(book.refusal(of: peer)?.contains("looking up uid 100500") == true)
        let other = await identified(Peer(uid: 65_000, gid: 100, pid: 2), by: book)
        #expect(book.refusal(of: other) == nil)
        for _ in 0..<2 { directory.answer() }
        try await until { book.refusal(of: peer) == nil }
        #expect(await identified(peer, by: book) == peer)
    }

    @Test(arguments: [
        "daemon:0:5", "daemon:100000", "daemon:x:5", "nobody-is-called-so:100000:9", ":::",
        "# a:1:2",
        "daemon:100000:0",
    ])
    func `a line that makes no sense is passed over`(line: String) {
        let users = SubordinateUsers(line + "\n7:4000000000:4000000000\n")
        #expect(users.owner(of: 100_000) == nil)
        #expect(users.owner(of: 2) == nil)
        #expect(users.owner(of: 4_294_967_294) == 7)
    }
}
