"""Tables whose rows the devices of a mesh share: lookups from the devices that own the rows."""
