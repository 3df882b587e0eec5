import AtriumKit
import DequeModule
import NIOCore

/// The pictures that a slot's component is asked for: a few at a time, the others are queued.
final class ImageReads {
    /// A picture that somebody waits for.
    private struct Read {
        let item: String
        let field: String
        let permit: WaitPermits.Permit
        let done: Answer<ItemImage>
    }

    /// The maximum number of pictures that are read at a time.
    static let atOnce = 4
    /// How long a call waits for a picture, including the time in the queue.
    static let patience = TimeAmount.seconds(30)

    private unowned let slot: Slot
    /// The pictures that somebody waits for, by number.
    private var reads: [Int: Read] = [:]
    /// The numbers that are queued; some of them may have been given up.
    private var waiting: Deque<Int> = []
    /// The numbers that the component is reading.
    ///
    /// One that was given up keeps its place until the component ends it.
    private var running: Set<Int> = []
    private var last = 0
    /// The permits of the calls that wait, whether queued or being read.
    private let permits = WaitPermits()

    init(of slot: Slot) { self.slot = slot }

    /// Asks the component for the picture that a field of an item in its list names; fails with `refused` or
    /// `componentUnavailable`.
    func read(
        of item: String, field: String, by user: String, _ done: @escaping Answer<ItemImage>
    ) {
        guard slot.isAttached else { return done(.failure(slot.absence)) }
        let permit: WaitPermits.Permit
        do throws(WaitPermits.Full) {
            permit = try permits.acquire(for: user, of: slot.domain.limits.waitingCalls)
        } catch {
            return done(.failure(slot.unavailable(error.reason, retryAfter: 1)))
        }
        last += 1
        let number = last
        reads[number] = Read(item: item, field: field, permit: permit, done: done)
        waiting.append(number)
        slot.domain.timers.after(Self.patience) { [weak slot] in slot?.images.giveUp(number) }
        pump()
    }

    /// Handles the picture that the component has read, or its refusal.
    func ended(_ number: Int, _ result: Result<ItemImage, Refusal>) {
        running.remove(number)
        reads.removeValue(forKey: number)?.done(
            result.mapError {
                HostError($0, container: slot.containerName, component: slot.name)
            })
        pump()
    }

    /// Fails the calls that wait for pictures of a component that is gone.
    func endAll() {
        let ended = reads.sorted { $0.key < $1.key }
        (reads, waiting, running) = ([:], [], [])
        for (_, read) in ended {
            read.done(.failure(slot.unavailable("It ended while it read the picture.")))
        }
    }

    private func giveUp(_ number: Int) {
        guard let read = reads.removeValue(forKey: number) else { return }
        let seconds = Self.patience.nanoseconds / 1_000_000_000
        read.done(
            .failure(
                slot.unavailable(
                    "It did not read the picture within \(seconds) s.", retryAfter: 5)))
    }

    private func pump() {
        guard let port = slot.port, slot.isAttached else { return }
        while running.count < Self.atOnce, let number = waiting.popFirst() {
            guard let read = reads[number] else { continue }
            running.insert(number)
            port.readImage(number, of: read.item, field: read.field)
        }
    }
}
