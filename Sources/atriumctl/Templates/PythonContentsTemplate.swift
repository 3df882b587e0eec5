/// A new plugin of the kind `contents` in Python: the files of a folder.
enum PythonContentsTemplate {
    static let title = "the files of a folder, read again every ten seconds."

    /// The program, without what replies to calls.
    static let body = ##"""
        import json
        import os
        from datetime import datetime, timezone


        class Refused(Exception):
            """Never raised: no method of this kind may be refused."""

            name = "SettingInvalid"


        class Plugin:
            """A method for each that is asked, which returns the parameters of its reply.

            The worker keeps the items, and finds out which of them are new, changed or gone.
            """

            def Hello(self, protocols):
                # The manifest names it under "paths", too, so that the program may read the folder.
                setting = {"name": "folder", "type": "path", "required": True, "summary": "the folder to list"}
                return {"protocol": 1, "settings": [setting]}

            def Start(self, container, component, settings, fields):
                Plugin.folder = settings["folder"]
                Plugin.fields = {field["name"] for field in fields}
                return {"listen": 10}

            def Listen(self):
                try:
                    files = [entry for entry in os.scandir(self.folder) if entry.is_file()]
                except OSError as error:
                    return {"problem": f"{self.folder} can't be read: {error.strerror}."}
                return {"items": [self.item(entry) for entry in files], "all": True}

            def item(self, entry):
                status = entry.stat()
                changed = datetime.fromtimestamp(int(status.st_mtime), timezone.utc).isoformat()
                values = {"title": entry.name, "size": status.st_size, "changed": changed}
                return {"id": entry.name, "fields": {name: values[name] for name in values if name in self.fields}}

            def Stop(self):
                return {}
        """##
}
