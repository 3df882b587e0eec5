import Varlink

/// Answers the calls of org.example.greeter: `GreeterService` and `Greeter` are generated from its text.
struct FriendlyGreeter: GreeterService {
    func greet(_ parameters: Greeter.Greet.Parameters, call: VarlinkCall<Greeter.Greet.Reply>) {
        guard !parameters.name.isEmpty else { return call.fail(Greeter.Nobody()) }
        call.reply(.init(greeting: "Hello, \(parameters.name)!"))
    }

    func countdown(
        _ parameters: Greeter.Countdown.Parameters, call: VarlinkCall<Greeter.Countdown.Reply>
    ) {
        guard call.wantsMore else { return call.fail(VarlinkService.ExpectedMore()) }
        guard (0...100).contains(parameters.start) else {
            return call.fail(VarlinkService.InvalidParameter(parameter: "start"))
        }
        for number in (0..<parameters.start).reversed() {
            call.replyContinues(.init(number: number + 1))
        }
        call.reply(.init(number: 0))
    }
}

var router = VarlinkRouter(
    vendor: "Example", product: "Greeter", version: "1.0", url: "https://example.org")
FriendlyGreeter().register(in: &router)
let server = try await VarlinkServer.start(at: .path(CommandLine.arguments[1]), router: router)
print("Listening at \(CommandLine.arguments[1])")
await server.run()
