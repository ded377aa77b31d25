"""Prints the fields of the package's types, and which of them are needed."""

import json
from typing import Any

from ctxd import types

TYPES: "dict[str, Any]" = {
    name: each for name, each in vars(types).items() if hasattr(each, "__required_keys__")
}
FIELDS = {
    name: {field: field in each.__required_keys__ for field in each.__annotations__}
    for name, each in TYPES.items()
}
print(json.dumps(FIELDS))
