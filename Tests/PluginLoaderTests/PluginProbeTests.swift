import AtriumKit
import Foundation
import PluginLoader
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(3))) struct PluginProbeTests {
    private let folder: PluginFolder
    private let id = "org.test.sample"

    init() throws { folder = try PluginFolder() }

    private func refusal(_ library: String) -> String {
        do throws(PluginProblem) {
            try PluginLoading.probe(library, id: id)
            return "accepted"
        } catch {
            return error.reason
        }
    }

    @Test func `a library with the epoch and the entry function is a plugin`() async throws {
        let library = try await folder.library(c: Sources.plugin)
        #expect(refusal(library) == "accepted")
        #expect(Sources.plugin.contains(atriumKitEpochSymbol), "the fixtures name this epoch")
    }

    @Test func `a library of another epoch is refused naming both`() async throws {
        let reason = refusal(try await folder.library(c: Sources.otherEpoch))
        #expect(reason.contains("atriumkit_abi_2_swift7_0"))
        #expect(reason.contains(atriumKitEpochSymbol))
    }

    @Test func `a library with its own copy of the kit is refused with what to do`() async throws {
        let reason = refusal(try await folder.library(c: Sources.ownCopy))
        #expect(reason.contains("its own copy of the kit"))
        #expect(reason.contains("link the product AtriumKit"))
    }

    @Test func `a library that is no plugin is refused as that`() async throws {
        #expect(
            refusal(try await folder.library(c: Sources.noPlugin)).contains("is no Atrium plugin"))
    }

    @Test func `a library with another id's entry is refused naming both functions`() async throws {
        let reason = refusal(try await folder.library(c: Sources.otherEntry))
        #expect(reason.contains("atrium_plugin_org_test_sample"))
        #expect(reason.contains("atrium_plugin_org_test_other"))
    }

    @Test func `an entry function without the kit's library is refused`() async throws {
        let source = "void *atrium_plugin_org_test_sample(void) { return 0; }"
        #expect(
            refusal(try await folder.library(c: source)).contains("does not use the kit's library"))
    }

    @Test func `what is no library is refused with what it is instead`() throws {
        #expect(refusal("\(folder.path)/nothing.so").contains("No such file"))
        #expect(refusal(folder.path).contains("no regular file"))
        #expect(refusal(try folder.file("empty.so", Data())).contains("0 bytes"))
        let text = try folder.file("text.so", Data(repeating: 0x41, count: 200))
        #expect(refusal(text).contains("no ELF file"))
        #expect(mkfifo("\(folder.path)/pipe.so", 0o600) == 0)
        #expect(refusal("\(folder.path)/pipe.so").contains("no regular file"))
    }

    @Test func `a library of another machine is refused naming it`() async throws {
        var bytes = try Data(contentsOf: URL(filePath: await folder.library(c: Sources.plugin)))
        bytes[18] = 40
        #expect(refusal(try folder.file("arm.so", bytes)).contains("another machine (ARM)"))
        bytes[4] = 1
        #expect(refusal(try folder.file("32.so", bytes)).contains("64-bit"))
    }

    @Test func `a library cut off anywhere is refused`() async throws {
        let bytes = try Data(contentsOf: URL(filePath: await folder.library(c: Sources.plugin)))
        for count in stride(from: 0, to: bytes.count - 1, by: 97) {
            let cut = try folder.file("cut.so", bytes.prefix(count))
            #expect(refusal(cut) != "accepted", "cut off after \(count) bytes")
        }
    }

    /// Bytes of the headers and tables changed at random: the probe answers, whatever they say.
    @Test(arguments: [UInt64(1), 2, 3, 4])
    func `a library with damaged bytes never breaks the probe`(seed: UInt64) async throws {
        var random = RepeatableRandom(seed)
        let bytes = try Data(contentsOf: URL(filePath: await folder.library(c: Sources.plugin)))
        let table = bytes[40..<48].reversed().reduce(0) { $0 << 8 | Int($1) }
        let values: [UInt8] = [0, 1, 0x7F, 0x80, 0xFF]
        var refused = 0
        for _ in 0..<500 {
            var damaged = bytes
            for _ in 0..<Int.random(in: 1...8, using: &random) {
                let places = [0..<64, table..<bytes.count, 0..<bytes.count]
                let place = Int.random(
                    in: places[Int.random(in: 0..<3, using: &random)], using: &random)
                damaged[place] = values.randomElement(using: &random) ?? 0
            }
            if refusal(try folder.file("damaged.so", damaged)) != "accepted" { refused += 1 }
        }
        #expect(
            refused > 0 && refused < 500, "seed \(seed): the damage must not be always the same")
    }

    @Test func `the entry function's name replaces all but letters and digits`() {
        #expect(
            PluginLoading.entryFunction(of: "org.atrium.a-b9") == "atrium_plugin_org_atrium_a_b9")
    }
}
