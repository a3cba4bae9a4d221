"""Tables as plain text, for a terminal."""

from collections.abc import Mapping


def columns(rows: Mapping[object, Mapping[str, float | None]]) -> str:
    """Numbers with three decimals under their names, a row each, "-" for what does not apply."""
    names = list(next(iter(rows.values()), {}))
    lines = [["", *names]]
    lines += [[str(row), *("-" if value is None else f"{value:.3f}" for value in values.values())] for row, values in rows.items()]
    first, *widths = (max(len(line[i]) for line in lines) for i in range(len(names) + 1))
    return "\n".join("  ".join([name.ljust(first), *map(str.rjust, cells, widths)]) for name, *cells in lines)
