import Foundation
import Glibc
import Testing

@testable import Varlink

@Suite(.timeLimit(.minutes(3))) struct DescriptorTests {
    @Test func `descriptors that come with a call are not received`() async throws {
        var limits = VarlinkLimits()
        // No call has to let others go first, for which the server has descriptors of its own.
        limits.startTime = .seconds(60)
        try await withService(limits: limits) { service in
            let client = try service.raw()
            try client.send(#"{"method":"org.example.test.Echo","parameters":{"text":"a"}}"#)
            #expect(try await client.receive() != nil)
            let before = try Descriptors.open
            let call =
                Array(#"{"method":"org.example.test.Echo","parameters":{"text":"b"}}"#.utf8) + [0]
            for _ in 0..<100 {
                guard Descriptors.send(0, with: call, over: client.descriptor) else {
                    // This kernel turns them away, and the bytes with them.
                    #expect(errno == EPERM)
                    try client.send(bytes: call)
                    continue
                }
            }
            for _ in 0..<100 {
                #expect(try await client.receive() == #"{"parameters":{"text":"b"}}"#)
            }
            #expect(try Descriptors.open == before)
        }
    }

    @Test func `descriptors that come with a reply are not received`() async throws {
        var ends: [Int32] = [-1, -1]
        #expect(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        let service = RawClient(descriptor: ends[0])
        let client = try await VarlinkClient.connect(descriptor: ends[1])
        let before = try Descriptors.open
        let reply = Task { try await client.call(Example.Echo.self, Text("a")) }
        _ = try await service.receive()
        let bytes = Array(#"{"parameters":{"text":"b"}}"#.utf8) + [0]
        if !Descriptors.send(0, with: bytes, over: service.descriptor) {
            #expect(errno == EPERM)
            try service.send(bytes: bytes)
        }
        #expect(try await reply.value == Text("b"))
        #expect(try Descriptors.open == before)
    }

    @Test(.enabled(if: Descriptors.canBeRefused, "this kernel is older than 6.16"))
    func `where the kernel can, descriptors are turned away before they are queued`() async throws {
        try await withService { service in
            let client = try service.raw()
            #expect(!Descriptors.send(0, with: [0x7B], over: client.descriptor))
            #expect(errno == EPERM)
        }
    }

    @Test func `an accepted connection is inherited by no program`() async throws {
        try await withService { service in
            let client = try service.raw()
            try client.send(#"{"method":"org.example.test.Echo","parameters":{"text":"a"}}"#)
            _ = try await client.receive()
            let accepted = Descriptors.accepted(at: service.path)
            #expect(accepted.count == 1)
            for descriptor in accepted {
                #expect(fcntl(descriptor, F_GETFD) & FD_CLOEXEC == FD_CLOEXEC)
            }
        }
    }

    @Test func `a closed connection has ended for its peer, whoever holds a copy of the socket`()
        async throws
    {
        try await withService { service in
            var ends: [Int32] = [-1, -1]
            #expect(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
            let copy = dup(ends[1])
            defer { close(copy) }
            let client = RawClient(descriptor: ends[0])
            client.limit(SO_RCVTIMEO, milliseconds: 5_000)
            try await service.server.serve(ends[1])
            try client.send(#"{"method":"org.example.test.Echo","parameters":{"text":"a"}}"#)
            #expect(try await client.receive() == #"{"parameters":{"text":"a"}}"#)
            try client.send("this is not JSON")
            #expect(try await client.receive() == nil)
        }
    }

    @Test func `a connection that a client closed has ended, whoever holds a copy of the socket`()
        async throws
    {
        var ends: [Int32] = [-1, -1]
        #expect(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        let copy = dup(ends[1])
        defer { close(copy) }
        let service = RawClient(descriptor: ends[0])
        service.limit(SO_RCVTIMEO, milliseconds: 5_000)
        let client = try await VarlinkClient.connect(descriptor: ends[1])
        await client.close()
        #expect(try await service.receive() == nil)
    }
}

/// Descriptors of this process, and how to pass one on.
private enum Descriptors {
    static var open: Int {
        get throws { try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count }
    }

    /// The sockets that were accepted from the one that listens at a path.
    static func accepted(at path: String) -> [Int32] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        return names.compactMap(Int32.init).filter { descriptor in
            var listens: Int32 = 1
            var size = socklen_t(MemoryLayout<Int32>.size)
            getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size)
            return listens == 0 && name(of: descriptor) == path
        }
    }

    private static func name(of descriptor: Int32) -> String? {
        var address = sockaddr_un()
        var size = socklen_t(MemoryLayout<sockaddr_un>.size)
        let found = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                getsockname(descriptor, $0, &size)
            }
        }
        guard found == 0, address.sun_family == AF_UNIX else { return nil }
        return withUnsafeBytes(of: address.sun_path) {
            String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
        }
    }

    /// Whether the kernel knows `SO_PASSRIGHTS`.
    static var canBeRefused: Bool {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var isOn: Int32 = 0
        return setsockopt(descriptor, SOL_SOCKET, 83, &isOn, socklen_t(4)) == 0
    }

    /// Sends bytes with a descriptor.
    ///
    /// - Returns: Whether the kernel took them.
    static func send(_ passed: Int32, with bytes: [UInt8], over descriptor: Int32) -> Bool {
        // struct cmsghdr, by hand: the C library's macros are not to be had.
        var control = [UInt64](repeating: 0, count: 3)
        control.withUnsafeMutableBytes { raw in
            raw.storeBytes(of: 20, toByteOffset: 0, as: UInt64.self)
            raw.storeBytes(of: SOL_SOCKET, toByteOffset: 8, as: Int32.self)
            raw.storeBytes(of: 1, toByteOffset: 12, as: Int32.self)
            raw.storeBytes(of: passed, toByteOffset: 16, as: Int32.self)
        }
        var bytes = bytes
        return bytes.withUnsafeMutableBytes { body in
            control.withUnsafeMutableBytes { ancillary in
                var part = iovec(iov_base: body.baseAddress, iov_len: body.count)
                return withUnsafeMutablePointer(to: &part) { part in
                    var message = msghdr()
                    message.msg_iov = part
                    message.msg_iovlen = 1
                    message.msg_control = ancillary.baseAddress
                    message.msg_controllen = ancillary.count
                    return sendmsg(descriptor, &message, Int32(MSG_NOSIGNAL)) == body.count
                }
            }
        }
    }
}
