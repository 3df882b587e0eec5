internal import AtriumKit
internal import Host
internal import Interfaces
internal import JSONCodec
internal import NIOCore

/// What a worker said, on its way to whoever takes it: in order, and a big message read on a thread, so
/// that reading it does not hold the loop.
///
/// What comes behind a big message waits for it.
final class WorkerInbox {
    /// A message.
    enum Message: Sendable {
        case answer(Int, WorkerAnswer)
        case word(WorkerWord)
    }

    /// Up to how many bytes a message is read at once.
    static let atOnce = 256 << 10
    /// How many bytes may wait to be read.
    static let most = 256 << 20

    /// Its place in the order; nil until it is read.
    private final class Entry {
        var result: Result<Message, WireError>?

        init(_ result: Result<Message, WireError>?) { self.result = result }
    }

    private let loop: any EventLoop
    private let deliver: (Result<Message, WireError>) -> Void
    private var entries = CircularBuffer<Entry>()
    private var bytes = 0

    /// An inbox that gives messages, or what is wrong with one, to `deliver`.
    init(on loop: any EventLoop, _ deliver: @escaping (Result<Message, WireError>) -> Void) {
        self.loop = loop
        self.deliver = deliver
    }

    /// Takes what the worker said; delivered during the call where nothing stands before it.
    func take(_ said: Worker.Attach.Reply) {
        let size = said.message.bytes.count
        guard size > Self.atOnce else {
            let result = Self.read(said)
            if entries.isEmpty { deliver(result) } else { entries.append(Entry(result)) }
            return
        }
        guard bytes + size <= Self.most else {
            let error = WireError(
                expected: "at most \(Self.most) bytes that are yet to be read",
                found: "\(bytes + size)")
            return entries.append(Entry(.failure(error)))
        }
        bytes += size
        let entry = Entry(nil)
        entries.append(entry)
        let arrived = NIOLoopBound(
            { (result: Result<Message, WireError>) in self.arrived(result, at: entry, size) },
            eventLoop: loop)
        let loop = loop
        Task(executorPreference: QuietExecutor.shared) {
            let result = WorkerInbox.read(said)
            loop.execute { arrived.value(result) }
        }
    }

    private func arrived(_ result: Result<Message, WireError>, at entry: Entry, _ size: Int) {
        entry.result = result
        bytes -= size
        while let result = entries.first?.result {
            entries.removeFirst()
            deliver(result)
        }
    }

    private static func read(_ said: Worker.Attach.Reply) -> Result<Message, WireError> {
        Result { () throws(WireError) in
            let wire = try WireText.decode(said.message)
            guard let id = said.id else { return .word(try WorkerWord(wire: wire)) }
            return .answer(id, try WorkerAnswer(wire: wire))
        }
    }
}
