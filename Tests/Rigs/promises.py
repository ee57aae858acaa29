"""What has to hold whenever something has died, and once the daemon has come to rest again: read from the folders and the
database, without asking the daemon."""
import collections, hashlib, os, pathlib, shutil, sqlite3, tempfile

from daemon import database_files


def files(folder):
    for top, _, names in os.walk(folder):
        yield from (pathlib.Path(top, name) for name in names)


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def visible(library):
    """{path below the library: digest} of what a person sees."""
    found = ((path, path.relative_to(library)) for path in files(library))
    return {str(inner): digest(path) for path, inner in found if inner.parts[0] != ".photospool"}


def catalog(state):
    """(what is wrong with the database, {source: (digest, path in the library)}). It is looked at in a copy."""
    with tempfile.TemporaryDirectory(prefix="photospool-catalog-") as folder:
        for name in database_files:
            if (state / name).exists():
                shutil.copyfile(state / name, f"{folder}/{name}")
        if not os.path.exists(f"{folder}/spool.db"):
            return None, {}
        connection = sqlite3.connect(f"{folder}/spool.db")
        try:
            verdict = connection.execute("PRAGMA integrity_check").fetchone()[0]
            if verdict != "ok":
                return f"DAMAGED database: {verdict[:80]}", {}
            if not connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'resource'").fetchone():
                return None, {}
            rows = connection.execute("SELECT source_path, sha256, path FROM resource")
            return None, {os.fsdecode(source): (digest.hex(), os.fsdecode(path)) for source, digest, path in rows}
        except sqlite3.DatabaseError as error:
            return f"DAMAGED database: {error}", {}
        finally:
            connection.close()


def broken(installation, photos, promised, previews=None, waiting=()):
    """What must never be, as sentences whose first word is its kind.

    `photos` is {digest: name} of all that was dropped, `promised` the sources that the daemon has said it imported,
    `previews` the digests of those that it made, where they are known, and `waiting` the names of photos that were not dropped yet.
    """
    problem, rows = catalog(installation.state)
    if problem:
        yield problem
    originals, sources = visible(installation.library), {sum for sum, name in photos.items() if name in waiting}
    for name, drop in installation.drops.items():
        for path in files(drop):
            sources.add(sum := digest(path))
            if sum not in photos:
                yield f"PARTIAL source {name}/{path.relative_to(drop)}"
    for path, sum in originals.items():
        if sum not in photos:
            yield f"PARTIAL original {path}: {(installation.library / path).stat().st_size} bytes"
    for path in files(installation.library / ".photospool/previews"):
        data = path.read_bytes()
        if hashlib.sha256(data).hexdigest() not in previews if previews else data[-2:] != b"\xff\xd9":
            yield f"PARTIAL preview {path.name}: {len(data)} bytes"
    for sum in set(photos) - sources - set(originals.values()):
        yield f"LOST photo {photos[sum]}"
    if problem:
        return
    for source, (sum, path) in rows.items():
        if originals.get(path) != sum:
            yield f"FALSE {source} is in the catalog, and not in the library as {path}"
    for source in promised:
        if source not in rows:
            yield f"FORGOTTEN {source} was said to be imported"


def unfinished(installation, photos):
    """What is not as it should be once the daemon has come to rest."""
    originals = visible(installation.library)
    counts = collections.Counter(originals.values())
    for sum, name in photos.items():
        if counts[sum] != 1:
            yield f"photo {name} is in the library {counts[sum]} times"
    problem, rows = catalog(installation.state)
    if problem:
        yield problem
    listed = {path: sum for sum, path in rows.values()}
    if listed != originals:
        yield f"the catalog lists {len(listed)} originals, the library holds {len(originals)}"
    for path in installation.left_over():
        yield f"{path} is left over"
