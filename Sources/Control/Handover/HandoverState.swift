public import Host
import JSONCodec
public import Varlink

/// The state that one daemon process writes for the next: its connections and screens.
///
/// It is JSON with a version. A process that does not know the version takes over nothing and logs that; its clients
/// then resume from their cursors.
public struct HandoverState: Sendable {
    /// The version that is written, and the only one that is read.
    public static let version = 1

    /// The state of each connection, by its socket's number.
    private var connections: [UInt64: JSONObject]

    /// The screens.
    public let screens: [KeptScreen]

    /// Whether an end marker was stored after the connections.
    ///
    /// If the marker is missing in the new process, the manager's store had no room for all connections.
    public let hasEnd: Bool

    /// The number of connections that were stored.
    public var count: Int { connections.count }

    /// Why the state can't be used.
    public enum Problem: Error, CustomStringConvertible {
        /// The state has another version.
        case version(Int)
        /// The state is damaged.
        case unreadable(String)

        /// The problem as a sentence.
        public var description: String {
            switch self {
            case .version(let version):
                "it has version \(version), and this daemon reads version "
                    + "\(HandoverState.version)"
            case .unreadable(let reason): "it can't be read: \(reason)"
            }
        }
    }

    /// Makes the state to write; `hasEnd`: an end marker is stored after the connections.
    public init(
        connections: [VarlinkKeptConnection], screens: [KeptScreen], hasEnd: Bool = false
    ) {
        self.hasEnd = hasEnd
        self.connections = Dictionary(
            connections.map { ($0.identity, $0.state) }, uniquingKeysWith: { first, _ in first })
        self.screens = screens
    }

    /// Decodes ``bytes``.
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

    /// The encoded state.
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

    /// Finds the state of a connection by its socket, as it was received; nil if the state does not contain it.
    public func connection(_ descriptor: Int32) -> VarlinkKeptConnection? {
        guard let identity = VarlinkKeptConnection.identity(of: descriptor),
            let state = connections[identity]
        else { return nil }
        return VarlinkKeptConnection(descriptor: descriptor, state: state)
    }
}

extension ScreenRevision {
    /// A digest of the content of a whole revision, the same in any process.
    public var digest: Int {
        // FNV-1a is enough: nobody gains by making another revision with the same digest.
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in ScreenFrame.tail(of: self) {
            hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3
        }
        return Int(truncatingIfNeeded: hash)
    }
}
