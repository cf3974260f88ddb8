"""What of a new OpenAPI document breaks a program that was written for an older one. Pure.

What a program sends may stay as it was: nothing that it may leave out becomes required, no value that it may send is
refused. What it reads stays there: no field, status or operation goes, and no type becomes another.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

Document = Mapping[str, Any]
# limits of what may be sent: which of two is the stricter one
_UPPER: Final = ("maximum", "exclusiveMaximum", "maxLength", "maxItems")
_LOWER: Final = ("minimum", "exclusiveMinimum", "minLength", "minItems")


def breaking(old: Document, new: Document) -> list[str]:
    """Every breaking change, with its place."""
    return list(_operations(old, new))


def _operations(old: Document, new: Document) -> Iterator[str]:
    for path, methods in old["paths"].items():
        for method, operation in methods.items():
            place = f"{method.upper()} {path}"
            other = new["paths"].get(path, {}).get(method)
            if other is None:
                yield f"{place}: is gone"
                continue
            if operation["operationId"] != other["operationId"]:
                yield f"{place}: is called {other['operationId']} now"
            yield from _security(operation, other, place)
            yield from _parameters(operation, other, place)
            yield from _body(old, new, operation, other, place)
            yield from _responses(old, new, operation, other, place)


def _security(old: Document, new: Document, place: str) -> Iterator[str]:
    if gone := [each for each in old["security"] if each not in new["security"]]:
        yield f"{place}: no longer open to {gone}"


def _parameters(old: Document, new: Document, place: str) -> Iterator[str]:
    before, after = ({(each["in"], each["name"]): each for each in found["parameters"]} for found in (old, new))
    for key, each in after.items():
        if each["required"] and not before.get(key, {}).get("required"):
            yield f"{place}: {key[1]} is required now"
    for key, each in before.items():
        if key not in after:
            yield f"{place}: {key[1]} is gone"
        else:
            yield from _sent({}, {}, _in_address(each["schema"]), after[key]["schema"], f"{place}: {key[1]}")


def _in_address(schema: Document) -> Document:
    """What an address may have of a value: never null, which is said by leaving the parameter out."""
    options = [each for each in schema.get("anyOf", ()) if each.get("type") != "null"]
    return {**schema, "anyOf": options} if options else schema


def _body(old: Document, new: Document, before: Document, after: Document, place: str) -> Iterator[str]:
    sent, taken = (each.get("requestBody", {"content": {}}) for each in (before, after))
    if taken.get("required") and not sent.get("required"):
        yield f"{place}: a body is required now"
    for media_type, each in sent["content"].items():
        if media_type not in taken["content"]:
            yield f"{place}: {media_type} is no longer read"
        else:
            yield from _sent(old, new, each["schema"], taken["content"][media_type]["schema"], f"{place}: body")


def _responses(old: Document, new: Document, before: Document, after: Document, place: str) -> Iterator[str]:
    for status, each in before["responses"].items():
        other = after["responses"].get(status)
        if other is None:
            yield f"{place}: {status} is gone"
            continue
        for media_type, content in each.get("content", {}).items():
            if media_type not in other.get("content", {}):
                yield f"{place}: {status} is no longer {media_type}"
            else:
                yield from _read(
                    old, new, content["schema"], other["content"][media_type]["schema"], f"{place}: {status}"
                )
    # an answer of success that a program does not know; of refusals it knows the form, and a part it has to ask for
    fresh = after["responses"].keys() - before["responses"] - {"206"}
    yield from (f"{place}: {each} is new" for each in fresh if each < "400")


def _resolved(document: Document, schema: Document) -> Document:
    if "$ref" not in schema:
        return schema
    return _resolved(document, document["components"]["schemas"][schema["$ref"].rpartition("/")[2]])


def _kinds(schema: Document) -> set[str]:
    """The types of a value; empty: any."""
    if "anyOf" in schema:
        return {kind for each in schema["anyOf"] for kind in (_kinds(each) or {str(each)})}
    if "$ref" in schema:
        return {schema["$ref"]}
    kind = schema.get("type")
    return set() if kind is None else {kind} if isinstance(kind, str) else set(kind)


def _options(document: Document, schema: Document) -> list[Document]:
    """The schemas of which a value has one."""
    return [_resolved(document, each) for each in schema.get("anyOf", [schema])]


def _object(document: Document, schema: Document) -> Document | None:
    """The object among the options of a value."""
    return next((each for each in _options(document, schema) if "properties" in each), None)


def _sent(
    old: Document, new: Document, before: Document, after: Document, place: str, seen: tuple[str, ...] = ()
) -> Iterator[str]:
    """What a program may send must still be taken."""
    if (name := str(before.get("$ref", ""))) and name in seen:
        return
    seen = (*seen, name)
    taken = _kinds(after)
    if taken and (refused := _kinds(before) - taken):
        yield f"{place}: {sorted(refused)} is refused now"
    was, then = (_strictest(document, each) for document, each in ((old, before), (new, after)))
    if "enum" in then and (refused := set(map(str, was.get("enum", ["anything"]))) - set(map(str, then["enum"]))):
        yield f"{place}: {sorted(refused)} is refused now"
    yield from _limits(was, then, place)
    source, target = _object(old, before), _object(new, after)
    if source is not None and target is not None:
        fields, known = source["properties"], target["properties"]
        for field in set(target.get("required", [])) - set(source.get("required", [])):
            yield f"{place}.{field}: is required now"
        for field, each in fields.items():
            if field not in known:
                yield f"{place}.{field}: is gone"
            else:
                yield from _sent(old, new, each, known[field], f"{place}.{field}", seen)
    if "items" in was and "items" in then:
        yield from _sent(old, new, was["items"], then["items"], f"{place}[]", seen)


def _limits(was: Document, then: Document, place: str) -> Iterator[str]:
    for limits, is_stricter in ((_UPPER, float.__lt__), (_LOWER, float.__gt__)):
        for limit in limits:
            if limit in then and (limit not in was or is_stricter(float(then[limit]), float(was[limit]))):
                yield f"{place}: {limit} is {then[limit]} now"
    if then.get("pattern") != was.get("pattern") and "pattern" in then:
        yield f"{place}: has to match {then['pattern']} now"


def _strictest(document: Document, schema: Document) -> Document:
    """The option with limits: optional values are one of them and null."""
    found = [each for each in _options(document, schema) if each.get("type") != "null"]
    return found[0] if found else {}


def _read(
    old: Document, new: Document, before: Document, after: Document, place: str, seen: tuple[str, ...] = ()
) -> Iterator[str]:
    """What a program reads must still be there, and of a type that it knows."""
    if (name := str(before.get("$ref", ""))) and name in seen:
        return
    seen = (*seen, name)
    known, given = _plain(old, before), _plain(new, after)
    if known and (not given or given - known):
        yield f"{place}: may be {sorted(given - known) or 'anything'} now"
    source, target = _object(old, before), _object(new, after)
    if source is not None and target is not None:
        for field, each in source["properties"].items():
            if field not in target["properties"]:
                yield f"{place}.{field}: is gone"
                continue
            if field in source.get("required", []) and field not in target.get("required", []):
                yield f"{place}.{field}: may be missing now"
            yield from _read(old, new, each, target["properties"][field], f"{place}.{field}", seen)
    was, then = _strictest(old, before), _strictest(new, after)
    if "items" in was and "items" in then:
        yield from _read(old, new, was["items"], then["items"], f"{place}[]", seen)


def _plain(document: Document, schema: Document) -> set[str]:
    """The types of a value without the names of schemas."""
    return {str(each["type"]) for each in _options(document, schema) if "type" in each}
