"""What a `world.py` builds with: seeded chance, names and dates."""

import random
from collections.abc import Sequence
from datetime import date, datetime, timedelta
from typing import TypeVar

from faker import Faker

T = TypeVar("T")


class Maker:
    """Seeded by (server, seed): the same world on any machine.

    Names of people and places come from `faker`; everything a domain expert would recognise comes from lists that
    the domain curates and this class picks from.
    """

    def __init__(self, server: str, seed: int, start: datetime) -> None:
        self.start = start
        self.rng = random.Random(f"{server}:{seed}")
        self.faker = Faker("en_US")  # its own: worlds may be built side by side, in threads
        self.faker.seed_instance(f"{server}:{seed}")
        self._names: set[str] = set()

    @property
    def today(self) -> date:
        return self.start.date()

    def day(self, offset: int) -> date:
        """The date `offset` days after the world's start (before it, if negative)."""
        return self.today + timedelta(days=offset)

    def moment(self, days: int, hour: int = 9, minute: int = 0) -> datetime:
        """A time of day, `days` days after the world's start."""
        return (self.start + timedelta(days=days)).replace(hour=hour, minute=minute)

    def pick(self, options: Sequence[T]) -> T:
        return self.rng.choice(options)

    def some(self, options: Sequence[T], count: int) -> list[T]:
        """`count` different options, in the options' order."""
        chosen = sorted(self.rng.sample(range(len(options)), min(count, len(options))))
        return [options[i] for i in chosen]

    def shuffled(self, options: Sequence[T]) -> list[T]:
        return self.rng.sample(options, len(options))

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    def between(self, low: int, high: int, step: int = 1) -> int:
        """A whole number from low to high, both included."""
        return self.rng.randrange(low, high + 1, step)

    def digits(self, count: int) -> str:
        return "".join(str(self.rng.randrange(10)) for _ in range(count))

    def person(self) -> str:
        """A full name that this world has not used yet, without titles."""
        while True:
            name = f"{self.faker.first_name()} {self.faker.last_name()}"
            if name not in self._names:
                self._names.add(name)
                return name

    def email(self, name: str, domain: str = "example.com") -> str:
        """The address of a person: `ana.diaz@example.com`."""
        return f"{name.lower().replace(' ', '.').replace(chr(39), '')}@{domain}"
