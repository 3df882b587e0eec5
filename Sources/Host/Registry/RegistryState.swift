/// The registry's own state; what containers share is in the ``Domain``.
///
/// Used on the event loop alone.
final class RegistryState {
    let domain: Domain
    /// The containers by name.
    private(set) var containers: [String: Container] = [:] {
        didSet { lastFound = nil }
    }
    private var lastFound: Container?
    /// The screens of each container, by the container's name.
    private(set) var homes: [String: ContainerScreens] = [:]
    let screens: ScreenTable
    let keptScreens: KeptScreens
    let expected: ExpectedContainers
    let exports: Exports
    let backups: Backups
    private(set) lazy var verifications = Verifications(in: domain) { [weak self] in
        self?.containers ?? [:]
    }
    var rates = WriteRates()
    let settings: PluginSettings

    init(_ domain: Domain) {
        self.domain = domain
        expected = ExpectedContainers(in: domain)
        screens = ScreenTable(in: domain)
        keptScreens = KeptScreens(in: screens)
        settings = PluginSettings(in: domain)
        exports = Exports(in: domain)
        backups = Backups(in: domain)
        domain.secretFiles = { [weak self] in
            self?.containers.values.flatMap { container in
                container.definition.components.flatMap {
                    ComponentDefinition.secretFiles($0.settings)
                }
            } ?? []
        }
        screens.homes = { [weak self] in self?.homes ?? [:] }
    }

    /// Returns the container of a name; nil if there is none.
    func container(_ name: String) -> Container? {
        // Mostly the same one as before: to compare names is quicker than to hash one.
        if let lastFound, lastFound.name == name { return lastFound }
        lastFound = containers[name]
        return lastFound
    }

    /// Adds a container, unless it is there already.
    func add(_ container: Container) {
        guard containers[container.name] !== container else { return }
        let home = ContainerScreens(on: container, in: screens)
        containers[container.name] = container
        homes[container.name] = home
        container.screens = home
        screens.surroundings.update(home)
    }

    /// Removes a container and ends its screens.
    func remove(_ name: String) {
        containers.removeValue(forKey: name)?.screens = nil
        guard let home = homes.removeValue(forKey: name) else { return }
        screens.surroundings.update(home)
        home.parts.notifyParents()
        home.end()
    }
}
