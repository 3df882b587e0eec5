/// The progress of a long command, on standard error where that is a terminal.
struct ProgressBar {
    private let clock = ContinuousClock()
    private let started = ContinuousClock.now
    private var drawn: ContinuousClock.Instant?
    private let isShown: Bool
    private let unit: Unit

    /// The noun behind the count.
    enum Unit {
        case items
        case bytes
    }

    init(unit: Unit = .items, isShown: Bool = Terminal.isErrorTerminal) {
        self.unit = unit
        self.isShown = isShown
    }

    /// Draws the bar, at most ten times a second.
    mutating func show(done: Int, position: Int, size: Int?) {
        guard isShown else { return }
        let now = clock.now
        if let drawn, now - drawn < .milliseconds(100) { return }
        drawn = now
        let seconds = (now - started) / .seconds(1)
        let text = Self.text(
            done: done, fraction: size.map { $0 > 0 ? Double(position) / Double($0) : 1 },
            seconds: seconds, width: Terminal.errorWidth ?? 80, unit: unit)
        Output.progress("\r\u{1B}[K\(text)")
    }

    /// Erases the bar.
    mutating func clear() {
        guard isShown, drawn != nil else { return }
        drawn = nil
        Output.progress("\r\u{1B}[K")
    }

    /// The time left, once it can be estimated.
    private static func timeLeft(_ fraction: Double, _ seconds: Double) -> String? {
        guard seconds >= 1, fraction > 0, fraction < 1 else { return nil }
        return Wording.duration((seconds / fraction - seconds).rounded(.up))
    }

    /// The bar: `[=====>    ]  43%  12,345 items  8,900/s  2s left`.
    static func text(
        done: Int, fraction: Double?, seconds: Double, width: Int, unit: Unit = .items
    ) -> String {
        let rate = Int(Double(done) / max(seconds, 0.001))
        var numbers =
            switch unit {
            case .items: "\(Wording.count(done)) items  \(Wording.count(rate))/s"
            case .bytes: "\(Wording.bytes(done))  \(Wording.bytes(rate))/s"
            }
        guard let fraction else { return DisplayWidth.cut(numbers, to: width - 1) }
        let percent = String(Int(min(1, max(0, fraction)) * 100))
        if let left = timeLeft(fraction, seconds) { numbers += "  \(left) left" }
        numbers = String(repeating: " ", count: 3 - percent.count) + "\(percent)%  \(numbers)"
        let room = min(40, width - DisplayWidth.of(numbers) - 5)
        guard room >= 5 else { return DisplayWidth.cut(numbers, to: width - 1) }
        let filled = Int(Double(room) * min(1, max(0, fraction)))
        let head = filled < room ? ">" : ""
        let bar =
            String(repeating: "=", count: filled) + head
            + String(repeating: " ", count: max(0, room - filled - head.count))
        return "[\(bar)]  \(numbers)"
    }
}
