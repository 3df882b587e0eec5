public import CoreMetrics
import Synchronization

/// Keeps what the process records through swift-metrics, to be read when somebody asks.
///
/// Recording touches atomics alone: no lock, no memory, no look-up. The lock is taken where an instrument
/// is made, destroyed, or read. Two instruments of one name and the same labels count together, and
/// are forgotten when both are destroyed. Times and aggregating recorders become histograms with the
/// buckets that ``MetricCatalog`` names.
///
/// A backend of our own: swift-prometheus is none of the packages that this one is built with, and all it
/// would add, the text, is written by `atriumctl metrics`.
public final class InstrumentPanel: MetricsFactory {
    /// What the process's modules record with, once it was made the metrics system's factory.
    public static let shared = InstrumentPanel()

    /// The most that are kept; what is made beyond counts nowhere.
    static let limit = 10_000

    private let kept = Mutex<[Key: Kept]>([:])

    private struct Key: Hashable {
        let name: String
        let labels: [String: String]
    }

    private struct Kept {
        let cell: any Cell
        var users = 1
    }

    /// A panel of which nothing is recorded yet.
    public init() {}

    /// What was recorded, in no order.
    ///
    /// A histogram without a value is left out: its many rows would say nothing.
    public func read() -> [MetricSample] {
        let all = kept.withLock { $0.map { (key: $0.key, cell: $0.value.cell) } }
        return all.compactMap { key, cell in
            cell.reading.map { MetricSample(key.name, key.labels, $0) }
        }
    }

    /// Makes a counter's cell.
    public func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        make(label, dimensions, CounterCell())
    }

    /// Makes a gauge's cell.
    public func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        makeGauge(label, dimensions)
    }

    /// Makes a histogram's cell, or a gauge's for what is not aggregated.
    public func makeRecorder(
        label: String, dimensions: [(String, String)], aggregate: Bool
    ) -> any RecorderHandler {
        guard aggregate else { return makeGauge(label, dimensions) }
        return makeHistogram(label, dimensions, .counts)
    }

    /// Makes a histogram's cell, which keeps nanoseconds and reports seconds.
    public func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        makeHistogram(label, dimensions, .seconds)
    }

    /// Forgets a counter once nobody uses it.
    public func destroyCounter(_ handler: any CounterHandler) { forget(handler) }

    /// Forgets a gauge once nobody uses it.
    public func destroyMeter(_ handler: any MeterHandler) { forget(handler) }

    /// Forgets a histogram once nobody uses it.
    public func destroyRecorder(_ handler: any RecorderHandler) { forget(handler) }

    /// Forgets a histogram once nobody uses it.
    public func destroyTimer(_ handler: any TimerHandler) { forget(handler) }

    private func makeGauge(_ label: String, _ dimensions: [(String, String)]) -> GaugeCell {
        make(label, dimensions, GaugeCell())
    }

    private func makeHistogram(
        _ label: String, _ dimensions: [(String, String)], _ buckets: Buckets
    ) -> HistogramCell {
        make(label, dimensions, HistogramCell(MetricCatalog[label]?.buckets ?? buckets))
    }

    /// The cell there is, or a new one; one that counts nowhere where the name is another kind's.
    private func make<New: Cell>(
        _ label: String, _ dimensions: [(String, String)], _ new: New
    ) -> New {
        let key = Key(name: label, labels: Dictionary(dimensions) { _, last in last })
        return kept.withLock { kept in
            guard let found = kept[key]?.cell else {
                if kept.count < Self.limit { kept[key] = Kept(cell: new) }
                return new
            }
            guard let same = found as? New else { return new }
            kept[key]?.users += 1
            return same
        }
    }

    private func forget(_ handler: AnyObject) {
        kept.withLock { kept in
            guard let key = kept.first(where: { $0.value.cell === handler })?.key else {
                return
            }
            kept[key]?.users -= 1
            if kept[key]?.users == 0 { kept[key] = nil }
        }
    }
}
