"""Hooks of MkDocs: what pages for GitHub need to be pages of the site."""

import posixpath
import re

_FENCE = re.compile(r"^```([\w.+-]+) .*$", re.MULTILINE)
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
    """Name the search for those who cannot see it, and let keys scroll wide blocks."""
    output = output.replace('data-md-component="search" role="dialog"', 'data-md-component="search" role="dialog" aria-label="Search"')
    return output.replace("<pre><span></span><code>", '<pre tabindex="0"><span></span><code>')
