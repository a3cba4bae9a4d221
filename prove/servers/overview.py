"""The catalogue for people and programs: what `prove servers` prints."""

from typing import Any

from prove.servers.catalog import catalogue, load, world_of


def overview() -> list[dict[str, Any]]:
    """One entry a server: counts, and every tool with its schemas."""
    return [_entry(name) for name in catalogue()]


def _entry(name: str) -> dict[str, Any]:
    domain = load(name)
    tools = domain.server.tools.values()
    return {
        "server": name,
        "category": domain.server.category,
        "summary": domain.summary,
        "reads": sum(not t.marks.writes for t in tools),
        "writes": sum(t.marks.writes for t in tools),
        "ids": sorted(spec.record.__name__ for spec in domain.server.tables.values() if spec.id_format),
        "records": len(world_of(name, 0)),
        "tools": [
            {
                "name": t.name,
                "description": t.description,
                "writes": t.marks.writes,
                "destructive": t.marks.destructive,
                "idempotent": t.marks.idempotent,
                "consumes": sorted(i.__name__ for i in t.consumes),
                "produces": sorted(i.__name__ for i in t.produces),
                "input_schema": t.input_schema,
                "output_schema": t.output_schema,
            }
            for t in tools
        ],
    }


def table_text() -> str:
    """The library as a table of text."""
    rows = [["server", "tools", "reads", "writes", "records", "mints ids for"]]
    for e in overview():
        counts = (len(e["tools"]), e["reads"], e["writes"], e["records"])
        rows.append([e["server"], *map(str, counts), ", ".join(e["ids"])])
    total = [sum(int(row[i]) for row in rows[1:]) for i in range(1, 5)]
    rows.append([f"{len(rows) - 1} servers", *map(str, total), ""])
    widths = [max(len(row[i]) for row in rows) for i in range(5)]
    return "\n".join("  ".join(cell.ljust(w) for cell, w in zip(row, [*widths, 0], strict=True)).rstrip() for row in rows)
