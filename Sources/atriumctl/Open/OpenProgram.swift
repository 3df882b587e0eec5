import CProcess
import Dispatch
import Glibc
import Interfaces

/// `atriumctl open` on a terminal: all that is drawn and typed is on one thread, the calls are on others.
final class OpenProgram {
    private enum End {
        case quit
        /// The number of the signal that asked for it.
        case signal(Int32)
        case failed(CommandFailure)
    }

    /// The most keys that are read before signals are looked at and the screen is drawn.
    private static let mostKeys = 4096

    private let connection: ConnectionOptions
    private let first: Screens.Open.Parameters
    private let mayGrow: Bool
    private let events: EventQueue
    private let signals: Int32
    private let performer: RequestPerformer
    private var session: Session?
    private var browser: Browser
    private var curses: Curses?
    private var following: Task<Void, Never>?
    private var choices: SharedChoices
    /// How many screens were opened before.
    private var screen = 0
    /// The item to focus on once the screen is there.
    private var lead: String?
    private var mayModerate: Bool?
    /// Whether the terminal library may hold more keys than were read.
    private var hasMoreKeys = false

    /// - Throws: ``CommandFailure`` where the system has no more descriptors.
    init(
        _ session: Session, connection: ConnectionOptions, parameters: Screens.Open.Parameters
    ) throws {
        (self.session, self.connection) = (session, connection)
        // Who says how many wants no more; else there are more than are in sight, so that scrolling waits for nothing.
        mayGrow = parameters.limit == nil
        var parameters = parameters
        parameters.limit = parameters.limit ?? max(100, min((Terminal.height ?? 0) * 3, 1000))
        first = parameters
        events = try EventQueue()
        let pipe = try EventQueue.pipe()
        signals = pipe.reading
        _ = process_write_signals(pipe.writing)
        performer = RequestPerformer(
            options: connection, actor: parameters.actor, events: events)
        choices = SharedChoices(parameters)
        browser = Self.browser(parameters, mayGrow: mayGrow)
    }

    /// Shows the container until the person, or a signal, ends that.
    static func run(
        _ session: Session, connection: ConnectionOptions, parameters: Screens.Open.Parameters
    ) async throws {
        let queue = DispatchQueue(label: "terminal")
        let failure: CommandFailure? = try await withCheckedThrowingContinuation { then in
            queue.async {
                do {
                    let program = try OpenProgram(
                        session, connection: connection, parameters: parameters)
                    then.resume(returning: program.run())
                } catch {
                    then.resume(throwing: error)
                }
            }
        }
        if let failure { throw failure }
    }

    private func run() -> CommandFailure? {
        follow(first)
        let calling = Task { [performer, container = browser.screen.container] in
            await performer.run(container: container)
        }
        defer {
            calling.cancel()
            following?.cancel()
        }
        var end: End?
        while end == nil {
            end = turn()
            if end == nil { draw() }
        }
        curses?.leave()
        switch end {
        case .failed(let failure): return failure
        case .signal(let number): process_end_by(number)
        case .quit, nil: break
        }
        return nil
    }

    // MARK: - What happens

    /// Waits for something to happen, and takes it in.
    private func turn() -> End? {
        var waiting = [events.descriptor, signals].map {
            pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
        }
        if curses != nil {
            waiting.append(pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0))
        }
        let change = browser.nextChange.map { max(0, ($0 - WireTime.now) * 1000) + 1 }
        let next = hasMoreKeys ? 0 : change
        poll(&waiting, nfds_t(waiting.count), next.map { Int32(min($0, 60_000)) } ?? -1)
        browser.pass(to: WireTime.now)
        // Keys first: they were meant for what is drawn, and not for what comes now.
        if let end = takeKeys() { return end }
        for event in events.drain() {
            if let end = handle(event) { return end }
        }
        if let end = handleSignals() { return end }
        // Nobody is there any more.
        let gone = Int16(POLLHUP) | Int16(POLLERR) | Int16(POLLNVAL)
        if waiting.count > 2, waiting[2].revents & gone != 0 { return .signal(SIGHUP) }
        choices.set(browser)
        return nil
    }

    /// Presses the keys that were read; signals are looked at after each, as many keys may take long.
    private func takeKeys() -> End? {
        var keys = (curses?.keys(most: Self.mostKeys) ?? [])[...]
        hasMoreKeys = keys.count == Self.mostKeys
        while let key = browser.takeKey(from: &keys) {
            for effect in browser.press(key) {
                if let end = act(effect) { return end }
            }
            if let end = handleSignals() { return end }
        }
        return nil
    }

    private func handleSignals() -> End? {
        for number in EventQueue.bytes(from: signals) {
            if let end = handle(signal: Int32(number)) { return end }
        }
        return nil
    }

    private func handle(_ event: EventQueue.Event) -> End? {
        switch event {
        case .revision(let reply, let screen):
            guard screen == self.screen else { return nil }
            return apply(reply)
        case .lost(let failure, let screen):
            guard screen == self.screen else { return nil }
            browser.status.lose(
                failure.status == .unreachable ? "the connection is lost" : failure.sentence)
        case .ended(let failure, let screen):
            guard screen == self.screen else { return nil }
            return failure.map(End.failed) ?? .quit
        case .done(let request, let revision, let text, let screen):
            // What was done on a screen that one was led away from is no news on this one.
            guard screen == browser.screen.root.screen else { return nil }
            browser.done(request, revision: revision, text: text)
        case .found(let filters, let question): browser.receive(found: filters, for: question)
        case .page(let entries, let next, let query):
            for effect in browser.receive(page: entries, next: next, of: query) { _ = act(effect) }
        case .outline(let outline, let container): browser.screen.add(outline, of: container)
        case .queue(let queue): browser.receive(queue)
        case .failed(let request, let failure, let screen, let part):
            let isHere = screen == browser.screen.root.screen && part == browser.screen.part
            browser.failed(request, failure, isHere: isHere)
        case .mayModerate(let may): (mayModerate, browser.mayModerate) = (may, may)
        }
        return nil
    }

    private func apply(_ reply: Screens.Open.Reply) -> End? {
        do {
            // What can't be opened is reported before the alternate screen is entered.
            if curses == nil {
                curses = Curses()
                guard curses != nil else {
                    return .failed(CommandFailure("this terminal can't be drawn on"))
                }
                measure()
            }
            var effects = try browser.apply(reply)
            if let item = lead { effects.append(.call(.focus(item))) }
            lead = nil
            for effect in effects {
                if let end = act(effect) { return end }
                // The others are for the screen that one is led away from.
                if case .go = effect { break }
            }
        } catch {
            return .failed(error as? CommandFailure ?? CommandFailure("\(error)"))
        }
        return nil
    }

    private func handle(signal: Int32) -> End? {
        switch signal {
        case SIGWINCH:
            curses?.resize()
            measure()
        case SIGTSTP: suspend()
        default: return .signal(signal)
        }
        return nil
    }

    private func act(_ effect: Effect) -> End? {
        switch effect {
        case .call(let request, let part):
            let part = part ?? browser.screen.part
            performer.send(
                request, container: browser.screen.containerName(of: part),
                screen: browser.screen.root.screen,
                part: part)
        case .go(let container, let item): go(container, item)
        case .redraw: curses?.redraw()
        case .quit: return .quit
        }
        return nil
    }

    private func suspend() {
        curses?.suspend()
        measure()
    }

    private func measure() {
        guard let size = curses?.size else { return }
        browser.resize(rows: size.rows, columns: size.columns)
    }

    private func draw() {
        let view = BrowserView(browser)
        curses?.draw(view.rows, caret: view.caret)
    }

    // MARK: - Screens

    /// Opens another container, to which a delegate has led the screen.
    private func go(_ container: String, _ item: String?) {
        following?.cancel()
        screen += 1
        lead = item
        let parameters = Screens.Open.Parameters(
            container: container, limit: first.limit, actor: first.actor)
        let hasDraft = browser.keepDraft()
        let drafts = browser.drafts
        browser = Self.browser(parameters, mayGrow: mayGrow)
        (browser.mayModerate, browser.drafts) = (mayModerate, drafts)
        browser.pass(to: WireTime.now)
        measure()
        browser.status.say(
            "led to \(container)" + (hasDraft ? "; c has what you were writing" : ""))
        choices = SharedChoices(parameters)
        follow(parameters)
    }

    private func follow(_ parameters: Screens.Open.Parameters) {
        let (events, connection, screen) = (events, connection, screen)
        let (open, choices) = (session, choices)
        session = nil
        following = Task {
            do {
                let session: Session
                if let open { session = open } else { session = try await connection.connect() }
                var live = LiveScreen(connection: connection, parameters: parameters)
                try await live.follow(session) { event in
                    switch event {
                    case .revision(let reply, _): events.post(.revision(reply, of: screen))
                    case .lost(let failure): events.post(.lost(failure, of: screen))
                    }
                } update: {
                    choices.update(&$0)
                }
                events.post(.ended(nil, of: screen))
            } catch {
                let failure = error as? CommandFailure ?? CommandFailure("\(error)")
                events.post(.ended(failure, of: screen))
            }
        }
    }

    private static func browser(
        _ parameters: Screens.Open.Parameters, mayGrow: Bool
    ) -> Browser {
        Browser(
            container: parameters.container, actor: parameters.actor ?? "unix:\(getuid())",
            search: parameters.search ?? "", sort: parameters.sort ?? [],
            limit: parameters.limit ?? 50, mayGrow: mayGrow)
    }
}
