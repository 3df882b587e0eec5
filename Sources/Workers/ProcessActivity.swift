internal import Glibc

/// What a process does, as the kernel reports it: the busiest of its threads counts.
///
/// The first thread of a worker waits for the one that calls the component, so its state says nothing.
struct ProcessActivity {
    /// What a thread does, the busiest last.
    enum State: Int, Comparable {
        case asleep
        case stopped
        case atDisk
        case computing

        /// The state by its letter in the file `stat`.
        init(letter: Substring) {
            self =
                switch letter {
                case "R": .computing
                case "D": .atDisk
                case "T", "t": .stopped
                default: .asleep
                }
        }

        static func < (one: State, other: State) -> Bool { one.rawValue < other.rawValue }
    }

    let state: State
    /// The processes that it has started and that are its children still.
    let children: [String]
    /// The processor time of all threads, in ticks of the clock.
    private let ticks: Int

    /// Reads the state of a process; nil: it can't be read.
    init?(of process: String) {
        let folder = "/proc/\(process)"
        guard let status = KernelStatus(of: folder) else { return nil }
        // A plugin decides how many there are, and the loop waits for this.
        let threads = KernelFolder(path: folder + "/task").names.prefix(256)
            .map { folder + "/task/" + $0 }
        state =
            threads.compactMap { KernelStatus(of: $0) }.map { State(letter: $0.state) }.max()
            ?? State(letter: status.state)
        ticks = status.ticks
        children = threads.flatMap {
            KernelFolder(path: $0).words(of: "children").map(String.init)
        }
    }

    /// The state and the processor time, such as `computing, 4.5 s`.
    var words: String {
        let doing =
            switch state {
            case .asleep: "asleep"
            case .stopped: "stopped"
            case .atDisk: "waiting for a disk"
            case .computing: "computing"
            }
        return "\(doing), \(Double(ticks) / Double(max(1, sysconf(Int32(_SC_CLK_TCK))))) s"
    }
}
