public import AtriumKit
internal import ItemReading

/// The items of a service that answers by HTTP with JSON: `org.atrium.remote`.
///
/// Either the service has one document with all items, which is looked at now and then, and read when it is another
/// one; or it is asked for each search. A service that fails, or answers what can't be read, changes nothing: what
/// was shown stays, the problem says why, and it is left alone twice as long each time.
public final class Remote: Querying {
    /// What it understands.
    public static var settings: [Setting] { RemoteSource.settings }

    /// Who is told what changes.
    public weak var delegate: (any ContentListingDelegate)?
    /// Whether the document was never read so far.
    public private(set) var isLoading: Bool
    /// Whether the service is asked for each search.
    public var isAsked: Bool { source.question != nil }
    /// The items that the document had when it was read last; none of a service that is asked.
    public var items: [Item] { Array(known.values) }
    /// Says whose the items are.
    public var readOnlyReason: String? { "Its items are those of \(source.address.name)." }

    private let context: ComponentContext
    private let source: RemoteSource
    private let client = HTTPClient()
    private var known: [String: Item] = [:]
    private var validators = Validators()
    private var backOff = BackOff()
    private var isReading = false
    /// Whether it is to be read, changed or not, as soon as the read under way has ended.
    private var wantsWhole = false
    /// Whether somebody said during the read under way that there may be another one.
    private var wantsAgain = false
    /// When it asks by itself, or asks again a service that wants to be left alone.
    private var next: Wakeup?
    /// When it looks because somebody said so; what they say meanwhile puts it off no further.
    private var soon: Wakeup?
    /// What is replied while the service wants to be left alone.
    private var refusal: Refusal?

    /// Begins to read the document, if there is one.
    ///
    /// - Parameter context: its settings, and the fields that items have.
    /// - Throws: ``SettingError`` for settings that make no sense; a service that does not answer is none.
    public init(context: ComponentContext) throws {
        self.context = context
        source = try RemoteSource(context)
        isLoading = source.question == nil
        if let topic = source.topic { follow(topic) }
        read()
    }

    /// Reads the document again, changed or not.
    public func reload() {
        wantsWhole = true
        read()
    }

    /// Asks the service.
    public func ask(
        _ question: ContentQuestion,
        _ reply: @escaping (Result<ContentAnswer, Refusal>) -> Void
    ) {
        guard let parameters = source.question else {
            return reply(.failure(Refusal("Its items are those of a document.")))
        }
        if let refusal { return reply(.failure(refusal)) }
        let place: AnswerPlace
        do throws(Refusal) {
            place = try source.place(of: question, parameters)
        } catch {
            return reply(.failure(error))
        }
        let (source, client) = (source, client)
        context.background {
            try await source.answer(client, question, from: place, parameters)
        } then: { [weak self] result in
            switch result {
            case .success(let answer):
                self?.succeed()
                reply(.success(answer))
            case .failure(let error):
                self?.fail(error)
                reply(.failure(Refusal("\(error)")))
            }
        }
    }

    private func read() {
        guard source.question == nil, !isReading else { return }
        isReading = true
        if wantsWhole { validators = Validators() }
        (wantsWhole, wantsAgain) = (false, false)
        next?.cancel()
        soon?.cancel()
        soon = nil
        let (source, client, known, isFirst) = (source, client, known, isLoading)
        let validators = validators
        context.background {
            try await source.read(client, unless: validators, known, isFirst: isFirst)
        } then: { [weak self] result in
            guard let self else { return }
            isReading = false
            switch result {
            case .success(let reading):
                succeed()
                self.validators = reading.validators
                if let difference = reading.difference { show(difference) }
                wake(in: Double(self.source.interval) * .random(in: 0.95...1.05))
            case .failure(let error): fail(error)
            }
            // What is read may have been made before they wanted it.
            if wantsWhole {
                read()
            } else if wantsAgain {
                lookSoon()
            }
        }
    }

    private func show(_ difference: ItemDifference) {
        isLoading = false
        known = difference.items
        guard !difference.isWhole else {
            delegate?.contentListing(self, didChange: .replaceAll)
            return
        }
        // What comes may be the parent of what moves, and what goes have been one.
        if !difference.inserted.isEmpty {
            delegate?.contentListing(self, didChange: .insert(difference.inserted))
        }
        if !difference.updated.isEmpty {
            delegate?.contentListing(self, didChange: .update(difference.updated))
        }
        if !difference.removed.isEmpty {
            delegate?.contentListing(self, didChange: .remove(difference.removed))
        }
    }
}

// MARK: When it asks by itself

extension Remote {
    /// Looks at the document a moment after somebody said so, however often they say it meanwhile.
    private func follow(_ topic: String) {
        context.observe(topic) { [weak self] _ in
            guard let self else { return }
            if isAsked {
                delegate?.contentListing(self, didChange: .replaceAll)
            } else if isReading {
                wantsAgain = true
            } else {
                lookSoon()
            }
        }
    }

    private func lookSoon() {
        // One that fails is looked at when it was left alone long enough.
        guard soon == nil, backOff.failures == 0 else { return }
        soon = try? context.after(.seconds(1)) { [weak self] in self?.read() }
    }

    private func succeed() {
        backOff.succeed()
        context.report(problem: nil)
    }

    private func fail(_ error: any Error) {
        context.report(problem: "\(error)")
        let pause = (error as? RemoteProblem)?.pause
        if !isAsked {
            wake(in: backOff.fail(wanted: pause, chance: .random(in: 0...1)))
        } else if let pause, pause > 0 {
            // Otherwise the host has the pauses.
            refusal = Refusal("\(error)")
            wake(in: min(pause, BackOff.mostWanted))
        }
    }

    private func wake(in seconds: Double) {
        next?.cancel()
        next = try? context.after(.milliseconds(max(Int64(seconds * 1_000), 100))) { [weak self] in
            guard let self else { return }
            guard isAsked else { return read() }
            refusal = nil
            delegate?.contentListing(self, didChange: .replaceAll)
        }
    }
}

/// Exports the list.
@c(atrium_plugin_org_atrium_remote)
public func remotePlugin() -> UnsafeMutableRawPointer { exportPlugin(Remote.self) }
