public import Varlink

/// A service of every construct: what is generated for services compiles with it.
public struct Keeper: EverythingService {
    /// Makes one.
    public init() {}

    /// Answers the speed.
    public func hold(
        _ parameters: Everything.Hold.Parameters, call: VarlinkCall<Everything.Hold.Reply>
    ) {
        call.reply(.init(speed: parameters.one))
    }

    /// Answers nothing.
    public func `init`(
        _ parameters: Everything.Init.Parameters, call: VarlinkCall<Everything.Init.Reply>
    ) {
        call.reply(.init())
    }
}
