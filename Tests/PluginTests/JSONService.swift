import Foundation
import Glibc
import Synchronization

/// A service on this machine that answers one request after the other, and notes what it was asked.
final class JSONService: Sendable {
    /// What it was asked.
    struct Request: Sendable {
        /// The path and the parameters, as they came.
        var target: String
        /// By name in lower case.
        var headers: [String: String]
    }

    /// What it answers.
    struct Answer: Sendable {
        var status = 200
        var headers: [String: String] = [:]
        var body = ""
        /// Whether the body is all that it says, without HTTP.
        var isBare = false
        /// Whether it says nothing at all, and leaves the connection open.
        var isSilent = false
    }

    let port: UInt16
    private let listener: Int32
    private let noted = Mutex<[Request]>([])
    private let answers: Mutex<@Sendable (Request) -> Answer>

    /// Listens on a port that nobody else has.
    init(_ answer: @escaping @Sendable (Request) -> Answer) throws {
        answers = Mutex(answer)
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | O_CLOEXEC, 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let port: UInt16? = withUnsafeMutablePointer(to: &address) { [listener] pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { place in
                guard bind(listener, place, size) == 0, listen(listener, 16) == 0,
                    getsockname(listener, place, &size) == 0
                else { return nil }
                return place.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                    UInt16(bigEndian: $0.pointee.sin_port)
                }
            }
        }
        guard let port else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        self.port = port
        Foundation.Thread.detachNewThread { [weak self, listener] in
            var silent: [Int32] = []
            while true {
                let connection = accept(listener, nil, nil)
                guard connection >= 0, let self else { break }
                if serve(connection) { silent.append(connection) } else { close(connection) }
            }
            for connection in silent { close(connection) }
            close(listener)
        }
    }

    deinit { shutdown(listener, Int32(SHUT_RDWR)) }

    /// Its URL, with a path.
    func url(_ path: String) -> String { "http://127.0.0.1:\(port)\(path)" }

    /// What it was asked so far.
    var requests: [Request] { noted.withLock(\.self) }

    /// Answers otherwise from now on.
    func answer(_ answer: @escaping @Sendable (Request) -> Answer) {
        answers.withLock { $0 = answer }
    }

    /// Answers with a document from now on.
    func answer(_ body: String, status: Int = 200, headers: [String: String] = [:]) {
        answer { _ in Answer(status: status, headers: headers, body: body) }
    }

    /// Answers one request; whether the connection is to stay open.
    private func serve(_ connection: Int32) -> Bool {
        var patience = timeval(tv_sec: 5, tv_usec: 0)
        setsockopt(
            connection, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        var text = ""
        var bytes = [UInt8](repeating: 0, count: 4_096)
        while !text.contains("\r\n\r\n") {
            let count = recv(connection, &bytes, bytes.count, 0)
            guard count > 0 else { return false }
            text += String(decoding: bytes[..<count], as: UTF8.self)
        }
        let lines = text.components(separatedBy: "\r\n")
        var request = Request(target: lines[0].components(separatedBy: " ")[1], headers: [:])
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { continue }
            request.headers[line[..<colon].lowercased()] = line[line.index(after: colon)...]
                .trimmingCharacters(in: .whitespaces)
        }
        noted.withLock { $0.append(request) }
        let answer = answers.withLock(\.self)(request)
        guard !answer.isSilent else { return true }
        var reply = "HTTP/1.1 \(answer.status) Said\r\nConnection: close\r\n"
        reply += "Content-Length: \(answer.body.utf8.count)\r\n"
        for (name, value) in answer.headers { reply += "\(name): \(value)\r\n" }
        let whole = Array((answer.isBare ? answer.body : reply + "\r\n" + answer.body).utf8)
        var sent = 0
        while sent < whole.count {
            let count = whole[sent...].withUnsafeBytes {
                send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { break }
            sent += count
        }
        return false
    }
}
