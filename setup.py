"""Build metadata comes from settings.ini, the single source nbdev also reads."""

from configparser import ConfigParser
from pathlib import Path

from setuptools import find_packages, setup

here = Path(__file__).parent
parser = ConfigParser(delimiters=["="])
parser.read(here / "settings.ini", encoding="utf-8")
cfg = parser["DEFAULT"]


def words(key: str) -> list[str]:
    return cfg.get(key, "").split()


NAMES = (
    "progress",
    "columns",
    "scale",
    "test",
    "book",
    "proof",
    "browser",
    "benchmark",
    "bridges",
    "dev",
)
extras = {name: words(f"{name}_requirements") for name in NAMES}
for name in ("progress", "columns", "scale", "test", "book", "proof"):
    extras["dev"] += extras[name]

setup(
    name=cfg["lib_name"],
    version=cfg["version"],
    description=cfg["description"],
    long_description=(here / "README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    author=cfg["author"],
    author_email=cfg["author_email"],
    license="Apache-2.0",
    url=cfg["git_url"],
    keywords=words("keywords"),
    packages=find_packages(include=[cfg["lib_path"], cfg["lib_path"] + ".*"]),
    package_data={cfg["lib_path"]: ["py.typed", "*.pyi", "book.mplstyle", "*.js"]},
    python_requires=">=" + cfg["min_python"],
    install_requires=words("requirements"),
    extras_require=extras,
    entry_points={
        "console_scripts": [f"{cfg['lib_name']}={cfg['lib_path']}.cli.command_line:main"],
        "nbdev": [f"{cfg['lib_path']}={cfg['lib_path']}._modidx:d"],
    },
    classifiers=[
        "Development Status :: 3 - Alpha",
        "Intended Audience :: Science/Research",
        "Programming Language :: Python :: 3",
        "Framework :: Jupyter",
        "Typing :: Typed",
    ],
    zip_safe=False,
)
