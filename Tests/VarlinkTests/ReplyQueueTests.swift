import NIOCore
import TestSupport
import Testing

@testable import Varlink

@Suite struct ReplyQueueTests {
    /// Calls are opened, answered in parts and ended in any order; what comes out is, for each call in
    /// turn, its parts in order.
    @Test(arguments: 0..<50)
    func `whatever the order of answers, they leave in the order of calls`(_ seed: UInt64) {
        var random = RepeatableRandom(seed)
        var queue = ReplyQueue()
        var open: [UInt64] = []
        var said: [UInt64: [UInt8]] = [:]
        var order: [UInt64] = []
        var sent: [UInt8] = []
        var shared: [(buffer: ByteBuffer, bytes: [UInt8])] = []
        for step in 0..<400 {
            switch UInt8.random(in: 0..<4, using: &random) {
            case 0 where step < 300:
                let id = queue.open()
                open.append(id)
                order.append(id)
                said[id] = []
            case 1, 2:
                guard let id = open.randomElement(using: &random) else { continue }
                let part = [UInt8(truncatingIfNeeded: id), UInt8(truncatingIfNeeded: step)]
                if Bool.random(using: &random) {
                    part.withUnsafeBytes { queue.append($0, to: id) }
                } else {
                    let buffer = ByteBuffer(bytes: part)
                    shared.append((buffer, part))
                    queue.append(sharing: buffer, to: id)
                }
                said[id, default: []] += part
            default:
                guard let id = open.randomElement(using: &random) else { continue }
                open.removeAll { $0 == id }
                queue.end(id)
                #expect(!queue.isOpen(id))
            }
            // Now and then nothing is sent for a while.
            guard Bool.random(using: &random) else { continue }
            guard Bool.random(using: &random) else {
                sent += queue.takeReady().readableBytesView
                continue
            }
            // The channel holds what it was passed, beyond the time at which the queue drops it.
            let passed = queue.ready
            shared.append((passed, [UInt8](passed.readableBytesView)))
            sent += passed.readableBytesView
            queue.clearReady()
        }
        for id in open.shuffled(using: &random) { queue.end(id) }
        sent += queue.takeReady().readableBytesView
        #expect(sent == order.flatMap { said[$0] ?? [] })
        #expect(queue.count == 0 && queue.heldBytes == 0)
        // What others hold too is not written to.
        for (buffer, bytes) in shared { #expect(buffer == ByteBuffer(bytes: bytes)) }
    }

    @Test func `methods are found by their bytes, and only they`() {
        let names = (0..<300).map { "org.example.test\($0 % 7).Method\($0)" }
        let table = MethodTable(names.map { MethodEntry(name: $0) { _, _, _ in } })
        for var name in names {
            #expect(name.withUTF8 { table.entry(named: UnsafeRawBufferPointer($0)) }?.name == name)
            name += "x"
            #expect(name.withUTF8 { table.entry(named: UnsafeRawBufferPointer($0)) } == nil)
        }
        #expect(MethodTable([]).entry(named: UnsafeRawBufferPointer(start: nil, count: 0)) == nil)
    }
}
