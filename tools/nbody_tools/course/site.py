"""Builds one searchable site of all documents, which works offline.

  ./nbody site                     writes build/site, for any web server
  ./nbody site --serve 8000        also serves it at http://127.0.0.1:8000 (search needs a server)
  ./nbody site --output DIR        writes it to DIR instead
  ./nbody site --check             also follows every link and every anchor of the built site

This command needs Zensical. If Zensical is missing, pip installs it in build/site-tools.
"""

from __future__ import annotations

import argparse
import functools
import http.server
import json
import os
import re
import shutil
import subprocess
import tempfile
from html.parser import HTMLParser
from pathlib import Path
from typing import Iterator
from urllib.parse import unquote, urlsplit

from nbody_tools.arguments import (
    ROOT,
    Failed,
    ToolError,
    check_output,
    existing_folder,
    positive_integer,
)
from nbody_tools.course.packages import python_with
from nbody_tools.design.tokens import style_sheet
from nbody_tools.steps import is_draft, published_steps, step_folders

STYLE, SCRIPT = "tokens.css", "site.js"
MOST_PORT = 65535
PACKAGES = ("zensical==0.0.73",)
LINK = re.compile(r"(!?\[[^\]\n]*(?:\n[^\]\n]*)?\]\()([^)\s]+)(\))")
# Matches a header cell without text. It is not the header of anything, so it becomes an ordinary
# cell.
EMPTY_HEADER = re.compile(r"<th([^>]*)>\s*</th>")
HTML_LINK = re.compile(r'(<(?:img|source)\b[^>]*\b(?:src|srcset)=")([^" ]+)(")')
# Indented lines are code if they follow an empty line. Otherwise they continue a list item.
CODE = re.compile(r"^```.*?^```$|(?<=\n\n)(?:    [^\n]*(?:\n|\Z))+|`[^`\n]*`",
                  re.DOTALL | re.MULTILINE)
SOURCES = {
    ".cu": "cuda",
    ".cuh": "cuda",
    ".cpp": "cpp",
    ".h": "cpp",
    ".py": "python",
    ".toml": "toml",
    ".json": "json",
    ".yml": "yaml",
}
FIRST = (
    "README.md",
    "docs/glossary.md",
    "docs/performance.md",
    "docs/answers.md",
    "docs/report.md",
)


def configure(p: argparse.ArgumentParser) -> None:
    p.add_argument(
        "--output", type=Path, default=ROOT / "build" / "site", metavar="DIR", help="[build/site]"
    )
    p.add_argument("--check", action="store_true", help="also follow every link and anchor")
    p.add_argument(
        "--serve",
        type=port,
        metavar="PORT",
        help="also serve it on this machine, until Ctrl-C",
    )
    p.add_argument(
        "--root", type=existing_folder, default=ROOT, metavar="DIR", help="root of the repository"
    )


def port(text: str) -> int:
    value = positive_integer(text)
    if value > MOST_PORT:
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number from 1 to {MOST_PORT}")
    return value


def tracked(root: Path) -> list[Path]:
    listed = subprocess.run(
        ["git", "-C", str(root), "ls-files", "-z"], stdout=subprocess.PIPE, check=False
    )
    if listed.returncode != 0:
        raise Failed("site: git cannot list the files of the project")
    return [
        Path(name)
        for name in listed.stdout.decode().split("\0")
        if name and (root / name).is_file()
    ]


def visible(path: Path) -> Path:
    """Returns the path without leading dots in its names, because Zensical ignores such names."""
    return Path(*(part.lstrip(".") for part in path.parts))


class Pages:
    """Copies a repository's documents into one folder for Zensical, and rewrites their links.
    Leaves out drafts of steps, whose pages are not written yet."""

    def __init__(self, root: Path, folder: Path, without: tuple[str, ...] = ()) -> None:
        self.root, self.folder = root, folder
        drafts = [f"{name}/" for name in step_folders(root) if is_draft(name, root)]
        left_out = (*without, *drafts)
        self.files = {file for file in tracked(root) if not str(file).startswith(left_out)}
        self.folders = {parent for file in self.files for parent in file.parents}
        self.listings: set[Path] = set()  # folders and sources that get a generated page
        self.problems: list[str] = []

    def documents(self) -> list[Path]:
        return sorted(
            file
            for file in self.files
            if file.suffix == ".md" and not file.name.endswith(".template.md")
        )

    def write(self) -> list[Path]:
        pages = self.documents()
        for page in pages:
            text = re.sub(
                r"\A<!-- Generated .*-->\n+", "", (self.root / page).read_text(encoding="utf-8")
            )
            self.put(page, self.with_links_to_pages(text, page))
        done: set[Path] = set()
        while self.listings - done:
            for target in sorted(self.listings - done):
                done.add(target)
                self.put(*self.listing(target))
        if self.problems:
            raise Failed("site: " + "\n".join(self.problems))
        return pages

    def put(self, page: Path, text: str) -> None:
        there = self.folder / page
        there.parent.mkdir(parents=True, exist_ok=True)
        there.write_text(text, encoding="utf-8")

    def with_links_to_pages(self, text: str, page: Path) -> str:
        """Rewrites links outside code. A link to a folder then leads to the folder's README, and a
        link to a source file leads to a page that shows the file. Copies the pictures."""
        def replaced(match: re.Match) -> str:
            kept = (code.span() for code in CODE.finditer(match.string))
            if any(begin <= match.start() < end for begin, end in kept):
                return match.group(0)
            return match.group(1) + self.target(match.group(2), page) + match.group(3)

        return HTML_LINK.sub(replaced, LINK.sub(replaced, text))

    def target(self, link: str, page: Path) -> str:
        parts = urlsplit(link)
        if parts.scheme or parts.netloc or not parts.path:
            return link
        there = Path(os.path.normpath(page.parent / unquote(parts.path)))
        fragment = f"#{parts.fragment}" if parts.fragment else ""
        if there in self.files:
            if there.suffix == ".md":
                return os.path.relpath(there, page.parent) + fragment
            if there.suffix in SOURCES or there.suffix in ("", ".txt", ".jsonl", ".sh"):
                self.listings.add(there)
                return os.path.relpath(self.place(there), page.parent)
            self.copy(there)
            return os.path.relpath(there, page.parent)
        if there in self.folders or there == Path("."):
            if there / "README.md" not in self.files:
                self.listings.add(there)
            return os.path.relpath(visible(there / "README.md"), page.parent) + fragment
        self.problems.append(f"{page}: links to '{link}', which does not exist")
        return link

    def copy(self, file: Path) -> None:
        there = self.folder / file
        there.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(self.root / file, there)

    def place(self, file: Path) -> Path:
        return visible(file.with_name(file.name + ".md"))

    def listing(self, target: Path) -> tuple[Path, str]:
        if target in self.files:
            text = (self.root / target).read_text(encoding="utf-8", errors="replace")
            fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", text)), default=0))
            return self.place(
                target
            ), f"# {target}\n\n{fence}{SOURCES.get(target.suffix, 'text')}\n{text}\n{fence}\n"
        names = sorted(
            {file.relative_to(target).parts[0] for file in self.files if target in file.parents}
        )
        return visible(target / "README.md"), f"# {target}/\n\n" + "".join(
            f"- `{name}`\n" for name in names
        )


def title_of(page: Path, root: Path) -> str:
    """Returns the page's first heading as a YAML string."""
    heading = re.search(r"^# (.+)$", (root / page).read_text(encoding="utf-8"), re.M)
    return json.dumps(
        re.sub(r"[`*]|\[([^\]]*)\]\([^)]*\)", r"\1", heading.group(1)) if heading else str(page)
    )


def configuration(pages: list[Path], root: Path) -> str:
    steps = [Path(step, "README.md") for step in published_steps(root)]
    first = [Path(name) for name in FIRST]
    groups = {
        "The steps": [p for p in steps if p in pages],
        "For teachers": [p for p in pages if p.parts[0] == "course"],
        "Documents": [p for p in pages if p.parts[0] == "docs" and p not in first],
        "On a CPU": [p for p in pages if p.parts[0] == "cpu"],
        "Experiments": [
            p for p in pages
            if p.parts[0] in ("experiments", "float64", "integrators", "small_systems")
        ],
        "Tools": [
            p
            for p in pages
            if p.parts[0] in ("hostcuda", "view", "tools", "tests", "benchmarks", "packaging")
        ],
    }
    lines = [
        "site_name: nbody-steps",
        "docs_dir: docs",
        "site_dir: site",
        "use_directory_urls: false",
        "theme:",
        "  name: material",
        "  font: false",
        "  features: [content.code.copy, navigation.top, toc.follow]",
        "  palette:",
        *(
            line
            for theme, scheme, other in (("light", "default", "dark"), ("dark", "slate", "light"))
            for line in (
                f'    - media: "(prefers-color-scheme: {theme})"',
                f"      scheme: {scheme}",
                "      toggle:",
                "        icon: lucide/sun-moon",
                f"        name: Switch to {other} pages",
            )
        ),
        f"extra_css: [{STYLE}]",
        f"extra_javascript: [{SCRIPT}]",
        "plugins: [search]",
        "markdown_extensions: [tables, attr_list, admonition, pymdownx.highlight, "
        "pymdownx.superfences, pymdownx.details]",
        "nav:",
    ]
    lines += [f"  - {title_of(page, root)}: {page}" for page in first if page in pages]
    for title, group in groups.items():
        if group:
            lines += [f"  - {title}:", *(f"    - {title_of(page, root)}: {page}" for page in group)]
    return "\n".join(lines) + "\n"


def site_style() -> str:
    """Returns the style sheet that gives Zensical's theme our colours. A reader may switch between
    light and dark, so the style sheet contains both palettes; an attribute of the page selects one.
    """
    own = Path(__file__).with_name("site.css").read_text(encoding="utf-8")
    themes = (("default", "light"), ("slate", "dark"))
    return "".join(style_sheet(theme).replace(":root", f'[data-md-color-scheme="{scheme}"]')
                   for scheme, theme in themes) + own


def build(root: Path, output: Path) -> int:
    if output.exists() and any(output.iterdir()) and not (output / "404.html").is_file():
        raise ToolError(f"--output {output}: has files that are not part of a site")
    python = python_with(("zensical",), PACKAGES, root / "build" / "site-tools")
    with tempfile.TemporaryDirectory() as temporary:
        docs = Path(temporary, "docs")
        pages = Pages(root, docs).write()
        (docs / STYLE).write_text(site_style(), encoding="utf-8")
        shutil.copyfile(Path(__file__).with_name(SCRIPT), docs / SCRIPT)
        config = Path(temporary, "mkdocs.yml")  # Zensical reads MkDocs's configuration
        config.write_text(configuration(pages, root), encoding="utf-8")
        done = subprocess.run(
            [python, "-m", "zensical", "build", "--config-file", str(config)],
            check=False,
            cwd=temporary,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        if done.returncode == 0:
            for page in Path(temporary, "site").rglob("*.html"):
                text = page.read_text(encoding="utf-8")
                page.write_text(EMPTY_HEADER.sub(r"<td\1></td>", text), encoding="utf-8")
            shutil.rmtree(output, ignore_errors=True)
            shutil.copytree(Path(temporary, "site"), output)
    if done.returncode != 0:
        raise Failed(f"site: Zensical could not build the site:\n{done.stdout[-2000:]}")
    return len(pages)


class Links(HTMLParser):
    """Collects the links and the anchors of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.targets: list[str] = []
        self.anchors: set[str] = {""}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.anchors |= {value for name in ("id", "name") if (value := found.get(name))}
        self.targets += [
            value for name in ("href", "src") if (value := found.get(name)) is not None
        ]


def dead_links(site: Path) -> Iterator[str]:
    """Yields the links whose page or anchor is missing in the site."""
    pages = {page: Links(page.read_text(encoding="utf-8")) for page in sorted(site.rglob("*.html"))}
    for page, links in pages.items():
        for target in links.targets:
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                continue
            there = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            there = there / "index.html" if there.is_dir() else there
            where = page.relative_to(site)
            if where.name == "404.html":  # the links of this page start at the server's root
                continue
            if not there.is_file():
                yield f"{where}: links to '{target}', which does not exist"
            elif there in pages and unquote(parts.fragment) not in pages[there].anchors:
                yield f"{where}: links to '{target}', but that page has no such anchor"


def fetched_from_elsewhere(site: Path) -> Iterator[str]:
    for page in sorted(site.rglob("*.html")):
        text = page.read_text(encoding="utf-8")
        for match in re.finditer(
            r'<(?:script|link|img)\b[^>]*\b(?:src|href)="(https?:)?//([^"]+)"', text
        ):
            if 'rel="canonical"' not in match.group(0):
                yield f"{page.relative_to(site)}: loads {match.group(2)} from the network"


def check(options: argparse.Namespace) -> None:
    check_output(options.output / "index.html")


def run(options: argparse.Namespace) -> int:
    count = build(options.root.resolve(), options.output)
    print(f"{options.output}/index.html: {count} documents")
    problems = (
        [*dead_links(options.output), *fetched_from_elsewhere(options.output)]
        if options.check
        else []
    )
    for problem in problems:
        print(problem)
    if options.serve:
        serve(options.output, options.serve)
    return 1 if problems else 0


def serve(site: Path, port: int) -> None:
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", port), handler) as server:
        print(f"http://127.0.0.1:{port}/  (Ctrl-C ends it)", flush=True)
        server.serve_forever()
