internal import JSONCodec
internal import NIOCore

/// Refuses a connection for which there is no room: sends the peer the reason, and closes.
///
/// The peer is about to make its first call, or has made it: the reason is the reply to it.
final class Farewell: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let error: VarlinkLimitExceeded

    init(_ error: VarlinkLimitExceeded) {
        self.error = error
    }

    func channelActive(context: ChannelHandlerContext) {
        var writer = JSONWriter()
        writer.writeError(VarlinkLimitExceeded.name, error)
        writer.endMessage()
        context.writeAndFlush(Self.wrapOutboundOut(ByteBuffer(bytes: writer.bytes)), promise: nil)
        context.shutAndClose()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {}

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.shutAndClose()
    }
}
