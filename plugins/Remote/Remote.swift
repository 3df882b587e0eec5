public import AtriumKit
internal import ItemReading

/// The items of a service that answers by HTTP with JSON: `org.atrium.remote`.
///
/// Either the service has one document with all items, which is looked at now and then, and read when it is another
/// one; or it is asked for each search. A service that fails, or answers what can't be read, changes nothing: what
/// was shown stays, the problem says why, and it is left alone twice as long each time. What is wrong with one search
/// alone is sent to those who made it.
public final class Remote: Querying {
    /// What it understands.
    public static var settings: [Setting] { RemoteSource.settings }

    /// Who is notified of changes.
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
    /// The digest of what is kept over restarts; nil: nothing is.
    private var keptDigest: Int?
    private var backOff = BackOff()
    private var isReading = false
    /// Whether it was said that the document is too large to be kept.
    private var hasWarned = false
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
    /// What is reported; nil: nothing.
    private var problem: String?
    /// A question that was not answered in time, while nothing else was answered since.
    private var late: ContentQuestion?

    /// Begins to read the document, if there is one; throws for settings that make no sense, of which a service that
    /// does not answer is none.
    public init(context: ComponentContext) throws {
        self.context = context
        source = try RemoteSource(context)
        isLoading = source.question == nil
        if let topic = source.topic { follow(topic) }
        if isLoading, let kept = context.takeKept() { read(kept: kept) } else { read() }
    }

    /// Reads the document again, changed or not; looks whether a service that is asked and has failed is well.
    public func reload() {
        guard !isAsked else {
            refusal = nil
            return problem == nil ? () : probe()
        }
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
                self?.fail(error, at: question)
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
        let (validators, digest) = (validators, keptDigest)
        context.background {
            try await source.read(
                client, unless: validators, known, isFirst: isFirst, keeping: digest)
        } then: { [weak self] result in
            guard let self else { return }
            isReading = false
            switch result {
            case .success(let reading):
                succeed()
                self.validators = reading.validators
                if let difference = reading.difference { show(difference) }
                if let kept = reading.kept { keep(kept, reading.digest) }
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

    /// Shows the last good copy of before a restart, then asks for another one.
    private func read(kept bytes: [UInt8]) {
        isReading = true
        let source = source
        context.background {
            await source.read(kept: bytes)
        } then: { [weak self] result in
            guard let self else { return }
            isReading = false
            if case .success(let reading?) = result {
                validators = reading.validators
                keptDigest = reading.digest
                if let difference = reading.difference { show(difference) }
            }
            read()
        }
    }

    private func keep(_ bytes: [UInt8], _ digest: Int?) {
        keptDigest = nil
        do throws(Refusal) {
            try context.keep(bytes)
            keptDigest = digest
            hasWarned = false
        } catch {
            if !hasWarned {
                context.logger.warning(
                    "The document is not kept over restarts, and no older one: \(error.reason)")
            }
            hasWarned = true
            // What is kept is none of its versions.
            try? context.keep(nil)
        }
    }

    private func show(_ difference: ItemDifference) {
        isLoading = false
        let before = known
        known = difference.items
        difference.report(delegate, of: self)
        context.freeInBackground(before)
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
        late = nil
        report(nil)
        if isAsked, refusal == nil { next?.cancel() }
    }

    private func report(_ text: String?) {
        guard text != problem else { return }
        problem = text
        context.report(problem: text)
    }

    /// The document can't be read.
    private func fail(_ error: any Error) {
        report("\(error)")
        let pause = (error as? RemoteProblem)?.pause
        wake(in: backOff.fail(wanted: pause, chance: .random(in: 0...1)))
    }

    private func wake(in seconds: Double) {
        next?.cancel()
        next = try? context.after(.milliseconds(max(Int64(seconds * 1_000), 100))) { [weak self] in
            guard let self else { return }
            if isAsked { goOnAsking() } else { read() }
        }
    }
}

// MARK: A service that is asked and fails

extension Remote {
    /// A question, or the one whether the service is well, has no answer: that is its own problem, unless the service
    /// has none to others either.
    private func fail(_ error: any Error, at question: ContentQuestion?) {
        let problem = error as? RemoteProblem
        switch problem?.cause {
        case .question: return succeed()
        case .time:
            // It may be this one alone that takes so long.
            if let question, late.map({ isSame($0, question) }) ?? true {
                late = question
                return
            }
        case .service, nil: break
        }
        report("\(error)")
        if let pause = problem?.pause, pause > 0 {
            refusal = Refusal("\(error)")
            wake(in: min(pause, BackOff.mostWanted))
        } else if refusal == nil, next?.isActive != true, !isReading {
            wake(in: backOff.fail(chance: .random(in: 0...1)))
        }
    }

    private func isSame(_ one: ContentQuestion, _ other: ContentQuestion) -> Bool {
        one.search == other.search && one.path == other.path
    }

    /// The service was left alone long enough.
    private func goOnAsking() {
        guard refusal != nil else { return probe() }
        refusal = nil
        delegate?.contentListing(self, didChange: .replaceAll)
        // Nobody may have it on a screen.
        if problem != nil { wake(in: backOff.fail(chance: .random(in: 0...1))) }
    }

    /// Asks whether the service is well, so that what is reported does not stay when nobody asks any more.
    private func probe() {
        guard let parameters = source.question, !isReading else { return }
        isReading = true
        next?.cancel()
        let (source, client) = (source, client)
        context.background {
            try await source.probe(client, parameters)
        } then: { [weak self] result in
            guard let self else { return }
            isReading = false
            switch result {
            case .success: succeed()
            case .failure(let error): fail(error, at: nil)
            }
        }
    }
}

/// Exports the list.
@c(atrium_plugin_org_atrium_remote)
public func remotePlugin() -> UnsafeMutableRawPointer { exportPlugin(Remote.self) }
