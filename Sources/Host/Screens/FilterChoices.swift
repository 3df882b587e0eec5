import AtriumKit

extension ContainerScreens {
    /// The filters that users select on the screens.
    public var filters: FilterChoices { FilterChoices(screens: self) }
}

/// The selection of filters on a container's screens.
///
/// A filters component answers a choice with the new selection, which is then shown as the delegate decides.
public struct FilterChoices {
    let screens: ContainerScreens

    private var container: Container { screens.container }

    /// Selects a filter.
    public func select(
        section: String, filter: String, on screen: Screen, _ reply: @escaping Answer<Int>
    ) {
        let id = ComponentQuery.FilterID(section: section, filter: filter)
        choose(screen, id, { .select(id, of: $0, screen: screen.id.text) }, reply)
    }

    /// Deselects a filter.
    public func deselect(
        section: String, filter: String, on screen: Screen, _ reply: @escaping Answer<Int>
    ) {
        let id = ComponentQuery.FilterID(section: section, filter: filter)
        choose(screen, id, { .deselect(id, of: $0, screen: screen.id.text) }, reply)
    }

    /// Clears the selection.
    public func clear(_ screen: Screen, _ reply: @escaping Answer<Int>) {
        choose(screen, nil, { .clear($0, screen: screen.id.text) }, reply)
    }

    /// Requests the new selection from the section's filters component, and shows it as the container's delegate
    /// decides.
    private func choose(
        _ screen: Screen, _ filter: ComponentQuery.FilterID?,
        _ query: @escaping (Selection) -> ComponentQuery, _ reply: @escaping Answer<Int>
    ) {
        if let filter {
            do throws(HostError) {
                try container.domain.limits.check(section: filter.section, filter: filter.filter)
            } catch {
                return reply(.failure(error))
            }
        }
        screens.choosing.queue(on: screen, reply) { [self] done in
            findComponent(of: filter?.section) { [self] result in
                switch result {
                case .failure(let error): done(.failure(error))
                case .success(let slot):
                    ask(slot, query(screen.choices.view.selection), screen, done)
                }
            }
        }
    }

    private func ask(
        _ slot: Slot, _ query: ComponentQuery, _ screen: Screen, _ done: @escaping Answer<Int>
    ) {
        let before = screen.choices.view.selection
        container.filters.report(to: slot) { [self] in
            slot.requests.ask(query, for: slot, isOfScreen: true) { [self] result in
                switch result {
                case .success(.selection(let selection, let events)):
                    // The delegate's message is sent with the revision that shows the choices.
                    let deferral = screen.deferMessages()
                    // Where it was not selected, nothing was deselected: its delegate has nothing to say of it.
                    let isIdle = if case .deselect = query { selection == before } else { false }
                    container.delivery.deliver(isIdle ? [] : events, from: slot)
                    var choices = screens.placement.choices(of: screen)
                    choices.view.selection = selection
                    screens.choosing.propose(choices, on: screen) { result in
                        screen.endDeferral(deferral)
                        done(result)
                    }
                case .success: done(.failure(.wrongAnswer(of: slot.name)))
                case .failure(let error): container.filters.explain(error, slot, done)
                }
            }
        }
    }

    /// Finds the filters component that has a section; nil: the first one.
    private func findComponent(of section: String?, _ done: @escaping Answer<Slot>) {
        let candidates = container.filters.slots
        guard let first = candidates.first else {
            return done(
                .failure(.filterNotFound(section: section ?? "", filter: "", known: [])))
        }
        guard let section, candidates.count > 1 else { return done(.success(first)) }
        find(section, in: candidates[...], otherwise: first, done)
    }

    private func find(
        _ section: String, in slots: ArraySlice<Slot>, otherwise first: Slot,
        _ done: @escaping Answer<Slot>
    ) {
        // If none has the section, the first one's error lists the known sections.
        guard let slot = slots.first else { return done(.success(first)) }
        slot.requests.ask(.sections, for: slot, isOfScreen: true) { [self] result in
            if case .success(.sections(let sections)) = result,
                sections.contains(where: { $0.id == section })
            {
                return done(.success(slot))
            }
            find(section, in: slots.dropFirst(), otherwise: first, done)
        }
    }
}

// MARK: Filters that are gone

extension FilterChoices {
    /// Removes a filter that no longer exists from the screens that had selected it.
    func drop(_ filter: String, in section: String, from view: SharedView) {
        let gone = ComponentQuery.FilterID(section: section, filter: filter)
        var screens = Array(view.screens.values)
        container.domain.slices.run { [self] in
            guard let screen = screens.popLast() else { return false }
            drop([gone], on: screen)
            return true
        } then: {
        }
    }

    private func drop(_ gone: [ComponentQuery.FilterID], on screen: Screen) {
        screens.choosing.change(screen) { choices in
            for id in gone { choices.view.selection[id.section].removeAll { $0 == id.filter } }
        } then: { [self] result in
            // If several filters are gone, each is reported separately.
            guard case .failure(.filterNotFound(let section, let filter, _, _)) = result else {
                return
            }
            let next = ComponentQuery.FilterID(section: section, filter: filter)
            if !gone.contains(next) { drop(gone + [next], on: screen) }
        }
    }
}
