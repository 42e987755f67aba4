"""Certificate files: written beside the archive, read with their checksum.

Takes the bytes of a placement file and gives the name under which they are kept: plain where
small, packed by xz where large.
"""

from __future__ import annotations

import json
import lzma
import tempfile
from hashlib import sha256
from pathlib import Path

from synergy_opt.errors import InvalidInstance
from synergy_opt.io import StatedPlacement, read_placement
from synergy_opt.model import Instance

PLAIN = 20_000  # bytes; larger ones are packed
FOLDER = "certificates"


def keep(archive: Path, instance: str, data: bytes) -> tuple[str, str]:
    """Keep a certificate; give its path relative to the archive, and its checksum."""
    data = json.dumps(json.loads(data), separators=(",", ":")).encode() + b"\n"
    digest = sha256(data).hexdigest()
    packed = len(data) > PLAIN
    path = Path(FOLDER) / f"{instance}-{digest[:8]}.json{'.xz' if packed else ''}"
    target = archive.parent / path
    target.parent.mkdir(exist_ok=True)
    target.write_bytes(lzma.compress(data, preset=9) if packed else data)
    return path.as_posix(), digest


def stated(archive: Path, name: str, digest: str, instance: Instance) -> StatedPlacement:
    """Read a certificate for an instance.

    Raises
    ------
    InvalidInstance
        When it is not there, has another checksum, or is another instance's.
    """
    path = archive.parent / name
    try:
        data = path.read_bytes()
        data = lzma.decompress(data) if name.endswith(".xz") else data
    except (OSError, lzma.LZMAError) as error:
        raise InvalidInstance(f"cannot be read: {error}", name) from None
    found = sha256(data).hexdigest()
    if found != digest:
        raise InvalidInstance(f"has the checksum {found}, not {digest}", name)
    with tempfile.TemporaryDirectory() as folder:
        unpacked = Path(folder) / "placement.json"
        unpacked.write_bytes(data)
        try:
            return read_placement(unpacked, instance)
        except InvalidInstance as error:
            raise InvalidInstance(str(error).replace(str(unpacked), name)) from None
