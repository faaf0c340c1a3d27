"""Makes one record of each kind, so that not every generated id leads to 404. Prints them as Schemathesis' dictionaries."""
