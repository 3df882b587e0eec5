internal import Glibc
public import JSONCodec

/// The interfaces of a service, and the handlers of their methods.
///
/// A value: it is complete before the server is made with it, and the same for all connections. It answers
/// `org.varlink.service` by itself.
public struct VarlinkRouter: Sendable {
    /// Decides whether a peer may call a method: nil for yes.
    public typealias Authorization = @Sendable (_ peer: Peer) -> VarlinkDenial?

    /// Returns the check that decides which peers may call a method, given by its full name; nil: all may.
    ///
    /// Called once for each method, when a server is made. The check that it returns runs on the loop with each call,
    /// before the call's parameters are read. Default: all peers may call all methods.
    public var authorize: (@Sendable (_ method: String) -> Authorization?)?

    /// Returns the peer with the user that it is charged to; nil, the default: each peer is charged to its own user.
    ///
    /// It may take time: until it calls back, nothing of the connection is read. It is called on the loop with each
    /// connection, and calls back once, on any thread, with the peer as it was or with another user
    /// (``Peer/belonging(to:)``).
    public var identify:
        (@Sendable (_ peer: Peer, _ done: @escaping @Sendable (Peer) -> Void) -> Void)?

    /// Returns the reason why a peer may not connect at all, as it follows the peer's name in the log; nil: it may.
    ///
    /// Called on the loop when a connection is accepted. Default: everyone may.
    public var refuses: (@Sendable (_ peer: Peer) -> String?)?

    /// An action that gives back what many connections took, and the time that it waits for their calls to end.
    ///
    /// Called on the loop when there were at least 64 connections and less than half of them are left. Nil, the default:
    /// nothing is done.
    public var whenCrowdLeft: (after: Duration, run: @Sendable () -> Void)?

    /// The metrics that are recorded of calls; nil, the default: none.
    public var metrics: VarlinkMetrics?

    /// Whether a method's calls may ask for an upgrade, after which the connection speaks another protocol.
    public enum Upgrade: Sendable, Hashable {
        /// Calls may not ask for one: such a call is replied to with `MethodNotImplemented`.
        case never
        /// Calls may ask for one: the handler checks ``VarlinkCall/wantsUpgrade``.
        case possible
        /// Calls must ask for one: other calls are replied to with `ExpectedUpgrade`.
        case required
    }

    private let information: VarlinkService.GetInfo.Reply
    private var interfaces: [String: Interface] = [:]
    private var order: [String] = []
    private var handlers: [String: Handler] = [:]
    private var upgrades: [String: Upgrade] = [:]
    var resumptions: [String: @Sendable (JSONObject, CallSlot) -> Void] = [:]

    /// A type of its own: a closure in a dictionary would be wrapped anew.
    private struct Handler: Sendable {
        let invoke: MethodEntry.Invocation
    }

    private struct Interface: Sendable {
        let description: String
        let methods: Set<String>
    }

    /// Makes a router that answers for nothing but `org.varlink.service`.
    ///
    /// - Parameters:
    ///   - vendor: The name of the service's vendor.
    ///   - product: The name of the product.
    ///   - version: Its version.
    ///   - url: The address of its documentation.
    public init(vendor: String, product: String, version: String, url: String) {
        var information = VarlinkService.GetInfo.Reply()
        information.vendor = vendor
        information.product = product
        information.version = version
        information.url = url
        self.information = information
        add(VarlinkService.self)
    }

    /// Adds an interface, to be listed and described.
    ///
    /// Its handlers follow, by ``handle(_:_:)``.
    ///
    /// - Parameter interface: The interface; the same one again changes nothing.
    public mutating func add(_ interface: any VarlinkInterface.Type) {
        let name = interface.name
        let methods = interface.methodNames.map { method in
            method.contains(".") ? method : "\(name).\(method)"
        }
        if interfaces[name] == nil { order.append(name) }
        interfaces[name] = Interface(
            description: interface.description, methods: Set(methods))
    }

    /// Sets the handler of a method.
    ///
    /// - Parameters:
    ///   - method: The method; one handler each.
    ///   - body: The handler of its calls. It runs on the loop, in the turn that read the call: it must not block, and
    ///     may keep the call to answer it later.
    @inlinable
    public mutating func handle<Method: VarlinkMethod>(
        _ method: Method.Type,
        _ body:
            @escaping @Sendable (
                _ parameters: Method.Parameters, _ call: VarlinkCall<Method.Reply>
            ) -> Void
    ) {
        // Inlined where the method is known: parameters that are passed on as any type are copied on the way.
        setHandler(of: Method.name) { bytes, depth, slot throws(JSONError) in
            let parameters = try JSON.decode(
                Method.Parameters.self, from: bytes, depthLimit: depth)
            body(parameters, VarlinkCall(slot: slot))
        }
    }

    @usableFromInline
    mutating func setHandler(of method: String, _ invoke: @escaping MethodEntry.Invocation) {
        precondition(handlers[method] == nil, "\(method) has two handlers")
        handlers[method] = Handler(invoke: invoke)
    }

    /// Sets whether a method's calls may ask for an upgrade; by default none may.
    ///
    /// - Parameters:
    ///   - upgrade: Whether they may, or must.
    ///   - method: The method; its handler is set by ``handle(_:_:)``, before or after this.
    public mutating func allow<Method: VarlinkMethod>(
        _ upgrade: Upgrade, of method: Method.Type
    ) {
        upgrades[Method.name] = upgrade
    }

    /// The methods, those of `org.varlink.service` among them, ready to be looked up.
    func makeTable() -> MethodTable {
        var router = self
        var information = information
        information.interfaces = order
        // It is the same for all: encoded once.
        var answer = JSONWriter()
        answer.writeReply(information, continues: false)
        answer.endMessage()
        let frame = answer.bytes
        router.handle(VarlinkService.GetInfo.self) { _, call in call.reply(encoded: frame) }
        let descriptions = interfaces.mapValues(\.description)
        router.handle(VarlinkService.GetInterfaceDescription.self) { parameters, call in
            guard let text = descriptions[parameters.interface] else {
                return call.fail(
                    VarlinkService.InterfaceNotFound(interface: parameters.interface))
            }
            call.reply(.init(description: text))
        }
        return MethodTable(
            router.handlers.enumerated().map { place, method in
                MethodEntry(
                    name: method.key, place: place, upgrade: upgrades[method.key] ?? .never,
                    authorize: authorize?(method.key), resume: resumptions[method.key],
                    invoke: method.value.invoke)
            })
    }

    /// Why there is no handler for a method.
    func whyNotFound(_ method: String) -> any VarlinkErrorReply {
        guard let dot = method.lastIndex(of: ".") else {
            return VarlinkService.MethodNotFound(method: method)
        }
        let name = String(method[..<dot])
        guard let interface = interfaces[name] else {
            return VarlinkService.InterfaceNotFound(interface: name)
        }
        guard interface.methods.contains(method) else {
            return VarlinkService.MethodNotFound(method: method)
        }
        return VarlinkService.MethodNotImplemented(method: method)
    }
}

/// One method that can be called.
///
/// An object, so that a call that finds it counts one reference and not one for each part.
@usableFromInline
final class MethodEntry: Sendable {
    /// Decodes the parameters, which are an object's text with a maximum nesting, and runs the handler.
    @usableFromInline typealias Invocation =
        @Sendable (UnsafeRawBufferPointer, Int, CallSlot) throws(JSONError) -> Void

    /// Its full name.
    let name: String

    /// Its place in the table.
    let place: UInt16

    /// Whether its calls may, or must, ask for an upgrade.
    let upgrade: VarlinkRouter.Upgrade

    /// Decides which peers may call it; nil: all may.
    let authorize: VarlinkRouter.Authorization?

    /// Continues a call that was in progress in another process; nil: its calls can't be continued.
    let resume: (@Sendable (JSONObject, CallSlot) -> Void)?

    /// Reads the parameters and runs the handler.
    let invoke: Invocation

    init(
        name: String, place: Int = 0, upgrade: VarlinkRouter.Upgrade = .never,
        authorize: VarlinkRouter.Authorization? = nil,
        resume: (@Sendable (JSONObject, CallSlot) -> Void)? = nil, invoke: @escaping Invocation
    ) {
        self.name = name
        self.place = UInt16(place)
        self.upgrade = upgrade
        self.authorize = authorize
        self.resume = resume
        self.invoke = invoke
    }
}

/// The methods by name, found by the name's bytes in a call, without making a string.
struct MethodTable: Sendable {
    private struct Bucket {
        var hash: UInt64 = 0
        /// The position of the name's bytes among all names, and their number.
        var start = 0
        var count = 0
        /// The index of the entry; -1: none.
        var entry = -1
    }

    private let entries: [MethodEntry]
    /// All names, one behind the other.
    private let names: [UInt8]

    /// Entries by hash, with linear probing.
    ///
    /// A power of two in size, and at most half full, so that a search ends.
    private let buckets: [Bucket]

    /// A table of these methods, each of which knows its place among them.
    init(_ entries: [MethodEntry]) {
        var size = 2
        while size < entries.count * 2 { size *= 2 }
        var buckets = [Bucket](repeating: Bucket(), count: size)
        var names: [UInt8] = []
        for (index, entry) in entries.enumerated() {
            let name = Array(entry.name.utf8)
            let hash = name.withUnsafeBytes(MethodTable.hash)
            var bucket = Int(truncatingIfNeeded: hash) & (size - 1)
            while buckets[bucket].entry >= 0 { bucket = (bucket + 1) & (size - 1) }
            buckets[bucket] = Bucket(
                hash: hash, start: names.count, count: name.count, entry: index)
            names += name
        }
        self.entries = entries
        self.names = names
        self.buckets = buckets
    }

    /// The number of methods, which is also the index of unknown ones.
    var count: UInt16 { UInt16(entries.count) }

    /// The methods' names, each at its place.
    var methodNames: [String] { entries.map(\.name) }

    /// The name of the method at an index; empty for the index of unknown ones.
    func name(at place: UInt16) -> String { place < count ? entries[Int(place)].name : "" }

    /// Returns the method that a call names.
    func entry(for header: CallHeader) -> MethodEntry? {
        guard let name = header.escapedMethod else { return entry(named: header.method) }
        return entry(named: name)
    }

    func entry(named name: String) -> MethodEntry? {
        var name = name
        return name.withUTF8 { entry(named: UnsafeRawBufferPointer($0)) }
    }

    func entry(named name: UnsafeRawBufferPointer) -> MethodEntry? {
        let hash = MethodTable.hash(name)
        let mask = buckets.count - 1
        var bucket = Int(truncatingIfNeeded: hash) & mask
        while buckets[bucket].entry >= 0 {
            let found = buckets[bucket]
            if found.hash == hash, isName(found, name) { return entries[found.entry] }
            bucket = (bucket + 1) & mask
        }
        return nil
    }

    private func isName(_ bucket: Bucket, _ name: UnsafeRawBufferPointer) -> Bool {
        guard bucket.count == name.count else { return false }
        return names.withUnsafeBytes { names in
            guard let known = names.baseAddress, let name = name.baseAddress else { return true }
            return memcmp(known + bucket.start, name, bucket.count) == 0
        }
    }

    /// Eight bytes at a time.
    ///
    /// The table is small and made by the server: collisions give a peer no advantage.
    private static func hash(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        var hash = UInt64(bytes.count)
        func mix(_ word: UInt64) {
            hash = (hash ^ word) &* 0x9E37_79B9_7F4A_7C15
            hash ^= hash >> 32
        }
        var offset = 0
        while offset + 8 <= bytes.count {
            mix(bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            offset += 8
        }
        var rest: UInt64 = 0
        for byte in bytes[offset...] { rest = rest << 8 | UInt64(byte) }
        mix(rest)
        return hash
    }
}
