import Foundation

/// Bytes of memory that are this process's own: what is mapped from files is not counted.
func ownMemory() -> Int {
    let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = status?.split(separator: "\n").first { $0.hasPrefix("RssAnon:") }
    let kilobytes = line?.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }.first
    return (kilobytes ?? 0) * 1_024
}
