/// A new plugin of the kind `filters` in Python: a section for each field that a setting names.
enum PythonFiltersTemplate {
    /// What follows the start that ``PythonTemplate`` has for each kind.
    static let body = ##"""
        import json


        def filter_for(field, value):
            """Lets items through that have a value, or have it in their list."""
            name = {bool: "boolean", str: "text"}.get(type(value), "number")
            text = value if name == "text" else json.dumps(value).removesuffix(".0")
            return {"id": text, "title": text, "all": [{"field": field, name: value}]}


        class Plugin:
            """A method for each call, which returns the parameters of its reply."""

            def Hello(self, protocols):
                setting = {"name": "fields", "type": "list", "required": True, "summary": "the fields to offer"}
                return {"protocol": 1, "settings": [setting]}

            def Start(self, container, component, settings, fields):
                Plugin.offered = settings["fields"]
                Plugin.titles = {field["name"]: field.get("title") or field["name"] for field in fields}
                for number, field in enumerate(self.offered):
                    if field not in list(self.titles) or field in self.offered[:number]:
                        reason = f"the container has no field {json.dumps(field)}, or it is named twice"
                        raise Failure("SettingInvalid", setting="fields", reason=reason)
                return {"observe": self.offered}

            def Values(self, values, cut):
                return {"sections": [self.section(field, values[field], field in cut) for field in self.offered]}

            def section(self, field, values, is_cut):
                filters = [filter_for(field, value) for value in values]
                return {
                    "id": field.lower().replace("_", "-"), "title": self.titles[field], "input": "several",
                    # An id is not empty, nor longer than a link should be.
                    "filters": [filter for filter in filters if 0 < len(filter["id"].encode()) <= 200], "more": is_cut,
                }

            # Find(self, section, id) makes filters that are not offered, or raises Failure("FilterNotFound", reason=...).

            def Stop(self):
                return {}
        """##
}
