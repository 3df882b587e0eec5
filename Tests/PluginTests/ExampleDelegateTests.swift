import AtriumKit
import AtriumKitTesting
import CompilationDelegate
import Testing

/// The delegates that come with the examples.
@Suite struct ExampleDelegateTests {
    @Test(arguments: 1...3)
    func `the compilation's delegate conforms`(seed: Int) throws {
        try DelegateSuite.run(CompilationDelegate.self, seed: UInt64(seed))
    }
}
