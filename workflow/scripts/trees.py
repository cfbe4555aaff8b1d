"""What the tables of tree files say, as pandas frames."""

import h5py
import pandas

COMPUTING = ["expansion", "update"]
COMMUNICATING = [
    "expand_exchange",
    "fold_exchange",
    "local_exchange",
    "normal_exchange",
    "delegate_reduction",
    "reductions",
]


def frame(dataset):
    """A table of a file as a frame, its texts decoded."""
    table = pandas.DataFrame.from_records(dataset[...])
    for name in table.columns[table.dtypes == object]:
        table[name] = table[name].str.decode("ascii")
    return table


def attributes(group):
    """Attributes as plain Python values."""

    def plain(value):
        value = value.item() if hasattr(value, "item") else value
        return value.decode() if isinstance(value, bytes) else value

    return {key: plain(value) for key, value in group.attrs.items()}


def steps(tree):
    """/run/steps of an open tree file, with the mean seconds over ranks of all
    computing and of all communicating phases of each step."""
    table = frame(tree["run/steps"])
    table["computing"] = table[[f"{phase}_mean" for phase in COMPUTING]].sum(axis=1)
    table["communicating"] = table[[f"{phase}_mean" for phase in COMMUNICATING]].sum(
        axis=1
    )
    return table


def verdict(path):
    """What a check file says of its trees, or a tree file of those checked on the spot."""
    with h5py.File(path) as file:
        about = attributes(file)
        if about["format"] == "hopwave-check":
            passed, violations = about["passed"], file["rules"][...].sum()
        else:
            run = attributes(file["run"])
            passed = run["failed"] == 0 and run["checked"] == run["NBFS"]
            violations = frame(file["run/search"])["violations"].sum()
        return path, int(passed), violations, about["digest"]
