internal import Glibc
internal import NIOCore
internal import NIOPosix

/// Runs an action once the event loop has polled its descriptors.
///
/// A task or a timer would not do: SwiftNIO runs all that are due, including those submitted meanwhile, before it polls
/// again. An event of a descriptor can only come from a poll.
///
/// Unchecked: it is used only on the event loop.
final class NextPoll: ChannelInboundHandler, @unchecked Sendable {
    typealias InboundIn = ByteBuffer

    private let eventLoop: any EventLoop
    /// One end of a pair of sockets, whose other end the loop reads; nil until the first time.
    private var descriptor: Int32?
    private var channel: (any Channel)?
    private var action: (() -> Void)?

    init(_ eventLoop: any EventLoop) {
        self.eventLoop = eventLoop
    }

    /// Runs an action once, after the next poll; does nothing if another action is waiting for that.
    func run(_ action: @escaping () -> Void) {
        guard self.action == nil else { return }
        self.action = action
        if descriptor == nil { open() }
        guard let descriptor, write(descriptor, [1], 1) == 1 else { return runSoon() }
    }

    /// Closes the descriptor; a new one is made when it is needed again.
    func close() {
        if let descriptor { Glibc.close(descriptor) }
        descriptor = nil
        channel?.close(promise: nil)
        channel = nil
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) { come() }

    private func come() {
        let action = action
        self.action = nil
        action?()
    }

    private func open() {
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { return }
        let (own, read) = (ends[0], ends[1])
        descriptor = own
        ClientBootstrap(group: eventLoop)
            .channelInitializer { [self] channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(self)
                }
            }
            .withConnectedSocket(read)
            .whenComplete { [self] result in
                switch result {
                case .success(let channel): self.channel = channel
                case .failure:
                    close()
                    runSoon()
                }
            }
    }

    /// Uses a timer if there is no descriptor; a busy loop runs the timer before it polls.
    private func runSoon() {
        guard action != nil else { return }
        eventLoop.scheduleTask(in: .milliseconds(1)) { [self] in come() }
    }
}
