"""A page as tests look at it: elements with their attributes, text by place, and what is wrong with the markup."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from html.parser import HTMLParser
from itertools import pairwise

VOID = frozenset({
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr",
})  # fmt: skip
LABELLED = frozenset({"input", "select", "textarea"})


@dataclass
class Element:
    tag: str
    attributes: dict[str, str]
    parent: Element | None = None
    children: list[Element | str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self._texts()).split())

    def _texts(self) -> list[str]:
        parts = [child if isinstance(child, str) else child.text for child in self.children]
        return [part for part in parts if part.strip()]

    @property
    def classes(self) -> list[str]:
        return self.attributes.get("class", "").split()

    def ancestors(self) -> list[Element]:
        return [] if self.parent is None else [self.parent, *self.parent.ancestors()]

    def all(self, tag: str | None = None, css_class: str | None = None, **attributes: str) -> list[Element]:
        """Every element below this one with the tag, the class and the attributes."""
        found = []
        for child in self.children:
            if isinstance(child, Element):
                wanted = (
                    (tag is None or child.tag == tag)
                    and (css_class is None or css_class in child.classes)
                    and all(child.attributes.get(name.strip("_")) == value for name, value in attributes.items())
                )
                found += [child] if wanted else []
                found += child.all(tag, css_class, **attributes)
        return found

    def one(self, tag: str | None = None, css_class: str | None = None, **attributes: str) -> Element:
        found = self.all(tag, css_class, **attributes)
        assert len(found) == 1, f"{len(found)} elements {tag} .{css_class} {attributes} in {self.text[:200]!r}"
        return found[0]


class _Builder(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.root = Element("root", {})
        self.stack = [self.root]
        self.problems: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, {name: value or "" for name, value in attrs}, self.stack[-1])
        self.stack[-1].children.append(element)
        if len(attrs) != len(dict(attrs)):
            self.problems.append(f"<{tag}> repeats an attribute")
        if tag not in VOID:
            self.stack.append(element)

    def handle_endtag(self, tag: str) -> None:
        if tag in VOID:
            return
        if self.stack[-1].tag == tag:
            self.stack.pop()
        else:
            self.problems.append(f"</{tag}> closes <{self.stack[-1].tag}>")

    def handle_data(self, data: str) -> None:
        self.stack[-1].children.append(data)


def parse(source: str) -> Element:
    """The elements of a page or fragment. Fails on tags that do not nest."""
    builder = _Builder()
    builder.feed(source)
    builder.close()
    assert not builder.problems, builder.problems
    assert builder.stack == [builder.root], f"<{builder.stack[-1].tag}> is not closed"
    return builder.root


def fields_of(form: Element) -> dict[str, list[str]]:
    """What a browser would send of a form that nobody touched, but for its files and buttons."""
    found: dict[str, list[str]] = {}
    for each in form.all():
        name, is_copied = each.attributes.get("name"), any(parent.tag == "template" for parent in each.ancestors())
        if name and not is_copied and (values := _values_of(each)):
            found.setdefault(name, []).extend(values)
    return found


def _values_of(control: Element) -> list[str]:
    attributes, kind = control.attributes, control.attributes.get("type")
    if control.tag == "textarea":
        return [control.text]
    if control.tag == "select":
        options = control.all("option")
        chosen = [option for option in options if "selected" in option.attributes]
        shown = chosen or ([] if "multiple" in attributes else options[:1])
        return [option.attributes.get("value", option.text) for option in shown]
    if control.tag != "input" or kind in ("file", "submit"):
        return []
    if kind in ("checkbox", "radio"):
        return [attributes.get("value", "on")] if "checked" in attributes else []
    return [attributes.get("value", "")]


def problems(page: Element) -> list[str]:
    """What is wrong with a whole page: for the policy, for a screen reader, for a keyboard."""
    found = []
    elements = page.all()
    ids = Counter(element.attributes["id"] for element in elements if "id" in element.attributes)
    found += [f"id {name} stands {count} times" for name, count in ids.items() if count > 1]
    for element in elements:
        found += _policy_problems(element) + _accessibility_problems(element, page, set(ids))
    if len(page.all("h1")) != 1:
        found.append(f"{len(page.all('h1'))} h1 headings")
    if not page.one("head").one("title").text or not page.one("html").attributes.get("lang"):
        found.append("no title or no language")
    found += _heading_jumps(elements)
    if page.all("svg", "plot") and not any("plots" in link.attributes.get("href", "") for link in page.all("link")):
        found.append("a plot without its sheet")
    return found


def _policy_problems(element: Element) -> list[str]:
    """What the content security policy would block."""
    inline = [name for name in element.attributes if name == "style" or name.startswith("on")]
    found = [f"inline {name} on <{element.tag}>" for name in inline]
    if element.tag == "style" or (element.tag == "script" and "src" not in element.attributes):
        found.append(f"inline <{element.tag}>")
    for name in ("src", "href"):
        target = element.attributes.get(name, "")
        if element.attributes.get("rel") in {"canonical", "alternate"}:  # an address that is named and not fetched
            continue
        if element.tag in {"script", "link", "img"} and target.startswith(("http:", "https:", "//")):
            found.append(f"{element.tag} from elsewhere: {target}")
    return found


def _accessibility_problems(element: Element, page: Element, ids: set[str]) -> list[str]:
    found = []
    attributes = element.attributes
    if element.tag in LABELLED and attributes.get("type") not in {"hidden", "submit"}:
        is_labelled = (
            "aria-label" in attributes
            or any(label.attributes.get("for") == attributes.get("id") for label in page.all("label"))
            or any(parent.tag == "label" for parent in element.ancestors())
        )
        if not is_labelled:
            found.append(f"no label for {attributes.get('name')}")
    if element.tag in {"a", "button"} and not (element.text or attributes.get("aria-label")):
        found.append(f"<{element.tag}> says nothing: {attributes}")
    if element.tag == "img" and "alt" not in attributes:
        found.append("img without alt")
    found += _unreachable(element)
    for name in ("aria-labelledby", "aria-describedby", "aria-controls"):
        found += [f"{name} points at nothing: {ref}" for ref in attributes.get(name, "").split() if ref not in ids]
    return found


def _unreachable(element: Element) -> list[str]:
    """What scrolls sideways on a phone is scrolled with the keys of a keyboard, and says what it is."""
    scrolls, attributes = element.tag == "pre" or "table-frame" in element.classes, element.attributes
    found = [f"no keyboard scrolls {element.text[:40]!r}"] if scrolls and attributes.get("tabindex") != "0" else []
    if "table-frame" in element.classes and not {"aria-label", "aria-labelledby"} & attributes.keys():
        found.append(f"a frame without a name: {element.text[:40]!r}")
    return found


def _heading_jumps(elements: list[Element]) -> list[str]:
    levels = [int(element.tag[1]) for element in elements if element.tag in {"h1", "h2", "h3", "h4", "h5", "h6"}]
    return [f"h{after} follows h{before}" for before, after in pairwise(levels) if after > before + 1]
