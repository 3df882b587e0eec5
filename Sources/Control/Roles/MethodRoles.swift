import Interfaces
import Varlink

/// The role that each method requires.
///
/// A published method without an entry is a programming error, which ``missing(in:)`` reports when the daemon starts.
enum MethodRoles {
    static let table: [String: Role] = {
        var table: [String: Role] = [:]
        for (role, methods) in byRole { for method in methods { table[method] = role } }
        return table
    }()

    private static let byRole: [(Role, [String])] = [
        (
            .observer,
            VarlinkService.methodNames + Screens.methodNames + [
                Daemon.Status.name, Daemon.Metrics.name, Plugins.List.name, Plugins.Describe.name,
                Containers.List.name, Containers.Describe.name, Contents.List.name,
                Contents.Get.name, Contents.Image.name, Filters.List.name, Votes.Tally.name,
                Comments.Thread.name,
                Notifications.Subscribe.name, Metrics.List.name, Metrics.Describe.name,
            ]
        ),
        (
            .member,
            [
                Votes.Cast.name, Votes.Retract.name, Comments.Post.name, Comments.Edit.name,
                Comments.Delete.name, Notifications.Publish.name, Screens.Activate.name,
            ]
        ),
        (
            .moderator,
            [
                Contents.Put.name, Contents.Remove.name, Votes.Ballots.name,
                Comments.Moderate.name, Comments.Pending.name, Containers.SetHidden.name,
                Containers.Move.name,
                Containers.Reload.name, Containers.SetOpen.name,
            ]
        ),
        (
            .admin,
            [
                Containers.Apply.name, Containers.Delete.name, Containers.Attach.name,
                Containers.Detach.name, Containers.Export.name, Containers.Restore.name,
                Plugins.Reload.name, Plugins.Release.name, Daemon.Reload.name,
                Daemon.SetLogLevel.name, Store.Backup.name, Store.Verify.name,
                People.Erase.name,
            ]
        ),
    ]

    /// The methods of some interfaces that have no entry.
    static func missing(in interfaces: [any VarlinkInterface.Type]) -> [String] {
        interfaces.flatMap { $0.methodNames }.filter { table[$0] == nil }
    }
}
