import ArgumentParser
import CProcess
import Glibc
import Interfaces

struct TopCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "top", abstract: "Show what the daemon does, live, until q or Ctrl-C.",
        discussion: """
            Rates and times are those of the last interval: calls, errors and latencies by method, \
            commits and syncs, queues, notifications. Into a pipe, on a terminal that can't be drawn on, or \
            with --once, one report is printed after one interval; with --json the metrics of each interval are a line. When \
            the daemon is restarted it goes on by itself.
            """,
        examples: "atriumctl top")

    @Option(
        help: ArgumentHelp("Seconds between two updates, 0.1 to 86400.", valueName: "seconds"))
    var interval = 2.0

    @Flag(help: "Print one report and end.")
    var once = false

    @OptionGroup var connection: ConnectionOptions

    func validate() throws {
        guard interval >= 0.1, interval <= 86_400 else {
            throw ValidationError("--interval is from 0.1 to 86400 seconds.")
        }
    }

    func run() async throws {
        // Says at once what is wrong, where something is.
        let session = try await connection.connect()
        let feed = MetricsFeed(connection: connection, interval: .seconds(interval))
        if connection.json { return try await printJSON(session) }
        guard !once, Terminal.canRedraw, Curses.knowsTerminal else {
            return try await printOnce(session)
        }
        try await TopDisplay().run(feed, session)
    }

    private func printOnce(_ session: Session) async throws {
        let before = try await MetricsFeed.figures(session)
        try await Task.sleep(for: .seconds(interval))
        let change = MetricChange(before: before, after: try await MetricsFeed.figures(session))
        let view = TopView(width: Terminal.width, color: Terminal.hasColor)
        Output.bytes(Array((view.lines(change).joined(separator: "\n") + "\n").utf8))
    }

    private func printJSON(_ session: Session) async throws {
        guard !once else {
            _ = try await session.answer(Daemon.Metrics.self, .init())
            return
        }
        var (session, reconnection) = (session, Reconnection(connection))
        while true {
            do {
                _ = try await session.answer(Daemon.Metrics.self, .init())
                reconnection.succeeded()
                try await Task.sleep(for: .seconds(interval))
            } catch let failure as CommandFailure where failure.status == .unreachable {
                Output.note("atriumctl: lost the connection; trying again")
                session = try await reconnection.connect()
                Output.note("atriumctl: connected again")
            }
        }
    }
}

/// Asks for the metrics again and again, also of a daemon that was away in between.
struct MetricsFeed: Sendable {
    /// What one look gave.
    enum Look: Sendable {
        case figures(MetricFigures)
        /// There was no answer; it is tried again.
        case lost(CommandFailure)
        /// The daemon refused.
        case failed(CommandFailure)
    }

    let connection: ConnectionOptions
    let interval: Duration

    /// The metrics of this moment.
    static func figures(_ session: Session) async throws -> MetricFigures {
        MetricFigures(try await session.call(Daemon.Metrics.self, .init()).metrics)
    }

    /// Looks until the task is cancelled.
    func run(_ session: Session, show: (Look) -> Void) async {
        var session: Session? = session
        while !Task.isCancelled {
            do {
                let open: Session
                if let session { open = session } else { open = try await connection.connect() }
                session = open
                show(.figures(try await Self.figures(open)))
            } catch let failure as CommandFailure where failure.status == .unreachable {
                session = nil
                show(.lost(failure))
            } catch {
                return show(.failed(error as? CommandFailure ?? CommandFailure("\(error)")))
            }
            try? await Task.sleep(for: session == nil ? min(interval, .seconds(1)) : interval)
        }
    }
}

/// The whole terminal with what the daemon does.
final class TopDisplay {
    private enum Event: Sendable {
        case look(MetricsFeed.Look)
        case terminal(FullScreen.Event)
    }

    private var before: MetricFigures?
    private var change: MetricChange?
    private var notice: String?

    /// Shows it until the person, or a signal, ends that; a signal ends the process, once the terminal is given back.
    func run(_ feed: MetricsFeed, _ session: Session) async throws {
        if let signal = try await show(feed, session) { process_end_by(signal) }
    }

    /// Shows it; returns the signal that ended it, nil if the person did.
    private func show(_ feed: MetricsFeed, _ session: Session) async throws -> Int32? {
        let (events, continuation) = AsyncStream.makeStream(of: Event.self)
        let screen = FullScreen { continuation.yield(.terminal($0)) }
        let looking = Task { await feed.run(session) { continuation.yield(.look($0)) } }
        defer {
            looking.cancel()
            screen.leave()
        }
        for await event in events {
            switch event {
            case .terminal(.end(let signal)): return signal
            case .terminal(.key(FullScreen.interrupt)): return SIGINT
            case .terminal(.key(UInt8(ascii: "q"))): return nil
            case .terminal(.key): continue
            case .terminal(.resized): break
            case .look(.failed(let failure)): throw failure
            case .look(.lost): notice = "lost the connection; trying again"
            case .look(.figures(let figures)): update(with: figures)
            }
            draw(on: screen)
        }
        return nil
    }

    /// Counters begin anew with each run of the daemon: nothing is compared across.
    private func update(with figures: MetricFigures) {
        notice = nil
        let change = MetricChange(before: before ?? figures, after: figures)
        self.change = change.isOfOneRun ? change : MetricChange(before: figures, after: figures)
        before = figures
    }

    private func draw(on screen: FullScreen) {
        guard let change else { return }
        let view = TopView(
            width: Terminal.width, height: Terminal.height, color: Terminal.hasColor)
        screen.draw(view.lines(change, notice: notice))
    }
}
