import NIOCore
import Varlink

/// The domain behind the example service: keeps calls to be answered later, pushes to followers.
///
/// Unchecked: guarded by the loop, on which alone it is touched.
final class Desk: @unchecked Sendable {
    let loop: any EventLoop

    /// Texts of the `Hold` calls that were started, in order.
    private(set) var started: [String] = []
    private(set) var closed = 0
    private(set) var followers: [VarlinkCall<Text>] = []
    private var held: [String: VarlinkCall<Text>] = [:]
    private var waiters: [(isTrue: () -> Bool, promise: EventLoopPromise<Void>)] = []

    /// Whether a call of the domain is on the stack: entering it a second time is the bug to find.
    private var isEntered = false

    struct TookTooLong: Error {}

    init(loop: any EventLoop) {
        self.loop = loop
    }

    /// Runs a call of the domain, and whoever waits for what it changed.
    func enter(_ body: () -> Void) {
        precondition(!isEntered, "the domain was entered a second time")
        isEntered = true
        body()
        isEntered = false
        waiters.removeAll { waiter in
            guard waiter.isTrue() else { return false }
            waiter.promise.succeed()
            return true
        }
    }

    func hold(_ text: String, _ call: VarlinkCall<Text>) {
        enter {
            started.append(text)
            held[text] = call
            call.onClose { [self] in enter { closed += 1 } }
        }
    }

    /// Whether somebody waits for the answer of a held call; nil: none is held.
    func isAwaited(_ text: String) -> Bool? { held[text]?.isAwaited }

    /// Notes a text as started, with nothing to answer.
    func note(started text: String) { enter { started.append(text) } }

    func follow(_ call: VarlinkCall<Text>) {
        enter {
            followers.append(call)
            call.onClose { [self] in enter { closed += 1 } }
        }
    }

    /// Answers a held call: with its text, if nothing else is said.
    func release(_ text: String, saying answer: String? = nil) async throws {
        try await onLoop { [self] in
            enter { held.removeValue(forKey: text)?.reply(Text(answer ?? text)) }
        }
    }

    /// Sends a text to all followers, in one call of the domain.
    func push(_ text: String) {
        enter { for follower in followers { follower.replyContinues(Text(text)) } }
    }

    func onLoop<Result: Sendable>(
        _ body: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        try await loop.submit(body).get()
    }

    /// Waits until something holds, which is looked at after each call of the domain.
    ///
    /// Fails after 20 s.
    func wait(until isTrue: @escaping @Sendable (Desk) -> Bool) async throws {
        let future = loop.flatSubmit { [self] in
            let promise = loop.makePromise(of: Void.self)
            if isTrue(self) {
                promise.succeed()
            } else {
                waiters.append(({ isTrue(self) }, promise))
                let timer = loop.scheduleTask(in: .seconds(20)) { promise.fail(TookTooLong()) }
                promise.futureResult.whenComplete { _ in timer.cancel() }
            }
            return promise.futureResult
        }
        try await future.get()
    }
}
