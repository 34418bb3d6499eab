"""Hooks of MkDocs: they adapt pages written for GitHub to the site, and redirect earlier addresses."""

import html
import posixpath
import re
from pathlib import Path

_FENCE = re.compile(r"^```([\w.+-]+) .*$", re.MULTILINE)
_MOVED = re.compile(r"^\| (\S+)\.md \| \[[^\]]*\]\((\S+?)\.md(#\S+)?\) \|$", re.MULTILINE)
_CODE = re.compile(r"(?<=<code>)[^<>\n]+(?=</code>)")
_FLAG = re.compile(r"(?<!\S)--?\w[\w-]*")
_LINK = re.compile(r"(!?\[[^\]]*\]\()(\.\.?/[^)#\s]*)((?:#[^)\s]*)?\))")


def on_page_markdown(markdown, page, config, files):
    """Leave out what a fence tells the tests, and have links that leave docs/ point to the repository."""

    def link(m):
        path = posixpath.normpath(posixpath.join("docs", posixpath.dirname(page.file.src_uri), m[2]))
        if path.startswith("docs/") and not path.endswith(".go"):
            return m[0]
        return m[1] + posixpath.join(config["extra"]["repository"], "blob/main", path) + m[3]

    return _LINK.sub(link, _FENCE.sub(r"```\1", markdown))


def on_post_page(output, page, config):
    """Name the search for those who cannot see it, let keys scroll wide blocks, and mark the flags, which are kept on one line."""
    output = output.replace('data-md-component="search" role="dialog"', 'data-md-component="search" role="dialog" aria-label="Search"')
    output = _CODE.sub(lambda m: _FLAG.sub(r'<span class="flag">\g<0></span>', m[0]), output)
    return output.replace("<pre><span></span><code>", '<pre tabindex="0"><span></span><code>')


def on_post_build(config):
    """Write a page that redirects for every line of docs/moved.md."""
    site = Path(config["site_dir"])
    for old, new, anchor in _MOVED.findall((Path(config["docs_dir"]) / "moved.md").read_text(encoding="utf-8")):
        page = site / (old + ".html")
        if page.exists():
            raise ValueError(f"docs/moved.md: {old} is a page")
        if not (site / (new + ".html")).exists():
            raise ValueError(f"docs/moved.md: {new} is no page")
        to = html.escape(posixpath.relpath(new, posixpath.dirname(old) or ".") + ".html" + anchor)
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(
            f'<!doctype html>\n<meta charset="utf-8">\n<title>Moved</title>\n<meta http-equiv="refresh" content="0; url={to}">\n'
            f'<p>This page has moved: <a href="{to}">{to}</a></p>\n',
            encoding="utf-8",
        )
