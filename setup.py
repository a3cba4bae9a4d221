"""Which packages there are: those of `prove`, and the domains in `servers/`, which are installed as parts of `prove.library`."""

from setuptools import find_packages, setup

DOMAINS = find_packages("servers")

setup(
    packages=[*find_packages(include=["prove", "prove.*"]), *(f"prove.library.{name}" for name in DOMAINS)],
    package_dir={f"prove.library.{name}": f"servers/{name}" for name in DOMAINS},
)
