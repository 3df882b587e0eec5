/// A new plugin of the kind `contents` in Python: the files of a folder.
enum PythonContentsTemplate {
    /// What follows the start that ``PythonTemplate`` has for each kind.
    static let body = ##"""
        import json
        import os
        import stat
        import unicodedata
        from datetime import datetime, timezone


        class Plugin:
            """A method for each call, which returns the parameters of its reply.

            The worker keeps the items, and finds out which of them are new, changed or gone.
            """

            unsent = []  # the items that were read and not sent yet

            def Hello(self, protocols):
                # The manifest names it under "paths", too, so that the program may read the folder.
                setting = {"name": "folder", "type": "path", "required": True, "summary": "the folder to list"}
                return {"protocol": 1, "settings": [setting]}

            def Start(self, container, component, settings, fields):
                Plugin.folder = settings["folder"]
                Plugin.fields = {field["name"] for field in fields}
                return {"listen": 10}

            def Listen(self):
                """Replies the files, 300 at a time: a reply is at most 1 MiB."""
                try:
                    if not self.unsent:
                        Plugin.unsent = list(filter(None, map(self.item, os.scandir(self.folder))))
                except OSError as error:
                    return {"problem": f"{self.folder} can't be read: {error.strerror}."}
                items = self.unsent[-300:]
                del self.unsent[-300:]
                return {"items": items, "more": bool(self.unsent), "all": not self.unsent}

            def item(self, entry):
                """None where it is no file, is gone meanwhile, or has a name that is no id."""
                try:
                    status = entry.stat()
                except FileNotFoundError:
                    return None
                try:
                    changed = datetime.fromtimestamp(int(status.st_mtime), timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
                    is_id = len(entry.name.encode()) <= 200 and "Cc" not in map(unicodedata.category, entry.name)
                except (OSError, OverflowError, ValueError):
                    return None
                values = {"title": entry.name, "size": status.st_size, "changed": changed}
                fields = {name: values[name] for name in values if name in self.fields}
                return {"id": entry.name, "fields": fields} if stat.S_ISREG(status.st_mode) and is_id else None

            def Stop(self):
                return {}
        """##
}
