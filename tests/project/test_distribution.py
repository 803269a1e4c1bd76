"""What is released, as far as it is seen without a build: `make dist` builds it and tries it."""

import dataclasses
import re
import tomllib
from pathlib import Path

import checks
import distribution
import pytest
import versions
import yaml

import jaxops

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
CHANGELOG = (ROOT / "CHANGELOG.md").read_text()
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
README = "README.md"


def published() -> str:
    """The README as the page of an index shows it."""
    text = (ROOT / README).read_text()
    hook = PROJECT["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]
    assert hook["fragments"] == [{"path": README}]
    for rule in hook["substitutions"]:
        replacement = rule["replacement"].replace("$HFPR_VERSION", jaxops.__version__)
        text = re.sub(rule["pattern"], replacement, text)
    return text


def test_links_work_where_the_repository_is_not_around_them():
    relative = distribution.relative_links((ROOT / README).read_text())
    assert len(relative) >= 5
    assert not [path for path in relative if not (ROOT / path.partition("#")[0]).exists()]
    text = published()
    assert not distribution.relative_links(text)
    for path in relative:
        url = rf"https://github\.com/jaxops/jaxops/(blob|raw)/v{jaxops.__version__}/{path}"
        assert re.search(url, text), path


def test_versions_agree():
    version = jaxops.__version__
    first, second = re.findall(r"^## (.*)$", CHANGELOG, re.M)[:2]
    assert first == "Unreleased"
    assert re.fullmatch(rf"{re.escape(version)} - \d{{4}}-\d\d-\d\d", second)
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert citation["version"] == version
    assert f"{citation['date-released']}" == second.partition(" - ")[2]
    assert citation["license"] == PROJECT["project"]["license"]


def test_versions_of_python_and_jax_agree():
    """Of the metadata, the workflows and what `make dist` tries."""
    project = PROJECT["project"]
    named = re.findall(r"Python :: (3\.\d+)", "\n".join(project["classifiers"]))
    assert project["requires-python"] == f">={named[0]}"
    assert {*named} <= {*distribution.PYTHONS}
    oldest = [pin.replace("==", ">=") for pin in distribution.JAXES["oldest"]]
    assert {*oldest} <= {*project["dependencies"]}
    matrix = workflow("tests")["jobs"]["test"]["strategy"]["matrix"]
    assert matrix["python"] == named
    assert " ".join(distribution.JAXES["oldest"]) in matrix["jax"]


def test_tests_of_numbers_are_there():
    assert not [name for name in versions.NUMBERS if not (ROOT / name).exists()]


def test_shares_of_the_tests():
    """Two have every function, and as many as there are every test of a function that has many."""
    many, few = [f"a[{n}]" for n in range(7)], ["b", "c[0]", "c[1]", "d"]

    def named(items):
        return sorted(item.nodeid for item in items)

    tests = [Item(name) for name in many + few]
    shares = [named(checks.share_of_each_function(tests, number, 3)) for number in range(3)]
    assert [[name for name in share if name in few] for share in shares] == [
        ["c[0]"],
        ["b", "d"],
        ["c[0]"],
    ]
    assert sorted(name for share in shares for name in share if name in many) == many
    soon = named({*tests} - checks.rest_of_sweeps(tests))
    assert [name[0] for name in soon] == ["a", "a", "b", "c", "d"]
    assert soon == named({*tests} - checks.rest_of_sweeps(tests[::-1]))


@dataclasses.dataclass(frozen=True)
class Item:
    nodeid: str

    def get_closest_marker(self, name):
        return None


def workflow(name: str) -> dict:
    return yaml.safe_load((ROOT / ".github" / "workflows" / f"{name}.yml").read_text())


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_call_targets_that_are_there(path):
    makefile = (ROOT / "Makefile").read_text()
    targets = {*re.findall(r"^([a-z][\w-]*):", makefile, re.M)}
    variables = {*re.findall(r"\$\((?:if \$\()?([A-Z]+)\b", makefile)}
    called = 0
    for job in yaml.safe_load(path.read_text())["jobs"].values():
        for step in job["steps"]:
            for command in re.findall(r"\bmake (.*)", step.get("run", "")):
                target, *settings = command.split(" ", 1)
                assert target in targets, command
                assert {*re.findall(r"([A-Z]+)=", " ".join(settings))} <= variables, command
                called += 1
    assert called


def test_what_a_change_must_pass_is_what_workflows_run():
    """Every target of `.ci/run`: different versions are the matrix of `tests.yml`."""
    ours = {*re.findall(r"^ *make ([a-z-]+)", (ROOT / ".ci" / "run").read_text(), re.M)}
    theirs = {*re.findall(r"make ([a-z-]+)", (ROOT / ".github/workflows/tests.yml").read_text())}
    assert ours - {"test-versions"} <= theirs
