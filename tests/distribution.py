"""Builds what is released, and tries it where nothing else is installed.

The source distribution and the wheel go to `dist` and are checked: their metadata, the links of the
README, which files they have. The wheel is then installed in an empty environment for each Python
that this machine has, with the oldest jax that it allows and with the newest, and called there.
A Python that is not there is named and left out. `make dist` runs it.
"""

import argparse
import email
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

import versions

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
JAXES = {"oldest": ["jax==0.10.0", "jaxlib==0.10.0"], "newest": []}
# What the tests of a source distribution look at beside the package.
NEEDED = (
    *(".ci/run", ".github/workflows/tests.yml", "CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md"),
    *("LICENSE", "Makefile", "README.md", "SECURITY.md", "pyproject.toml", "tests/conftest.py"),
    *("benchmarks/results/suite.json", "docs/architecture.md", "examples/gallery.py"),
    *("docs/pictures/sparse_gradients.png", "tests/typing/pyrightconfig.json", "jaxops/py.typed"),
)
# Called in an empty environment, outside of the repository.
TRIAL = """
import importlib.metadata, importlib.util, pathlib, sys
import jax, jax.numpy as jnp
import jaxops
from jaxops import testing
from jaxops.compat import v0

assert pathlib.Path(jaxops.__file__).is_relative_to(sys.prefix), jaxops.__file__
assert importlib.metadata.version("jaxops") == jaxops.__version__
table = jnp.arange(8.0).reshape(4, 2)
for gather in (jaxops.gather, jax.jit(jaxops.gather)):
    assert gather(table, jnp.array([3]))[0, 1] == 7
    testing.assert_out_of_bounds(gather, table, jnp.array([4]))
try:
    jaxops.gather(table, [4])
except jaxops.OutOfBoundsError as error:
    assert (error.index, error.bound) == (4, 4)
loss = lambda t: jnp.sum(jaxops.gather(t, [1, 1]))
_, slices = jaxops.sparse_value_and_grad(loss, tables="")(table)
assert slices.to_dense()[1, 0] == 2
testing.check_grads(lambda t: jaxops.segment_sum(t, [0, 0, 1, 1]), table)
assert v0.concat(0, [table, table]).shape == (8, 2)
assert jaxops.string_to_number(["2.5"])[0] == 2.5
(plugin,) = importlib.metadata.entry_points(group="pytest11", name="jaxops")
assert importlib.util.find_spec(plugin.module), plugin  # imports pytest, which is not here
python = ".".join(map(str, sys.version_info[:3]))
print(f"Python {python}, jax {jax.__version__}: jaxops {jaxops.__version__} works")
"""


def run(command: list, **options) -> str:
    """What the command prints; what it says of an error is printed if it fails."""
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, **options)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))[:300]}\n{done.stdout}{done.stderr}")
    return done.stdout


def build() -> tuple[Path, Path]:
    """The source distribution and the wheel, which is built of it."""
    shutil.rmtree(DIST, ignore_errors=True)
    run([sys.executable, "-m", "build", "--outdir", DIST, ROOT])
    run([sys.executable, "-m", "twine", "check", "--strict", *DIST.iterdir()])
    (sdist,), (wheel,) = DIST.glob("*.tar.gz"), DIST.glob("*.whl")
    return sdist, wheel


def relative_links(text: str) -> list[str]:
    """Links and pictures of a text in Markdown that need the repository around it."""
    targets = re.findall(r"\]\(([^)\s]+)", text) + re.findall(r'(?:src|href)="([^"]+)"', text)
    return [target for target in targets if not re.match(r"https?:|mailto:|#", target)]


def check(sdist: Path, wheel: Path, tag: str | None) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (place,) = [name for name in names if name.endswith(".dist-info/METADATA")]
        metadata = email.message_from_bytes(archive.read(place))
    version = metadata["Version"]
    outside = [name for name in names if not re.match(rf"jaxops(-{version}\.dist-info)?/", name)]
    assert not outside, f"the wheel has {outside}"
    assert "jaxops/py.typed" in names
    assert tag in (None, f"v{version}"), f"the tag is {tag}, and the version {version}"
    links = relative_links(str(metadata.get_payload()))
    assert not links, f"on the page of an index these lead nowhere: {links}"
    with tarfile.open(sdist) as archive:
        packed = {name.partition("/")[2] for name in archive.getnames()}
    assert not {*NEEDED} - packed, f"the source distribution lacks { ({*NEEDED} - packed) }"


def try_wheel(wheel: Path, python: str, jax: str) -> str:
    """Installs the wheel in an environment of its own, and calls it there."""
    with tempfile.TemporaryDirectory() as folder:
        run([python, "-m", "venv", folder])
        inside = Path(folder) / "bin" / "python"
        run([inside, "-m", "pip", "install", "--quiet", wheel, *JAXES[jax]])
        outside = {k: x for k, x in os.environ.items() if not k.startswith(("PYTHON", "JAX"))}
        return run([inside, "-W", "error", "-c", TRIAL], cwd=folder, env=outside).strip()


def run_tests_of(sdist: Path, options: list[str]) -> None:
    """Runs tests where the source distribution is unpacked, with the packages of this Python."""
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(sdist) as archive:
            archive.extractall(folder, filter="data")
        (unpacked,) = Path(folder).iterdir()
        environment = os.environ | {"PYTHONPATH": str(unpacked)}
        command = [sys.executable, "-m", "pytest", *options]
        if subprocess.run(command, cwd=unpacked, env=environment).returncode:
            raise SystemExit("the tests of the source distribution fail")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tag", help="the tag of the release, which must be that of the version")
    parser.add_argument("--pythons", nargs="*", default=PYTHONS)
    parser.add_argument("--test", nargs="*", help="tests to run from the source distribution")
    arguments = parser.parse_args()
    sdist, wheel = build()
    check(sdist, wheel, arguments.tag)
    print(f"{sdist.name}, {wheel.name}: as they should be", flush=True)
    for version in arguments.pythons:
        python = versions.interpreter(version)
        if python is None:
            print(f"Python {version}: not on this machine, left out", flush=True)
            continue
        for jax in JAXES:
            print(f"{jax} jax:", try_wheel(wheel, python, jax), flush=True)
    if arguments.test is not None:
        run_tests_of(sdist, arguments.test)


if __name__ == "__main__":
    main()
