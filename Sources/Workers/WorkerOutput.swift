internal import Glibc
internal import Logging
internal import NIOCore
internal import NIOPosix

/// Logs the output of a worker line by line, including that of the Swift runtime when the worker crashes.
///
/// Each line is logged with the worker's container, component and plugin. A long line is cut. Lines beyond a number are
/// only counted (``LineBudget``).
///
/// Unchecked: it is used on its channel's event loop only.
final class WorkerOutput: ChannelInboundHandler, @unchecked Sendable {
    typealias InboundIn = ByteBuffer

    private let logger: Logger
    private var line: [UInt8] = []
    private var budget = LineBudget()
    private var lastLines = LastLines()
    /// The last lines that exceeded the budget; they are logged all the same if they report a crash.
    private var unlogged = CircularBuffer<String>()
    private var isOver = false
    private var whenOver: (() -> Void)?

    /// The number of last lines that are logged in a crash: the component's last messages, the signal and a backtrace.
    private static let reserve = 64

    private init(_ logger: Logger) { self.logger = logger }

    /// Makes a pipe that started programs don't inherit, or removes the cgroup if none can be made; returns the end
    /// to read from, and the end to write to.
    static func pipe(
        or group: WorkerCgroup?, on loop: any EventLoop
    ) throws(WorkerProcess.Problem) -> (output: Int32, input: Int32) {
        var ends: [Int32] = [-1, -1]
        guard Glibc.pipe(&ends) == 0 else {
            let reason = "No pipe for a worker: \(String(cString: strerror(errno)))."
            group?.end(on: loop)
            throw WorkerProcess.Problem(reason: reason, mayPass: true)
        }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }

    /// Logs the lines written to a pipe until its other end is closed, and closes the descriptor then.
    static func follow(
        _ descriptor: Int32, on loop: any EventLoop, logger: Logger
    ) -> WorkerOutput {
        let output = WorkerOutput(logger)
        NIOPipeBootstrap(group: loop)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(output)
                }
            }
            .takingOwnershipOfDescriptor(input: descriptor)
            .whenFailure { error in
                close(descriptor)
                logger.warning(
                    "what a worker prints can't be read", metadata: ["reason": "\(error)"])
            }
        return output
    }

    /// Calls `body` once everything was read, or after the limit: processes that the worker started may still print.
    func whenOver(within limit: TimeAmount, on loop: any EventLoop, _ body: @escaping () -> Void) {
        guard !isOver else { return body() }
        whenOver = body
        let output = NIOLoopBound(self, eventLoop: loop)
        loop.scheduleTask(in: limit) { output.value.endWaiting() }
    }

    private func endWaiting() {
        let body = whenOver
        whenOver = nil
        body?()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        for byte in Self.unwrapInboundIn(data).readableBytesView {
            if byte == UInt8(ascii: "\n") {
                endLine()
            } else if line.count < LineBudget.lineBytes {
                line.append(byte)
            }
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        endLine()
        if !lastLines.describesEnd { unlogged.removeAll() }
        budget.end(without: unlogged.count, report: sumUp)
        for text in unlogged { log(text) }
        unlogged.removeAll()
        isOver = true
        endWaiting()
        context.fireChannelInactive()
    }

    private func endLine() {
        defer { line.removeAll(keepingCapacity: true) }
        guard !line.isEmpty else { return }
        let text = Self.readable(String(decoding: line, as: UTF8.self))
        lastLines.read(text)
        guard budget.admits(report: sumUp) else {
            if unlogged.count == Self.reserve { unlogged.removeFirst() }
            return unlogged.append(text)
        }
        unlogged.removeAll(keepingCapacity: true)
        log(text)
    }

    /// The worker's last output about its end, as the continuation of how it ended.
    var lastWords: String {
        (lastLines.failure.map { ", and said: \($0)" } ?? "")
            + (lastLines.function.map { "; it was in \($0)" } ?? "")
    }

    private func log(_ text: String) {
        logger.notice("a worker printed", metadata: ["text": "\(text)"])
    }

    /// Demangles the name of a Swift function in a line of a backtrace.
    private static func readable(_ line: String) -> String {
        guard let begin = line.firstRange(of: "($s"),
            let end = line[begin.upperBound...].firstIndex(of: "+")
        else { return line }
        let name = line[line.index(after: begin.lowerBound)..<end]
        let found = String(name).utf8CString.withUnsafeBufferPointer {
            demangle($0.baseAddress, $0.count - 1, nil, nil, 0)
        }
        guard let found else { return line }
        defer { free(found) }
        return line[..<begin.lowerBound] + "(" + String(cString: found) + line[end...]
    }

    private func sumUp(_ count: Int) {
        logger.notice("a worker printed more than is logged", metadata: ["count": "\(count)"])
    }
}

/// Demangles a name of the linker's with the Swift runtime; returns nil if it is not a Swift name.
///
/// The caller must free the result.
@_silgen_name("swift_demangle")
private func demangle(
    _ name: UnsafePointer<CChar>?, _ length: Int, _ buffer: UnsafeMutablePointer<CChar>?,
    _ size: UnsafeMutablePointer<Int>?, _ flags: UInt32
) -> UnsafeMutablePointer<CChar>?
