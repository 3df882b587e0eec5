/// A new plugin of the kind `votes` in Python: thumbs up and down.
enum PythonVotesTemplate {
    /// What follows the start that ``PythonTemplate`` has for each kind.
    static let body = ##"""
        import json

        scores = {}  # by item; None is the container itself


        def count(item, vote, previous):
            """Puts a vote in place of the one before; None is no vote."""
            change = (vote["value"] if vote else 0) - (previous["value"] if previous else 0)
            scores[item] = scores.get(item, 0) + change
            return scores[item]


        class Plugin:
            """A method for each call, which returns the parameters of its reply."""

            def Hello(self, protocols):
                return {"protocol": 1}

            def Start(self, container, component, settings):
                return {"min": -1, "max": 1, "step": 2}  # the worker refuses any other value

            def Restore(self, ballots):
                for ballot in ballots:
                    count(ballot.get("item"), ballot, None)
                return {}

            def Restored(self, subjects):
                return {"scores": [scores.get(subject.get("item")) for subject in subjects]}

            def Cast(self, ballot, previous=None):
                return {}  # or: raise Failure("Refused", reason="Votes are closed.")

            def Retract(self, ballot):
                return {}

            def Apply(self, actor, item=None, vote=None, previous=None):
                return {"score": count(item, vote, previous)}

            def Stop(self):
                return {}
        """##
}
