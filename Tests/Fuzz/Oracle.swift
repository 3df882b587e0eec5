import Foundation

/// Stops the run where something does not hold; libFuzzer keeps the input that led there.
func expect(_ holds: Bool, _ promise: @autoclosure () -> String) {
    guard !holds else { return }
    FileHandle.standardError.write(Data("broken promise: \(promise())\n".utf8))
    abort()
}

/// Reproducible randomness (SplitMix64): what an input's first byte stands for.
struct FuzzRandom {
    private var state: UInt64

    init(seed: UInt8) {
        state = UInt64(seed)
    }

    mutating func next(below limit: Int) -> Int {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return Int((word ^ (word >> 31)) % UInt64(limit))
    }
}
