import AtriumKit
import Glibc
import NIOCore
import PluginLoader

/// The texts of a component's secret settings, which its definition only refers to.
///
/// They are read again at each start of the component, on a thread of its own.
enum SecretTexts {
    /// The maximum size of a secret, in bytes.
    private static let most: UInt64 = 64 << 10

    /// Reads all secrets that settings refer to, without missing credentials in a check; `then` gets the texts by
    /// setting, synchronously when there is nothing to read.
    static func read(
        _ settings: [String: Value], isCheck: Bool, on loop: any EventLoop,
        then: @escaping (Result<[String: String], SettingError>) -> Void
    ) {
        let references = settings.compactMapValues(SecretReference.init)
        guard !references.isEmpty else { return then(.success([:])) }
        let then = NIOLoopBound(then, eventLoop: loop)
        Task(executorPreference: QuietExecutor.shared) {
            let result = Result { () throws(SettingError) in
                try texts(of: references, isCheck: isCheck)
            }
            loop.execute { then.value(result) }
        }
    }

    private static func texts(
        of references: [String: SecretReference], isCheck: Bool
    ) throws(SettingError) -> [String: String] {
        var texts: [String: String] = [:]
        for (setting, reference) in references.sorted(by: { $0.key < $1.key }) {
            do throws(RegularFile.Unreadable) {
                guard let path = try path(of: reference, isCheck: isCheck) else { continue }
                texts[setting] = try text(at: path)
            } catch {
                throw SettingError(setting, "the secret can't be read: \(error.reason)")
            }
        }
        return texts
    }

    private static func path(
        of reference: SecretReference, isCheck: Bool
    ) throws(RegularFile.Unreadable) -> String? {
        switch reference {
        case .file(let path):
            guard path.hasPrefix("/") else {
                throw .init("'\(path)' is no whole path, which begins with a slash")
            }
            return path
        case .credential(let name):
            guard !name.isEmpty, !name.contains("/"), !name.hasPrefix(".") else {
                throw .init("'\(name)' is no credential's name")
            }
            guard let folder = getenv("CREDENTIALS_DIRECTORY") else {
                if isCheck { return nil }
                throw .init(
                    "the daemon has no credentials; a service gets one by "
                        + "LoadCredential=\(name):/PATH in a drop-in of its unit")
            }
            return String(cString: folder) + "/" + name
        @unknown default:
            throw .init("it is referred to in a way that this daemon does not know")
        }
    }

    /// A file's text, without a newline at its end.
    private static func text(at path: String) throws(RegularFile.Unreadable) -> String {
        let file = try RegularFile(path)
        guard file.size <= most else { throw .init("\(path) holds more than \(most) bytes") }
        guard let bytes = file.read(at: 0, count: file.size),
            let text = String(validating: bytes, as: UTF8.self)
        else { throw .init("\(path) holds no text in UTF-8") }
        return text.hasSuffix("\n") ? String(text.dropLast()) : text
    }
}
