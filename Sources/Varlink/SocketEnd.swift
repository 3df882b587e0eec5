internal import Glibc
internal import NIOCore

extension Channel {
    /// Sets close-on-exec on its socket, since `accept4` is called without `SOCK_CLOEXEC`.
    ///
    /// To be called on its loop.
    func keepFromPrograms() {
        _ = try? pipeline.syncOperations.withUnsafeTransportIfAvailable(
            of: NIOBSDSocket.Handle.self
        ) { _ = fcntl($0, F_SETFD, FD_CLOEXEC) }
    }
}

extension ChannelHandlerContext {
    /// Closes the channel, and ends the connection for its peer even if another process holds a copy of the socket.
    ///
    /// The peer still reads what was written to the socket before.
    func shutAndClose(promise: EventLoopPromise<Void>? = nil) {
        _ = try? channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(
            of: NIOBSDSocket.Handle.self
        ) { _ = shutdown($0, Int32(SHUT_RDWR)) }
        close(promise: promise)
    }
}
