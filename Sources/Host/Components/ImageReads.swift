import AtriumKit
import DequeModule
import NIOCore

/// The pictures that a component is asked for: a few at a time, the others wait.
struct ImageReads {
    /// A picture that somebody waits for.
    struct Read {
        let item: String
        let field: String
        let place: WaitingPlaces.Place
        let done: Answer<ItemImage>
    }

    /// So many are read at a time.
    static let atOnce = 4
    /// So long somebody waits for one, its turn included.
    static let patience = TimeAmount.seconds(30)

    /// Those that somebody waits for, by their numbers.
    private var reads: [Int: Read] = [:]
    /// Whose turn it is not yet; some of them may have been given up.
    private var waiting: Deque<Int> = []
    /// What the component works at, given up or not: such work keeps its place until it ends.
    private var running: Set<Int> = []
    private var last = 0
    /// The places of those that wait for their turn, or for what is being read.
    let places = WaitingPlaces()

    mutating func add(_ read: Read) -> Int {
        last += 1
        reads[last] = read
        waiting.append(last)
        return last
    }

    /// The next one to be read, where it is its turn.
    mutating func next() -> (number: Int, read: Read)? {
        while running.count < Self.atOnce, let number = waiting.popFirst() {
            guard let read = reads[number] else { continue }
            running.insert(number)
            return (number, read)
        }
        return nil
    }

    /// One was read; nil: nobody waits for it any more.
    mutating func end(_ number: Int) -> Read? {
        running.remove(number)
        return reads.removeValue(forKey: number)
    }

    /// One takes too long; nil: it was read.
    mutating func giveUp(_ number: Int) -> Read? { reads.removeValue(forKey: number) }

    /// The component is gone, and with it what it was reading.
    mutating func endAll() -> [Read] {
        defer { (reads, waiting, running) = ([:], [], []) }
        return reads.keys.sorted().compactMap { reads[$0] }
    }
}

// Pictures of the component's own.
extension Slot {
    /// Has its component read an item's picture.
    ///
    /// - Parameters:
    ///   - item: the item, which is in its list.
    ///   - field: the field that names the picture.
    ///   - user: whose call it is.
    ///   - done: fails with `refused` or `componentUnavailable`.
    func readImage(
        of item: String, field: String, by user: String, _ done: @escaping Answer<ItemImage>
    ) {
        guard isAttached else { return done(.failure(absence)) }
        let place: WaitingPlaces.Place
        do throws(WaitingPlaces.Full) {
            place = try images.places.take(for: user, of: domain.limits.waitingCalls)
        } catch {
            return done(.failure(unavailable(error.reason, retryAfter: 1)))
        }
        let number = images.add(
            ImageReads.Read(item: item, field: field, place: place, done: done))
        domain.after(ImageReads.patience) { [weak self] in
            guard let self, let read = images.giveUp(number) else { return }
            let seconds = ImageReads.patience.nanoseconds / 1_000_000_000
            read.done(
                .failure(
                    unavailable(
                        "It did not read the picture within \(seconds) s.", retryAfter: 5)))
        }
        readImages()
    }

    /// The component has read a picture, or says why not.
    func wasRead(_ number: Int, _ result: Result<ItemImage, Refusal>) {
        images.end(number)?.done(
            result.mapError { HostError($0, container: containerName, component: name) })
        readImages()
    }

    /// Those who wait for pictures of a component that is gone.
    func endImages() {
        for read in images.endAll() {
            read.done(.failure(unavailable("It ended while it read the picture.")))
        }
    }

    private func readImages() {
        guard let port, isAttached else { return }
        while let (number, read) = images.next() {
            port.readImage(number, of: read.item, field: read.field)
        }
    }
}
