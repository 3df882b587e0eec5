import NIOCore
import NIOPosix
import PluginLoader
import Synchronization

@testable import Host

/// Components that are made when the test says so, beside others that are made at once.
final class HeldLauncher: ComponentLauncher {
    /// What a test holds back.
    final class Script: Sendable {
        private typealias Made = NIOLoopBound<() -> Void>

        private let state: Mutex<(isHeld: Bool, held: [Made], asked: [String])>

        init(isHeld: Bool = true) { state = Mutex((isHeld, [], [])) }

        /// The components that were to be made so far.
        var asked: [String] { state.withLock { $0.asked } }

        /// Holds components back from now on.
        func hold() { state.withLock { $0.isHeld = true } }

        /// Makes those that were held back; on the loop.
        func release() {
            let held = state.withLock { state in
                state.isHeld = false
                defer { state.held = [] }
                return state.held
            }
            for made in held { made.value() }
        }

        fileprivate func take(_ name: String, _ make: @escaping () -> Void, _ loop: any EventLoop) {
            let bound = NIOLoopBound(make, eventLoop: loop)
            let isHeld = state.withLock { state in
                state.asked.append(name)
                if state.isHeld { state.held.append(bound) }
                return state.isHeld
            }
            if !isHeld { make() }
        }
    }

    private let script: Script

    init(_ script: Script) { self.script = script }

    func launch(
        _ request: LaunchRequest, owner: any PortOwner,
        _ done: @escaping (Result<any ComponentPort, LaunchFailure>) -> Void
    ) -> LaunchCancellation {
        guard let loop = MultiThreadedEventLoopGroup.currentEventLoop else { return {} }
        var isGivenUp = false
        script.take(
            request.component,
            {
                guard !isGivenUp else { return }
                InProcessLauncher(loop: loop).launch(request, owner: owner, done)
            }, loop)
        return { isGivenUp = true }
    }

    func describe(
        _ plugin: Plugin, _ done: @escaping (Result<[SettingDescription], LaunchFailure>) -> Void
    ) { plugin.describe(done) }
}
