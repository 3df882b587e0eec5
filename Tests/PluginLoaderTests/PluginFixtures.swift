import Foundation
import TestSupport
import Testing

/// A directory of its own for one test, gone with it, with plugins made by the toolchain.
struct PluginFolder {
    private let directory: TemporaryDirectory

    var path: String { directory.path }

    init() throws { directory = try TemporaryDirectory() }

    /// Makes a folder with a manifest; members replace those of a good one, nil leaves one out.
    @discardableResult
    func manifest(_ folder: String, _ members: [String: String?] = [:]) throws -> String {
        var all: [String: String?] = [
            "id": "org.test.sample", "version": "1.0.0", "kind": "contents",
            "library": "libSample.so", "title": "Sample", "description": "For tests",
        ]
        all.merge(members) { _, new in new }
        let text = try JSONSerialization.data(withJSONObject: all.compactMapValues { $0 })
        return try file("\(folder)/manifest.json", text)
    }

    @discardableResult
    func file(_ name: String, _ content: Data) throws -> String {
        try directory.write(name, content)
    }

    /// Builds a shared library from C.
    @discardableResult
    func library(_ name: String = "libSample.so", c source: String) async throws -> String {
        let output = "\(path)/\(name)"
        let input = try file("\(name).c", Data(source.utf8))
        try await Toolchain.run(
            "clang", "-shared", "-fPIC", "-nostdlib", "-Wl,--unresolved-symbols=ignore-all",
            "-o", output, input)
        return output
    }

    /// Builds a plugin from Swift, against the kit that this test is linked with.
    @discardableResult
    func plugin(_ name: String, swift source: String) async throws -> String {
        let output = "\(path)/\(name)"
        let input = try file("\(name).swift", Data(source.utf8))
        let products = Toolchain.products
        try await Toolchain.run(
            "swiftc", "-emit-library", "-module-name", "Fixture", "-swift-version", "6",
            "-I", "\(products)/Modules", "-I", products, "-L", products, "-lAtriumKit",
            "-Xlinker", "-z", "-Xlinker", "nodelete", "-o", output, input)
        return output
    }
}

/// What makes a library out of C that is a plugin as far as its symbols say.
enum Sources {
    static let plugin = """
        extern void atriumkit_abi_2_swift6_3(void);
        void *atrium_plugin_org_test_sample(void) { atriumkit_abi_2_swift6_3(); return 0; }
        """
    static let otherEpoch = """
        extern void atriumkit_abi_2_swift7_0(void);
        void *atrium_plugin_org_test_sample(void) { atriumkit_abi_2_swift7_0(); return 0; }
        """
    static let ownCopy = """
        void atriumkit_abi_2_swift6_3(void) {}
        void *atrium_plugin_org_test_sample(void) { atriumkit_abi_2_swift6_3(); return 0; }
        """
    static let noPlugin = "int answer(void) { return 42; }"
    static let otherEntry = """
        extern void atriumkit_abi_2_swift6_3(void);
        void *atrium_plugin_org_test_other(void) { atriumkit_abi_2_swift6_3(); return 0; }
        """
    static let real = """
        import AtriumKit
        final class Sample: ContentListing {
            weak var delegate: (any ContentListingDelegate)?
            var items: [Item] { [] }
            static var settings: [Setting] { [Setting.text("folder", "Where to look.").setting] }
            init(context: ComponentContext) throws {}
            func apply(_ change: Change) {}
            func put(
                _ items: [Item], _ context: CommandContext
            ) throws(Refusal) -> ContentDecision {
                ContentDecision()
            }
            func remove(_ ids: [String], _ context: CommandContext) throws(Refusal) -> [Change] {
                []
            }
        }
        @c(atrium_plugin_org_test_sample)
        public func entry() -> UnsafeMutableRawPointer { exportPlugin(Sample.self) }
        """
    static let delegate = """
        import AtriumKit
        final class Doorman: ContainerDelegate {
            override class var settings: [Setting] { [Setting.text("key", "What opens.").setting] }
        }
        @c(atrium_plugin_org_test_sample)
        public func entry() -> UnsafeMutableRawPointer { exportPlugin(Doorman.self) }
        """
}

/// The Swift toolchain that runs these tests; it brings a C compiler.
enum Toolchain {
    struct Failed: Error {
        let command: String
        let output: String
    }

    /// The folder of what the build made: where the kit's library was loaded from, and its modules.
    static let products: String = {
        let file = FileHandle(forReadingAtPath: "/proc/self/maps")
        let maps = String(decoding: (try? file?.readToEnd()) ?? Data(), as: UTF8.self)
        let line = maps.split(separator: "\n").first { $0.hasSuffix("/libAtriumKit.so") }
        guard let line, let start = line.firstIndex(of: "/") else { return "." }
        return (String(line[start...]) as NSString).deletingLastPathComponent
    }()

    /// Where a tool is: beside `swift`, the links in its path followed, else in PATH.
    private static func path(of tool: String) throws -> String {
        let search = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let folders = search.split(separator: ":").map(String.init)
        let beside = folders.map { folder in
            URL(fileURLWithPath: "\(folder)/swift").resolvingSymlinksInPath()
                .deletingLastPathComponent().path
        }
        let found = (beside + folders).map { "\($0)/\(tool)" }.first {
            FileManager.default.isExecutableFile(atPath: $0)
        }
        return try #require(found, "\(tool) is neither beside swift nor in PATH")
    }

    static func run(_ tool: String, _ arguments: String...) async throws {
        let finished = try await TestSupport.run([path(of: tool)] + arguments)
        guard finished.status == 0 else {
            throw Failed(command: tool, output: finished.errors)
        }
    }
}
