"""Rows of a damaged SQLite file, read from its table pages one by one: neither the header nor the tree above them is needed.

The format: https://www.sqlite.org/fileformat2.html, sections 1.6 (pages) and 2.1 (records).
"""

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

PAGE_SIZE = 4096
"""What SQLite takes by default, and so does every run file."""
LEAF = 0x0D
FIRST_PAGE_HEADER = 100
INTEGERS = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}
"""Serial type of an integer to its length in bytes."""


class _Broken(ValueError):
    """A cell that is not what the format says."""


def rows_on_pages(path: Path, widths: set[int]) -> Iterator[tuple[int, tuple[Any, ...]]]:
    """Rows (number, values) with as many columns as one of `widths`, in the order in which they lie in the file.

    Pages and cells that are broken are passed over. Values are whatever the bytes say: the caller checks them.
    """
    pages = -(-path.stat().st_size // PAGE_SIZE)
    with open(path, "rb") as file:
        for number in range(1, pages + 1):
            page = _page(file, number)
            start = FIRST_PAGE_HEADER if number == 1 else 0
            if len(page) < PAGE_SIZE or page[start] != LEAF:
                continue
            (count,) = struct.unpack_from(">H", page, start + 3)
            for cell in range(min(count, PAGE_SIZE // 4)):
                try:
                    (place,) = struct.unpack_from(">H", page, start + 8 + 2 * cell)
                    row = _cell(file, page, place, widths, pages)
                except (_Broken, IndexError, struct.error, UnicodeDecodeError):
                    continue
                if row is not None:
                    yield row


def _page(file: BinaryIO, number: int) -> bytes:
    """A page; of one that was cut short, what is left of it and zeros."""
    file.seek((number - 1) * PAGE_SIZE)
    data = file.read(PAGE_SIZE)
    return data.ljust(PAGE_SIZE, b"\0") if data else data


def _cell(file: BinaryIO, page: bytes, place: int, widths: set[int], pages: int) -> tuple[int, tuple[Any, ...]] | None:
    """The row in one cell, or None where it has another number of columns."""
    size, place = _number(page, place)
    rowid, place = _number(page, place)
    local = _local(size)
    payload = page[place : place + local]
    if len(payload) < local or size > pages * PAGE_SIZE:
        raise _Broken("a cell longer than its page or file")
    kinds, start = _kinds(payload)
    if len(kinds) not in widths:
        return None
    if size > local:
        (following,) = struct.unpack_from(">I", page, place + local)
        payload += _overflow(file, following, size - local)
    return rowid, tuple(_values(payload, start, kinds))


def _local(size: int) -> int:
    """How many bytes of a payload lie in the cell itself."""
    most = PAGE_SIZE - 35
    if size <= most:
        return size
    least = (PAGE_SIZE - 12) * 32 // 255 - 23
    kept = least + (size - least) % (PAGE_SIZE - 4)
    return kept if kept <= most else least


def _overflow(file: BinaryIO, number: int, size: int) -> bytes:
    """The rest of a payload, from its chain of pages."""
    parts = []
    while size > 0:
        page = _page(file, number) if number else b""
        if len(page) < PAGE_SIZE:
            raise _Broken("a chain of pages that ends too soon")
        parts.append(page[4 : 4 + min(size, PAGE_SIZE - 4)])
        size -= len(parts[-1])
        (number,) = struct.unpack_from(">I", page)
    return b"".join(parts)


def _kinds(payload: bytes) -> tuple[list[int], int]:
    """The serial types of a record, and where its values begin."""
    end, place = _number(payload, 0)
    kinds = []
    while place < end:
        kind, place = _number(payload, place)
        kinds.append(kind)
    return kinds, end


def _values(payload: bytes, place: int, kinds: list[int]) -> Iterator[Any]:
    for kind in kinds:
        if kind == 0:
            yield None
        elif kind in (8, 9):
            yield kind - 8
        elif kind in INTEGERS:
            yield int.from_bytes(_bytes(payload, place, INTEGERS[kind]), "big", signed=True)
            place += INTEGERS[kind]
        elif kind == 7:
            yield struct.unpack(">d", _bytes(payload, place, 8))[0]
            place += 8
        elif kind >= 12:
            length = (kind - 12) // 2
            data = _bytes(payload, place, length)
            yield data.decode() if kind % 2 else data
            place += length
        else:
            raise _Broken(f"no value has serial type {kind}")


def _bytes(payload: bytes, place: int, length: int) -> bytes:
    if place + length > len(payload):
        raise _Broken("a value longer than its record")
    return payload[place : place + length]


def _number(data: bytes, place: int) -> tuple[int, int]:
    """A variable-length integer, and the place after it."""
    value = 0
    for step in range(8):
        byte = data[place + step]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, place + step + 1
    return value << 8 | data[place + 8], place + 9
