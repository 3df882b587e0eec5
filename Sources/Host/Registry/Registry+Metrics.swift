import PluginLoader
import Store

/// The value of one gauge, read at one moment.
public struct MetricReading: Sendable, Hashable {
    /// The metric's name, in Prometheus' form.
    public let name: String
    /// The labels that distinguish it from other readings of the same metric.
    public let labels: [String: String]
    /// The value.
    public let value: Int

    init(_ name: String, _ value: Int, _ labels: [String: String] = [:]) {
        self.name = name
        self.labels = labels
        self.value = value
    }
}

// Gauges, which are read on request; counters are kept where things happen.
extension Registry {
    /// The present values of all gauges; the catalogue of metrics describes each.
    public func readings() -> [MetricReading] {
        let status = status(hasDetails: false)
        return [
            MetricReading("atrium_sequence", Int(status.sequence)),
            MetricReading("atrium_containers", status.containers),
            MetricReading("atrium_workers", status.workers),
            MetricReading("atrium_subscriptions", status.subscribers),
            MetricReading("atrium_screens", status.screens),
            MetricReading("atrium_screen_bytes", state.screens.bytes),
            MetricReading("atrium_problems", status.problems.count),
            MetricReading("atrium_store_bytes", status.storeBytes),
            MetricReading("atrium_store_writable", domain.store.unavailability == nil ? 1 : 0),
            MetricReading("atrium_writer_queue_entries", domain.store.waitingCount),
        ] + pluginGauges + containerGauges
    }

    private var pluginGauges: [MetricReading] {
        var counts: [PluginStatus.State: Int] = [:]
        for plugin in plugins.plugins { counts[plugin.state, default: 0] += 1 }
        return counts.map { MetricReading("atrium_plugins", $0.value, ["state": $0.key.rawValue]) }
    }

    /// The readings of each container, up to a limit; the remaining ones in alphabetical order are added up.
    private var containerGauges: [MetricReading] {
        let names = containers.keys.sorted()
        let labels =
            names.prefix(ContainerMeters.limit)
            + (names.count > ContainerMeters.limit ? [ContainerMeters.others] : [])
        var items = Dictionary(labels.map { ($0, 0) }) { first, _ in first }
        var entries = items
        for (place, name) in names.enumerated() {
            let label = place < ContainerMeters.limit ? name : ContainerMeters.others
            items[label]? += containers[name]?.itemCount ?? 0
            entries[label]? += containers[name]?.lane.count ?? 0
        }
        return items.map { MetricReading("atrium_items", $0.value, ["container": $0.key]) }
            + entries.map { MetricReading("atrium_lane_entries", $0.value, ["container": $0.key]) }
    }
}
