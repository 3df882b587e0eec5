/// A new plugin of the kind `filters` in Python: a section for each field that has few values.
enum PythonFiltersTemplate {
    static let title = "a section of filters for each field that a setting names, by its values."

    /// The program, without what replies to calls.
    static let body = ##"""
        import json


        class Refused(Exception):
            """Raised by Find: says that there is no such filter, and what there is."""

            name = "FilterNotFound"


        def match(field, value):
            """What an item has to match to have this value, or to have it in its list."""
            name = {bool: "boolean", str: "text"}.get(type(value), "number")
            return {"field": field, name: value}


        class Plugin:
            """A method for each that is asked, which returns the parameters of its reply."""

            def Hello(self, protocols):
                setting = {"name": "fields", "type": "list", "required": True, "summary": "the fields to offer"}
                return {"protocol": 1, "settings": [setting]}

            def Start(self, container, component, settings, fields):
                Plugin.offered = settings["fields"]
                Plugin.titles = {field["name"]: field.get("title") or field["name"] for field in fields}
                return {"observe": self.offered}

            def Values(self, values, cut):
                return {"sections": [self.section(field, values[field], field in cut) for field in self.offered]}

            def section(self, field, values, is_cut):
                filters = [
                    {"id": str(value), "title": str(value), "all": [match(field, value)]} for value in values
                ]
                return {
                    "id": field.lower(), "title": self.titles[field], "input": "several", "filters": filters,
                    "more": is_cut,
                }

            # Find(self, section, id) makes filters that are not offered, and may raise Refused.

            def Stop(self):
                return {}
        """##
}
