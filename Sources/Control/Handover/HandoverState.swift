public import Host
import JSONCodec
public import Varlink

/// What one process of the daemon writes down for the next: its connections, and its screens.
///
/// JSON, with a version of its own. A process that does not know the version takes nothing over, and
/// says so: its clients resume by their cursors.
public struct HandoverState: Sendable {
    /// The version that is written, and the only one that is read.
    public static let version = 1

    /// What is known of connections, by the numbers of their sockets.
    private var connections: [UInt64: JSONObject]

    /// The screens.
    public let screens: [KeptScreen]

    /// Whether something was given behind the connections: where that is missing, there was no room.
    public let hasEnd: Bool

    /// How many connections were given.
    public var count: Int { connections.count }

    /// Why what was written down is of no use.
    public enum Problem: Error, CustomStringConvertible {
        /// It is another version's.
        case version(Int)
        /// It is damaged.
        case unreadable(String)

        /// In a sentence.
        public var description: String {
            switch self {
            case .version(let version):
                "it has version \(version), and this daemon reads version "
                    + "\(HandoverState.version)"
            case .unreadable(let reason): "it can't be read: \(reason)"
            }
        }
    }

    /// What is to be written down.
    ///
    /// - Parameters:
    ///   - connections: the connections that go over.
    ///   - screens: all screens.
    ///   - hasEnd: whether something is given behind the connections.
    public init(
        connections: [VarlinkKeptConnection], screens: [KeptScreen], hasEnd: Bool = false
    ) {
        self.hasEnd = hasEnd
        self.connections = Dictionary(
            connections.map { ($0.identity, $0.state) }, uniquingKeysWith: { first, _ in first })
        self.screens = screens
    }

    /// Reads what ``bytes`` wrote.
    ///
    /// - Throws: ``Problem``.
    public init(_ bytes: [UInt8]) throws(Problem) {
        let value: JSONValue
        do {
            value = try JSON.decode(from: bytes, depthLimit: 1_024)
        } catch {
            throw .unreadable("\(error)")
        }
        guard let version = value["version"]?.int else { throw .unreadable("it has no version") }
        guard version == Self.version else { throw .version(version) }
        guard let connections = value["connections"]?.array, let screens = value["screens"]?.array
        else { throw .unreadable("connections or screens are missing") }
        hasEnd = value["end"]?.bool ?? false
        self.connections = [:]
        for connection in connections {
            guard let socket = connection["socket"]?.string.flatMap({ UInt64($0) }),
                let state = connection["state"].flatMap({ JSONObject($0) })
            else { throw .unreadable("a connection is not as it should be") }
            self.connections[socket] = state
        }
        self.screens = screens.compactMap { KeptScreen($0) }
    }

    /// As it is written down.
    public var bytes: [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        json.key("version")
        json.int(Self.version)
        json.key("end")
        json.bool(hasEnd)
        json.key("connections")
        json.beginArray()
        for (socket, state) in connections {
            json.beginObject()
            json.key("socket")
            json.string("\(socket)")
            json.key("state")
            state.write(to: &json)
            json.endObject()
        }
        json.endArray()
        json.key("screens")
        json.beginArray()
        for screen in screens { screen.object.write(to: &json) }
        json.endArray()
        json.endObject()
        return json.bytes
    }

    /// The connection that a socket is.
    ///
    /// - Parameter descriptor: the socket, as it was passed on.
    /// - Returns: nil where nothing was written down about it.
    public func connection(_ descriptor: Int32) -> VarlinkKeptConnection? {
        guard let identity = VarlinkKeptConnection.identity(of: descriptor),
            let state = connections[identity]
        else { return nil }
        return VarlinkKeptConnection(descriptor: descriptor, state: state)
    }
}

extension ScreenRevision {
    /// Tells what a whole revision shows from everything else, in any process.
    public var digest: Int {
        // FNV-1a: nobody gains by showing something else that has the same digest.
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in ScreenFrame.tail(of: self) {
            hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3
        }
        return Int(truncatingIfNeeded: hash)
    }
}
