"""What a text file is: lines, each of which ends in a newline, save perhaps the last."""

import difflib
import re

SEPARATORS = {"comma": ",", "semicolon": ";", "tab": "\t", "space": " ", "colon": ":"}


def lines_of(text: str) -> list[str]:
    """The lines of a text, without their ends."""
    return text.removesuffix("\n").split("\n") if text else []


def whole_lines_of(text: str) -> list[str]:
    """The lines of a text as they are, so that together they are the text."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def text_of(lines: list[str]) -> str:
    """The text of some lines: each ends with a newline."""
    return "".join(f"{line}\n" for line in lines)


def ended(text: str) -> str:
    """A text with the newline that ends its last line."""
    return text if not text or text.endswith("\n") else f"{text}\n"


def difference(before: str, after: str, old: str, new: str) -> list[str]:
    """How two texts differ, as `diff -u` says it: a line without an end differs from the same line with one."""
    lines = list(difflib.unified_diff(whole_lines_of(before), whole_lines_of(after), old, new))
    return [line.removesuffix("\n") if line.endswith("\n") else f"{line}\n\\ No newline at end of file" for line in lines]
