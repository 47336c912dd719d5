"""Build metadata comes from settings.ini, the single source nbdev also reads."""

import re
from configparser import ConfigParser
from pathlib import Path

from setuptools import find_packages, setup
from setuptools.command.build_py import build_py

here = Path(__file__).parent
parser = ConfigParser(delimiters=["="])
parser.read(here / "settings.ini", encoding="utf-8")
cfg = parser["DEFAULT"]


def words(key: str) -> list[str]:
    return cfg.get(key, "").split()


NAMES = (
    "progress",
    "columns",
    "duckdb",
    "spark",
    "scale",
    "chapters",
    "test",
    "book",
    "proof",
    "browser",
    "benchmark",
    "bridges",
    "dev",
)


class BuildModules(build_py):
    """Leave nbdev's index of the sources out of the wheel: only nbdev reads it, next to the notebooks."""

    def find_package_modules(self, package, package_dir):  # noqa: D102
        found = super().find_package_modules(package, package_dir)
        return [module for module in found if module[1] != "_modidx"]


def readme() -> str:
    """README with links that also work where the files of the repository are not at hand."""

    def absolute(match: re.Match[str]) -> str:
        start, picture, target = match.group(1), match.group(1).startswith("!"), match.group(2)
        file = f"README.md{target}" if target.startswith("#") else target
        return f"{start}{cfg['git_url']}/{'raw' if picture else 'blob'}/{cfg['branch']}/{file}"

    text = (here / "README.md").read_text(encoding="utf-8")
    return re.sub(r"(!?\[[^]]*\]\()(?![a-z]+:)([^)\s]+)", absolute, text)


extras = {name: words(f"{name}_requirements") for name in NAMES}
for name in ("progress", "columns", "duckdb", "scale"):
    extras["chapters"] += extras[name]
for name in ("chapters", "test", "book", "proof"):
    extras["dev"] += extras[name]

setup(
    name=cfg["lib_name"],
    version=cfg["version"],
    description=cfg["description"],
    long_description=readme(),
    long_description_content_type="text/markdown",
    author=cfg["author"],
    author_email=cfg["author_email"],
    license="Apache-2.0",
    project_urls={
        "Homepage": cfg["doc_host"] + cfg["doc_baseurl"],
        "Documentation": cfg["doc_host"] + cfg["doc_baseurl"],
        "Source": cfg["git_url"],
        "Issues": cfg["git_url"] + "/issues",
    },
    keywords=words("keywords"),
    packages=find_packages(include=[cfg["lib_path"], cfg["lib_path"] + ".*"]),
    package_data={"": ["*.pyi"], cfg["lib_path"]: ["py.typed", "book.mplstyle", "*.js"]},
    python_requires=">=" + cfg["min_python"],
    install_requires=words("requirements"),
    extras_require=extras,
    entry_points={
        "console_scripts": [f"{cfg['lib_name']}={cfg['lib_path']}.cli.command_line:main"],
    },
    cmdclass={"build_py": BuildModules},
    classifiers=[
        "Development Status :: 3 - Alpha",
        "Intended Audience :: Science/Research",
        "Programming Language :: Python :: 3",
        "Framework :: Jupyter",
        "Typing :: Typed",
    ],
    zip_safe=False,
)
