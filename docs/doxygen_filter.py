"""Gives Doxygen the anchors that other readers of Markdown make of headings, and links to them.

usage: doxygen_filter.py FILE
"""
import pathlib
import re
import sys


def slug(heading):
    return re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", heading.lower()))


def filtered(page, text):
    seen = {}

    def heading(match):
        name = slug(match[2])
        seen[name] = seen.get(name, -1) + 1
        return f"{match[1]}{match[2]} {{#{page}-{name}{f'-{seen[name]}' if seen[name] else ''}}}"

    parts = re.split(r"(^```.*?^```$)", text, flags=re.MULTILINE | re.DOTALL)  # code stays as it is
    for i in range(0, len(parts), 2):
        parts[i] = re.sub(r"^(##+ )(.*)$", heading, parts[i], flags=re.MULTILINE)
        parts[i] = re.sub(r"\]\((?:(\w+)\.md)?#([\w-]+)\)", lambda m: f"](#{m[1] or page}-{m[2]})", parts[i])
    return "".join(parts)


if __name__ == "__main__":
    path = pathlib.Path(sys.argv[1])
    text = path.read_text()
    print(filtered(path.stem.lower(), text) if path.suffix == ".md" else text, end="")
