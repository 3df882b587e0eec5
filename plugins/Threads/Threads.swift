internal import AtriumKit
public import CommentThreads

/// Comments with replies to any depth: `org.atrium.threads`.
public final class Threads: ThreadedComments {}

/// Exports the threads.
@c(atrium_plugin_org_atrium_threads)
public func threadsPlugin() -> UnsafeMutableRawPointer { exportPlugin(Threads.self) }
