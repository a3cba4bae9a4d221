"""A desk with nothing on it."""

from prove.servers.maker import Maker

from .tools import FrontDesk


def populate(desk: FrontDesk, make: Maker) -> None:
    pass
