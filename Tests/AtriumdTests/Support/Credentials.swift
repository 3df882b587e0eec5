import Glibc

/// Who somebody on the socket is, for a test that root runs.
struct Credentials: Sendable {
    let uid: UInt32
    let gid: UInt32
    var groups: [UInt32] = []

    /// Runs something with these credentials, on this thread alone.
    ///
    /// By the system calls themselves: the C library's functions change every thread of the process.
    func whileTaken<Value>(_ body: () throws -> Value) throws -> Value {
        let call = try SystemCall()
        var before = [UInt32](repeating: 0, count: 1_024)
        let count = getgroups(Int32(before.count), &before)
        guard count >= 0 else { throw SystemFailure("getgroups") }
        let own = (uid: geteuid(), gid: getegid())
        try call.setGroups(groups)
        try call.setEffective(SystemCall.setresgid, gid)
        try call.setEffective(SystemCall.setresuid, uid)
        defer {
            do {
                try call.setEffective(SystemCall.setresuid, own.uid)
                try call.setEffective(SystemCall.setresgid, own.gid)
                try call.setGroups(Array(before[..<Int(count)]))
            } catch {
                fatalError("this thread is somebody else for ever: \(error)")
            }
        }
        return try body()
    }
}

/// The C library's `syscall`, which Swift does not import.
private struct SystemCall {
    private typealias Function = @convention(c) (Int, Int, Int, Int) -> Int

    #if arch(x86_64)
        static let (setgroups, setresuid, setresgid) = (116, 117, 119)
    #else
        static let (setgroups, setresuid, setresgid) = (159, 147, 149)
    #endif

    private let call: Function

    init() throws {
        guard let symbol = dlsym(nil, "syscall") else { throw SystemFailure("dlsym", 0) }
        call = unsafeBitCast(symbol, to: Function.self)
    }

    func setEffective(_ number: Int, _ id: UInt32) throws {
        guard call(number, -1, Int(id), -1) == 0 else { throw SystemFailure("become \(id)") }
    }

    func setGroups(_ groups: [UInt32]) throws {
        let result = groups.withUnsafeBufferPointer {
            call(Self.setgroups, $0.count, Int(bitPattern: $0.baseAddress), 0)
        }
        guard result == 0 else { throw SystemFailure("setgroups") }
    }
}
