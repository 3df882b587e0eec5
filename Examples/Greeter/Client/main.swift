import Varlink

/// Talks to the service at an address such as unix:/tmp/greeter, or the path alone.
let client = try await VarlinkClient.connect(to: VarlinkAddress(CommandLine.arguments[1]))

// What any service says of itself.
let info = try await client.call(VarlinkService.GetInfo.self, .init())
print("This is \(info.product) \(info.version) by \(info.vendor).")

// One call, one reply.
let reply = try await client.call(Greeter.Greet.self, .init(name: "World"))
print(reply.greeting)

// One call, many replies: as many as are read.
for try await step in client.stream(Greeter.Countdown.self, .init(start: 3)) {
    print(step.number)
}

// An error of the interface, as its type.
do {
    _ = try await client.call(Greeter.Greet.self, .init(name: ""))
} catch let error as VarlinkRemoteError {
    guard error.as(Greeter.Nobody.self) != nil else { throw error }
    print("There is nobody to greet.")
}
