/// Every metric of the daemon: the one place with their names, kinds and meanings.
///
/// Whoever records names an entry of this table; a reply has them in its order.
public enum MetricCatalog {
    /// All of them.
    public static let all = calls + connections + store + containers + clients + process

    /// The metric of a name; nil for one that is not ours.
    public static subscript(name: String) -> MetricDescription? { byName[name] }

    private static let byName = Dictionary(
        uniqueKeysWithValues: all.map { ($0.name, $0) })

    private static let calls: [MetricDescription] = [
        .counter(
            "atrium_calls_total",
            "Calls by method and outcome: ok, an error's name, or dropped where the connection ended "
                + "first. Calls of methods that there are not stand under the method unknown."),
        .histogram(
            "atrium_call_seconds",
            "Time from reading a call to having its reply, or the first of several, ready to send.",
            .seconds),
        .gauge("atrium_calls_in_flight", "Calls that are not answered in full yet."),
        .histogram(
            "atrium_loop_turn_seconds",
            "Time of a turn of the event loop: nobody else is answered meanwhile.", .seconds),
        .gauge("atrium_reply_queue_bytes", "Bytes of replies that wait to be sent."),
        .gauge(
            "atrium_charged_bytes",
            "Bytes of memory that users are charged with for messages, calls under way and replies."
        ),
    ]

    private static let connections: [MetricDescription] = [
        .gauge("atrium_connections", "Connections that are open."),
        .counter("atrium_connections_accepted_total", "Connections that were accepted."),
        .counter("atrium_connections_refused_total", "Connections beyond the limits."),
        .counter(
            "atrium_protocol_violations_total",
            "Connections closed for what they sent, by what was wrong with it."),
        .counter(
            "atrium_overflows_total",
            "Connections closed because they did not read, or kept too much in memory."),
        .counter(
            "atrium_timeouts_total", "Connections closed because they took too long for a call."),
        .counter("atrium_received_bytes_total", "Bytes that came in on connections."),
        .counter("atrium_sent_bytes_total", "Bytes that went out on connections."),
    ]

    private static let store: [MetricDescription] = [
        .histogram(
            "atrium_commit_entries", "Entries that were committed in one transaction.", .counts),
        .histogram(
            "atrium_commit_seconds", "Time of a transaction, its commit included.", .seconds),
        .histogram(
            "atrium_sync_seconds",
            "Time of a transaction's commit: the sync to disk.", .seconds
        ),
        .gauge(
            "atrium_writer_queue_entries",
            "Entries, and reads behind them, that wait for the writer."),
        .gauge("atrium_store_writable", "1 while the store takes writes, 0 after a storage error."),
        .gauge("atrium_store_bytes", "Bytes that the store's files take."),
        .gauge("atrium_sequence", "The last durable sequence."),
    ]

    private static let containers: [MetricDescription] = [
        .gauge("atrium_containers", "Containers."),
        .gauge("atrium_items", "Items in the lists of a container."),
        .gauge(
            "atrium_lane_entries", "Commands of a container that are not settled yet."),
        .counter(
            "atrium_commands_total", "Commands that were passed on to a container's components."),
        .counter("atrium_entries_total", "Entries of a container that were made durable."),
        .counter("atrium_refusals_total", "Commands that a container's components refused."),
        .counter(
            "atrium_failed_entries_total",
            "Entries of a container that could not be made durable, and those that rested on them."),
        .gauge("atrium_plugins", "Plugins by state."),
        .gauge("atrium_workers", "Components that live in a process of their own."),
        .counter(
            "atrium_worker_restarts_total",
            "How often a component's process ended and was started again."),
        .gauge("atrium_problems", "What is wrong, as status shows it."),
    ]

    private static let clients: [MetricDescription] = [
        .gauge("atrium_screens", "Open screens, those that linger included."),
        .gauge("atrium_screen_bytes", "Bytes of memory that what screens show takes, roughly."),
        .counter("atrium_screen_revisions_total", "Revisions of screens that were sent."),
        .gauge("atrium_subscriptions", "Open subscriptions."),
        .counter(
            "atrium_notifications_delivered_total", "Notifications that were sent to subscribers."),
        .counter("atrium_gaps_total", "Gaps that subscribers got, by reason."),
    ]

    private static let process: [MetricDescription] = [
        .gauge("atrium_resident_memory_bytes", "Memory of the daemon's process that is resident."),
        .counter("atrium_cpu_seconds_total", "CPU time of the daemon's process."),
        .gauge("atrium_open_fds", "Open file descriptors of the daemon's process."),
        .gauge("atrium_max_fds", "How many file descriptors the daemon's process may have."),
        .gauge("atrium_start_time_seconds", "When the daemon started, in seconds since 1970."),
        .counter("atrium_log_messages_total", "Messages that were logged, by level."),
        .gauge("atrium_build_info", "1, with the daemon's version as a label."),
    ]
}
