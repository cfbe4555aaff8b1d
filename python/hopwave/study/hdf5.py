"""What lies in an HDF5 file itself, and nothing that the file leads to.

Files may come from strangers. HDF5 follows external links, external storage and virtual datasets
to any file of the machine, and waits where that is a FIFO; a dataset without storage may claim
any size. So members are looked up here, link by link.
"""

import h5py

FILTERS = {1, 2, 3}  # deflate, shuffle, Fletcher32: no others are loaded
MOST_DEFLATED = 1100  # bytes that a byte of deflated data can become, at most


# What h5py raises for damage, and NumPy and pandas for tables that are not ours.
DAMAGE = (OSError, RuntimeError, KeyError, TypeError, ValueError, IndexError)


class NotInsideError(ValueError):
    """One sentence: why a member is not read."""


def member(file: h5py.File, path: str) -> h5py.Group | h5py.Dataset:
    """The group or dataset of that path in an open file. Raises KeyError where there is none, and
    NotInsideError where it is damaged, or reading it would leave the file, or take more memory than
    the file holds.
    """
    item = file
    for name in path.split("/"):
        if not isinstance(item, h5py.Group) or not item.id.links.exists(name.encode()):
            raise KeyError(path)
        info = item.id.links.get_info(name.encode())
        if info.type != h5py.h5l.TYPE_HARD:
            raise NotInsideError(f"/{path}: a link, which is not followed")
        try:
            item = item[name]
        except KeyError as error:  # the link is there, but what it leads to cannot be opened
            raise NotInsideError(f"/{path}: is damaged ({error})") from None
    if isinstance(item, h5py.Dataset):
        check_storage(item, path)
    return item


def has(file: h5py.File, path: str) -> bool:
    """Whether there is a member of that name in the file itself."""
    try:
        member(file, path)
    except KeyError:
        return False
    return True


def check_storage(dataset: h5py.Dataset, path: str) -> None:
    """Raises NotInsideError for a dataset whose values lie elsewhere, are more than their storage
    can hold, or need a filter that has to be loaded."""
    properties = dataset.id.get_create_plist()
    filters = [properties.get_filter(n)[0] for n in range(properties.get_nfilters())]
    stored = dataset.id.get_storage_size()
    if properties.get_layout() == h5py.h5d.VIRTUAL or properties.get_external_count():
        raise NotInsideError(f"/{path}: its values lie in other files")
    if not FILTERS.issuperset(filters):
        raise NotInsideError(f"/{path}: stored with a filter that is not known")
    if dataset.dtype.hasobject:
        raise NotInsideError(f"/{path}: holds values of no fixed size")
    if dataset.nbytes > stored * (MOST_DEFLATED if filters else 1):
        raise NotInsideError(f"/{path}: claims more values than are stored")
