"""The page within another page: in the output of a notebook cell."""

from __future__ import annotations

from html import escape

# Pixels: the map and a topic fit, and the frame still fits on a laptop's screen.
HEIGHT = 720
# Scripts run, without access to the notebook around them, and files can be saved; nothing else is allowed.
_SANDBOX = "allow-scripts allow-downloads"
# Addresses such as #topic-3 are relative to the base of a document, which would be that of the notebook. It has to stand
# before the policy of the page, which allows no base.
_BASE = '<base href="about:srcdoc">'


def framed(page: str, title: str, height: int) -> str:
    """Return an HTML page as a frame that holds it, so that neither the styles nor the scripts of the two mix.

    Parameters
    ----------
    page : str
        A whole HTML document.
    title : str
        What readers of screens call the frame.
    height : int
        In pixels.
    """
    inside = page.replace("<head>", f"<head>{_BASE}", 1)
    # Between single quotes only two characters need escaping. A page is mostly JSON: escaping its double quotes as well
    # would make it half as large again.
    source = inside.replace("&", "&amp;").replace("'", "&#39;")
    return (
        f'<iframe title="{escape(title)}" sandbox="{_SANDBOX}" loading="lazy" '
        f'style="width:100%;height:{height}px;border:1px solid rgba(128,128,128,.4);border-radius:4px;background:#fff" '
        f"srcdoc='{source}'></iframe>"
    )
