import Glibc

/// Many measurements of the same thing.
struct Samples {
    private var values: [Double] = []

    /// Adds one.
    mutating func append(_ value: Double) { values.append(value) }

    /// The value that so many of a hundred do not exceed; 0 without any.
    func percentile(_ percent: Double) -> Double {
        guard !values.isEmpty else { return 0 }
        let sorted = values.sorted()
        let place = Int((Double(sorted.count - 1) * percent / 100).rounded())
        return sorted[place]
    }

    /// The middle one.
    var median: Double { percentile(50) }
}

/// How long things take.
enum Timing {
    /// Seconds of processor time that this thread has taken so far.
    static var processorSeconds: Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// Seconds that `body` takes.
    static func seconds(_ body: () throws -> Void) rethrows -> Double {
        let clock = ContinuousClock()
        let start = clock.now
        try body()
        return (clock.now - start).seconds
    }

    /// Runs `body` again and again for so many seconds, at least once.
    ///
    /// - Returns: Times a second.
    static func rate(for seconds: Double, _ body: () throws -> Void) rethrows -> Double {
        let clock = ContinuousClock()
        let start = clock.now
        var count = 0
        var elapsed = 0.0
        repeat {
            try body()
            count += 1
            elapsed = (clock.now - start).seconds
        } while elapsed < seconds
        return Double(count) / elapsed
    }
}

extension Duration {
    /// As a number.
    var seconds: Double {
        Double(components.seconds) + Double(components.attoseconds) / 1e18
    }
}
