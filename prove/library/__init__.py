"""The library: twenty domains, one folder each. Found by `prove.servers.catalog`; they never import each other.

In a checkout they stand in `servers/`; a wheel puts them here, beside this file, so that nobody's own `servers` meets them.
"""

from pathlib import Path

_HERE = Path(__file__).resolve().parent
__path__ = [str(_HERE if (_HERE / "tutorial").is_dir() else _HERE.parent.parent / "servers")]
