public import Varlink

/// The control protocol: the interfaces that the daemon answers on its socket.
///
/// Everything else in this module is generated from the `.varlink` files beside this file. The
/// interface between daemon and workers is generated too, and not published.
public enum PublishedInterfaces {
    /// All of them, in the order in which a client lists them.
    public static let all: [any VarlinkInterface.Type] = [
        Daemon.self, Plugins.self, Containers.self, Contents.self, Filters.self, Votes.self,
        Comments.self, Screens.self, Notifications.self, Store.self, Metrics.self,
        People.self,
    ]
}
