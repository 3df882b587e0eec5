import AtriumKit
import Catalog
import CommentThreads
import Facets
import File
import Music
import Remote
import Stars
import Testing
import Threads

@Suite struct `A built-in plugin's library and its manifest` {
    @Test(arguments: [
        ("Catalog", catalogPlugin as @Sendable () -> UnsafeMutableRawPointer),
        ("Facets", facetsPlugin), ("File", filePlugin),
        ("Music", musicPlugin), ("Remote", remotePlugin), ("Stars", starsPlugin),
        ("Threads", threadsPlugin),
    ])
    func `speak of the same plugin`(
        name: String, makeEntry: @Sendable () -> UnsafeMutableRawPointer
    ) throws {
        let manifest = try Manifest(of: name)
        let entry = Unmanaged<PluginEntry>.fromOpaque(makeEntry()).takeRetainedValue()
        #expect(manifest["id"] == "org.atrium.\(name.lowercased())")
        #expect(manifest["kind"] == entry.kind?.rawValue)
        #expect(manifest["library"] == "lib\(name).so")
        #expect(manifest["version"] == "0.1.0")
        #expect(manifest["title"]?.isEmpty == false)
        #expect(manifest["description"]?.isEmpty == false)
    }
}
