import AtriumKit
import DequeModule
import NIOCore

/// The pictures that a component is asked for: a few at a time, the others are queued.
struct ImageReads {
    /// A picture that somebody waits for.
    struct Read {
        let item: String
        let field: String
        let place: WaitingPlaces.Place
        let done: Answer<ItemImage>
    }

    /// The maximum number of pictures that are read at a time.
    static let atOnce = 4
    /// How long a call waits for a picture, including the time in the queue.
    static let patience = TimeAmount.seconds(30)

    /// The pictures that somebody waits for, by number.
    private var reads: [Int: Read] = [:]
    /// The numbers that are queued; some of them may have been given up.
    private var waiting: Deque<Int> = []
    /// The numbers that the component is reading.
    ///
    /// One that was given up keeps its place until the component ends it.
    private var running: Set<Int> = []
    private var last = 0
    /// The places of the calls that wait, whether queued or being read.
    let places = WaitingPlaces()

    mutating func add(_ read: Read) -> Int {
        last += 1
        reads[last] = read
        waiting.append(last)
        return last
    }

    /// Takes the next picture from the queue, if one more may be read now.
    mutating func next() -> (number: Int, read: Read)? {
        while running.count < Self.atOnce, let number = waiting.popFirst() {
            guard let read = reads[number] else { continue }
            running.insert(number)
            return (number, read)
        }
        return nil
    }

    /// Ends a read; returns nil if nobody waits for the picture any more.
    mutating func end(_ number: Int) -> Read? {
        running.remove(number)
        return reads.removeValue(forKey: number)
    }

    /// Gives up a read that takes too long; returns nil if it has ended.
    mutating func giveUp(_ number: Int) -> Read? { reads.removeValue(forKey: number) }

    /// Ends all reads, because the component is gone; returns those that somebody waits for.
    mutating func endAll() -> [Read] {
        defer { (reads, waiting, running) = ([:], [], []) }
        return reads.keys.sorted().compactMap { reads[$0] }
    }
}

// Pictures that the component itself reads.
extension Slot {
    /// Asks the component for the picture of an item.
    ///
    /// - Parameters:
    ///   - item: the item, which is in the component's list.
    ///   - field: the field that names the picture.
    ///   - user: whose call it is.
    ///   - done: the picture; fails with `refused` or `componentUnavailable`.
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

    /// Handles the picture that the component has read, or its refusal.
    func wasRead(_ number: Int, _ result: Result<ItemImage, Refusal>) {
        images.end(number)?.done(
            result.mapError { HostError($0, container: containerName, component: name) })
        readImages()
    }

    /// Fails the calls that wait for pictures of a component that is gone.
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
