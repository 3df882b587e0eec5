/// A new plugin of the kind `comments` in Python: comments with links wait for a moderator.
enum PythonCommentsTemplate {
    /// What follows the start that ``PythonTemplate`` has for each kind.
    static let body = ##"""
        import json
        import re


        class Plugin:
            """A method for each call, which returns the parameters of its reply.

            The worker keeps the comments; nothing is to be kept here.
            """

            def Hello(self, protocols):
                setting = {"name": "links", "type": "integer", "least": 0, "live": True, "summary": "links that need no moderator"}
                return {"protocol": 1, "settings": [setting], "defaults": {"links": 0}}

            def Start(self, container, component, settings):
                return self.ChangeSettings(settings)

            def ChangeSettings(self, settings):  # called when a setting that is live gets another value
                Plugin.links = settings["links"]
                return {"maxLength": 5000}

            def Post(self, draft):
                letters = [letter for letter in draft["text"] if letter.isalpha()]
                if len(letters) >= 20 and all(letter.isupper() for letter in letters):
                    raise Failure("Refused", reason="This is all in capitals: please write it without shouting.")
                found = len(re.findall(r"https?://", draft["text"]))
                return {"waits": found > Plugin.links and not draft["moderator"]}

            # Edit(self, draft, previous) judges edits; without it, Post does.

            def Stop(self):
                return {}
        """##
}
