import AtriumKit
import Index
import LogMessages
import Logging
import PluginLoader
import Store

/// A container's definition as it is stored: with the container's name as its key, among the records that belong to
/// no container.
struct DefinitionRecord: Equatable {
    /// The present definition.
    var live: ContainerDefinition
    /// The definition as it was last applied; nil: it never was.
    var applied: ContainerDefinition?
    /// The kinds of the components, for when their plugins are not there.
    var kinds: [String: Kind] = [:]
    /// Components that were detached and left records.
    var remains: [String: Remains] = [:]

    /// The change that writes the record.
    var change: RecordChange {
        RecordChange(
            container: "", component: "", key: live.name, value: Value.object(value).jsonBytes)
    }

    /// The version of records of definitions without a delegate.
    fileprivate static let version: Int64 = 1
    /// The version for a delegate: an older daemon must not run the container without it.
    fileprivate static let delegateVersion: Int64 = 2
    /// The version for lists by mode: an older daemon must not show other lists.
    fileprivate static let listsVersion: Int64 = 3
    /// The version for fields of dates, and for time zones.
    fileprivate static let dateVersion: Int64 = 4
    /// The version for presentation settings: an older daemon would lose them.
    fileprivate static let shownVersion: Int64 = 5
    /// The version for fields that lists leave out: an older daemon would include them.
    fileprivate static let detailsVersion: Int64 = 6
    /// The version for containers as parts.
    fileprivate static let partsVersion: Int64 = 7
    /// The version for containers that are closed for votes or comments: an older daemon would accept them.
    fileprivate static let closedVersion: Int64 = 8

    private var version: Int64 {
        [live, applied].compactMap { $0?.version }.max() ?? Self.version
    }

    private var value: [String: Value] {
        var value: [String: Value] = [
            "version": .int(version),
            "live": .object(live.value),
            "kinds": .object(kinds.mapValues { .text($0.rawValue) }),
        ]
        if let applied { value["applied"] = .object(applied.value) }
        if !remains.isEmpty {
            value["remains"] = .object(
                remains.mapValues { remains in
                    var object: [String: Value] = ["defined": .bool(remains.wasDefined)]
                    object["kind"] = (remains.kind?.rawValue).map(Value.text)
                    return .object(object)
                })
        }
        return value
    }
}

extension DefinitionRecord {
    /// Reads a record; nil if it is of another version or malformed.
    init?(name: String, value: Value) {
        guard let object = value.object, let version = object["version"]?.int,
            (Self.version...Self.closedVersion).contains(version),
            let live = object["live"]?.object
                .flatMap({ ContainerDefinition(name: name, value: $0) })
        else { return nil }
        self.live = live
        applied = object["applied"]?.object
            .flatMap { ContainerDefinition(name: name, value: $0) }
        kinds = (object["kinds"]?.object ?? [:])
            .compactMapValues { $0.text.flatMap(Kind.init(rawValue:)) }
        remains = (object["remains"]?.object ?? [:]).mapValues { value in
            Remains(
                kind: value.object?["kind"]?.text.flatMap(Kind.init(rawValue:)),
                wasDefined: value.object?["defined"]?.bool ?? false)
        }
    }
}

extension ContainerDefinition {
    /// The version that a daemon has to support to use this definition.
    fileprivate var version: Int64 {
        if !closed.isEmpty { return DefinitionRecord.closedVersion }
        if components.contains(where: \.isPart) { return DefinitionRecord.partsVersion }
        if fields.contains(where: \.details) { return DefinitionRecord.detailsVersion }
        if saysHowItIsShown { return DefinitionRecord.shownVersion }
        if fields.contains(where: { $0.derivation != nil || $0.zone != nil }) {
            return DefinitionRecord.dateVersion
        }
        if lists != nil || scopes.contains(where: { $0.lists.isByMode }) {
            return DefinitionRecord.listsVersion
        }
        return delegate != nil || scopes.contains { $0.delegate != nil }
            ? DefinitionRecord.delegateVersion : DefinitionRecord.version
    }

    private var saysHowItIsShown: Bool {
        present != nil
            || fields.contains { field in
                field.title != nil || field.unit != nil || field.summary != nil
                    || [.url, .image, .markdown].contains(field.type)
            } || components.contains { $0.saysHowItIsShown }
    }

    fileprivate var value: [String: Value] {
        var value: [String: Value] = [
            "fields": .list(fields.map { .object($0.value) }),
            "components": .list(components.map { .object($0.value) }),
        ]
        if let lists { value["lists"] = .object(lists.value) }
        if !scopes.isEmpty { value["scopes"] = .list(scopes.map { .object($0.value) }) }
        value["title"] = title.map(Value.text)
        value["activate"] = activate.map(Value.text)
        value["delegate"] = delegate.map { .object($0.value) }
        value["present"] = present.map { .object($0.value) }
        value["source"] = source.map(Value.text)
        if !closed.isEmpty {
            value["closed"] = .list(closed.map(\.rawValue).sorted().map(Value.text))
        }
        return value
    }

    fileprivate init?(name: String, value: [String: Value]) {
        guard let fields = value["fields"]?.list, let components = value["components"]?.list
        else { return nil }
        let scopes = value["scopes"]?.list ?? []
        self.init(
            name: name, title: value["title"]?.text,
            fields: fields.compactMap { $0.object.flatMap(Field.init(value:)) },
            components: components.compactMap {
                $0.object.flatMap(ComponentDefinition.init(value:))
            },
            lists: value["lists"]?.object.flatMap(ListModes.init(value:)),
            scopes: scopes.compactMap { $0.object.flatMap(ScopeDefinition.init(value:)) },
            activate: value["activate"]?.text,
            delegate: value["delegate"]?.object.flatMap(DelegateDefinition.init(value:)),
            present: (value["present"]?.object).map(Presentation.init(value:)),
            source: value["source"]?.text)
        let closed = value["closed"]?.list ?? []
        self.closed = Set(closed.compactMap { $0.text.flatMap(Kind.init(rawValue:)) })
        guard (value["delegate"] == nil) == (delegate == nil),
            (value["lists"] == nil) == (lists == nil), self.fields.count == fields.count,
            self.components.count == components.count,
            self.scopes.count == scopes.count, self.closed.count == closed.count
        else { return nil }
    }
}

extension Field {
    fileprivate var value: [String: Value] {
        var value: [String: Value] = ["name": .text(name), "type": .text(type.rawValue)]
        if required { value["required"] = true }
        if search { value["search"] = true }
        value["min"] = min.map(Value.number)
        value["max"] = max.map(Value.number)
        value["title"] = title.map(Value.text)
        value["unit"] = unit.map(Value.text)
        value["summary"] = summary.map(Value.text)
        if details { value["details"] = true }
        value["zone"] = zone.map(Value.text)
        if let derivation {
            value["of"] = .text(derivation.of)
            value["by"] = .text(derivation.by.rawValue)
            value["zone"] = .text(derivation.zone)
        }
        return value
    }

    fileprivate init?(value: [String: Value]) {
        guard let name = value["name"]?.text,
            let type = value["type"]?.text.flatMap(FieldType.init(rawValue:))
        else { return nil }
        self.init(
            name: name, type: type, required: value["required"]?.bool ?? false,
            search: value["search"]?.bool ?? false, min: value["min"]?.number,
            max: value["max"]?.number, title: value["title"]?.text, unit: value["unit"]?.text,
            summary: value["summary"]?.text, details: value["details"]?.bool ?? false)
        guard type == .date else {
            zone = value["zone"]?.text
            return
        }
        guard let of = value["of"]?.text, let zone = value["zone"]?.text,
            let by = value["by"]?.text.flatMap(Bucket.init(rawValue:))
        else { return nil }
        derivation = Derivation(of: of, by: by, zone: zone)
    }
}

extension ComponentDefinition {
    fileprivate var saysHowItIsShown: Bool {
        hidesEmpty || empty != nil || present != nil || !sort.isEmpty
    }

    fileprivate var value: [String: Value] {
        var value: [String: Value] = [
            "name": .text(name), "plugin": .text(plugin), "settings": .object(settings),
        ]
        value["title"] = title.map(Value.text)
        value["isolation"] = (isolation?.rawValue).map(Value.text)
        value["callSeconds"] = callSeconds.map { .int(Int64($0)) }
        if isHidden { value["hidden"] = true }
        if hidesEmpty { value["hidesEmpty"] = true }
        value["empty"] = empty.map(Value.text)
        value["present"] = present.map { .object($0.value) }
        if !sort.isEmpty { value["sort"] = .list(sort.map(Value.text)) }
        value["container"] = container.map(Value.text)
        if !follow.isEmpty { value["follow"] = .object(follow.mapValues(Value.text)) }
        return value
    }

    fileprivate init?(value: [String: Value]) {
        guard let name = value["name"]?.text, let plugin = value["plugin"]?.text,
            let settings = value["settings"]?.object
        else { return nil }
        self.init(
            name: name, plugin: plugin, title: value["title"]?.text, settings: settings,
            isolation: value["isolation"]?.text.flatMap(Isolation.init(rawValue:)),
            callSeconds: value["callSeconds"]?.int.map { Int($0) },
            isHidden: value["hidden"]?.bool ?? false,
            hidesEmpty: value["hidesEmpty"]?.bool ?? false, empty: value["empty"]?.text,
            present: (value["present"]?.object).map(Presentation.init(value:)),
            sort: (value["sort"]?.list ?? []).compactMap(\.text),
            container: value["container"]?.text,
            follow: (value["follow"]?.object ?? [:]).compactMapValues(\.text))
    }
}

extension Presentation {
    fileprivate var value: [String: Value] {
        var value: [String: Value] = [:]
        value["title"] = title.map(Value.text)
        value["subtitle"] = subtitle.map(Value.text)
        value["image"] = image.map(Value.text)
        value["columns"] = columns.map { .list($0.map(Value.text)) }
        return value
    }

    fileprivate init(value: [String: Value]) {
        self.init(
            title: value["title"]?.text, subtitle: value["subtitle"]?.text,
            image: value["image"]?.text, columns: value["columns"]?.list?.compactMap(\.text))
    }
}

extension DelegateDefinition {
    fileprivate var value: [String: Value] {
        ["plugin": .text(plugin), "settings": .object(settings)]
    }

    fileprivate init?(value: [String: Value]) {
        guard let plugin = value["plugin"]?.text, let settings = value["settings"]?.object else {
            return nil
        }
        self.init(plugin: plugin, settings: settings)
    }
}

extension ListModes {
    fileprivate var value: [String: Value] {
        var value: [String: Value] = ["contents": .list(contents.map(Value.text))]
        if !entered.isEmpty { value["entered"] = .list(entered.map(Value.text)) }
        if !searched.isEmpty { value["searched"] = .list(searched.map(Value.text)) }
        return value
    }

    fileprivate init?(value: [String: Value]) {
        guard let contents = value["contents"]?.list else { return nil }
        func names(_ key: String) -> [String] { value[key]?.list?.compactMap(\.text) ?? [] }
        self.init(
            contents: contents.compactMap(\.text), entered: names("entered"),
            searched: names("searched"))
    }
}

extension ScopeDefinition {
    fileprivate var value: [String: Value] {
        var value = lists.value
        value["name"] = .text(name)
        value["title"] = title.map(Value.text)
        value["activate"] = activate.map(Value.text)
        value["delegate"] = delegate.map { .object($0.value) }
        return value
    }

    fileprivate init?(value: [String: Value]) {
        let delegate = value["delegate"]?.object.flatMap(DelegateDefinition.init(value:))
        guard (value["delegate"] == nil) == (delegate == nil), let name = value["name"]?.text,
            let lists = ListModes(value: value)
        else {
            return nil
        }
        self.init(
            name: name, title: value["title"]?.text, contents: lists.contents,
            entered: lists.entered, searched: lists.searched, activate: value["activate"]?.text,
            delegate: delegate)
    }
}

extension Container {
    /// Makes a container from its record; its components are not started yet.
    convenience init(_ record: DefinitionRecord, domain: Domain) {
        self.init(name: record.live.name, domain: domain)
        loading.begin()
        let slots = record.live.components.filter { !$0.isPart }.map {
            Slot($0, kind: record.kinds[$0.name], of: self, fields: record.live.fields)
        }
        setDefinition(record.live, applied: record.applied, remains: record.remains, slots)
        derived.follow()
        adopt(Delegates(for: definition, keeping: delegates, in: domain))
        for (what, reason) in delegates.failures {
            domain.logger.log(
                .delegateFailed,
                ["container": "\(name)", "reason": "The \(what) \(reason)"])
        }
    }
}
