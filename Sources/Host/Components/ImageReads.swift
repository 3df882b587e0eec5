import AtriumKit
import DequeModule
import NIOCore

/// The pictures that a component is asked for: a few at a time, the others wait.
struct ImageReads {
    /// A picture that somebody waits for.
    struct Read {
        let item: String
        let field: String
        let done: Answer<ItemImage>
    }

    /// So many are read at a time.
    static let atOnce = 4
    /// So long somebody waits for one.
    static let patience = TimeAmount.seconds(30)

    private var running: [Int: Read] = [:]
    private var waiting: Deque<Read> = []
    private var last = 0

    /// How many wait for their turn.
    var waitingCount: Int { waiting.count }

    mutating func add(_ read: Read) { waiting.append(read) }

    /// The next one to be read, where it is its turn.
    mutating func next() -> (number: Int, read: Read)? {
        guard running.count < Self.atOnce, let read = waiting.popFirst() else { return nil }
        last += 1
        running[last] = read
        return (last, read)
    }

    /// One was read, or takes too long; nil: nobody waits for it any more.
    mutating func end(_ number: Int) -> Read? { running.removeValue(forKey: number) }

    /// The component is gone, and with it what it was reading.
    mutating func endAll() -> [Read] {
        defer { (running, waiting) = ([:], []) }
        return running.keys.sorted().compactMap { running[$0] } + waiting
    }
}

// Pictures of the component's own.
extension Slot {
    /// Has its component read an item's picture.
    ///
    /// - Parameters:
    ///   - item: the item, which is in its list.
    ///   - field: the field that names the picture.
    ///   - done: fails with `refused` or `componentUnavailable`.
    func readImage(of item: String, field: String, _ done: @escaping Answer<ItemImage>) {
        guard isAttached else { return done(.failure(absence)) }
        guard images.waitingCount < domain.limits.waitingCalls else {
            return done(
                .failure(
                    unavailable(
                        "\(images.waitingCount) pictures wait to be read already.", retryAfter: 1)))
        }
        images.add(ImageReads.Read(item: item, field: field, done: done))
        readImages()
    }

    /// The component has read a picture, or says why not.
    func wasRead(_ number: Int, _ result: Result<ItemImage, Refusal>) {
        guard let read = images.end(number) else { return }
        read.done(
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
            domain.after(ImageReads.patience) { [weak self] in
                guard let self, self.port === port, let read = images.end(number) else { return }
                let seconds = ImageReads.patience.nanoseconds / 1_000_000_000
                read.done(
                    .failure(
                        unavailable(
                            "It did not read the picture within \(seconds) s.", retryAfter: 5)))
                readImages()
            }
            port.readImage(number, of: read.item, field: read.field)
        }
    }
}
