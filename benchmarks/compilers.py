"""Programs compiled for a GPU and a TPU that are not there, and what the compiled text tells.

`jax.experimental.topologies` describes a device to XLA's compilers, which run on the host. Nothing
of a program runs.
"""

from __future__ import annotations

import os
import re
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

H100 = Path(__file__).with_name("h100.txtpb")
TPU_SETTINGS = {
    "TPU_SKIP_MDS_QUERY": "1",
    "TPU_ACCELERATOR_TYPE": "v5litepod-4",
    "TPU_WORKER_HOSTNAMES": "localhost",
    "ALLOW_MULTIPLE_LIBTPU_LOAD": "1",  # in several processes
}
# Instructions of a compiled program for which a device starts nothing.
_NO_STEP = {
    "parameter",
    "constant",
    "tuple",
    "get-tuple-element",
    "bitcast",
    "while",
    "conditional",
    "call",
    "after-all",
    "partition-id",
    "replica-id",
    "opt-barrier",
}
_COLLECTIVES = ("all-reduce", "all-gather", "all-to-all", "reduce-scatter", "collective-permute")
_STALLS = ("infeed", "outfeed", "send", "recv")
_INSTRUCTION = re.compile(
    r"^\s+(?:ROOT )?%?(?P<name>[\w.-]+) = (?P<type>\(.*?\)|\S+) (?P<opcode>[\w-]+)\((?P<rest>.*)$"
)
_CALLED = re.compile(
    r"\b(?:body|condition|true_computation|false_computation)=%?([\w.-]+)"
    r"|\bbranch_computations=\{([^}]*)\}"
)
_ATOMIC = re.compile(r"\b(?:atom|red)\.([\w.:]+)")
_NO_OPERATION = {"relaxed", "sys", "gpu", "cta", "global", "shared", "acq_rel", "noftz"}


class Compiled(NamedTuple):
    """What is known of a compiled program."""

    kernels: int  # instructions that a device starts, those of loops and branches once
    temporaries: int  # bytes
    accessed: int | None  # bytes that memory sends and receives, as XLA counts; not for GPUs
    prefetched: int | None  # those of them that go into on-chip memory ahead of their use
    collectives: dict[str, int]  # bytes of results, by kind
    atomics: list[str]  # of the PTX
    stalls: list[str]  # what waits for the host
    seconds: float  # of compilation


class Compiler:
    """Compiles for one kind of device: "cuda" is an H100, "tpu" a v5e."""

    def __init__(self, platform: str, topology: str | None = None):
        self.platform = platform
        os.environ["JAX_PLATFORMS"] = "cpu"
        os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
        if platform == "tpu":
            os.environ.update(TPU_SETTINGS)
        else:
            self._dump = tempfile.TemporaryDirectory()
            _set_flags(f"--xla_dump_to={self._dump.name}", *_flags_of_this_version())
        from jax.experimental import topologies

        if platform == "tpu":
            found = topologies.get_topology_desc(topology or "v5e:2x2", platform="tpu")
        else:
            found = topologies.get_topology_desc(
                "h100",
                platform="cuda",
                target_config=H100.read_text(),
                topology=topology or "1x1x1",
            )
        self.devices = found.devices

    def compile(self, function: Callable, arguments: Sequence[Any], **options: Any) -> Compiled:
        """`jax.jit(function, **options)` for one device; the arguments are shapes and dtypes."""
        import jax

        if not options:
            device = jax.sharding.SingleDeviceSharding(self.devices[0])
            options = {"in_shardings": device, "out_shardings": device}
        lowered = jax.jit(function, **options).lower(*arguments)
        start = time.perf_counter()
        program = lowered.compile()
        seconds = time.perf_counter() - start
        steps = list(_steps(program.as_text() or ""))
        collectives: Counter[str] = Counter()
        for opcode, result, _ in steps:
            kind = opcode.removesuffix("-start")
            if kind in _COLLECTIVES:
                collectives[kind] += _bytes(result)
        costs = program.cost_analysis() or {}
        memory: Any = program.memory_analysis()
        return Compiled(
            kernels=sum(not opcode.endswith("-done") for opcode, _, _ in steps),
            temporaries=memory.temp_size_in_bytes,
            accessed=int(costs["bytes accessed"]) if "bytes accessed" in costs else None,
            prefetched=sum(map(_prefetched, steps)) if "bytes accessed" in costs else None,
            collectives=dict(collectives),
            atomics=self._atomics(),
            stalls=sorted({_stall(opcode, rest) for opcode, _, rest in steps} - {""}),
            seconds=round(seconds, 2),
        )

    def _atomics(self) -> list[str]:
        """The atomic instructions of the PTX that was dumped since the last call."""
        if self.platform == "tpu":
            return []
        found = set()
        for path in Path(self._dump.name).iterdir():
            if path.suffix == ".ptx" or "ptx" in path.name:
                for match in _ATOMIC.findall(path.read_text(errors="replace")):
                    parts = [p for p in re.split(r"[.:]+", match) if p not in _NO_OPERATION]
                    found.add(".".join(parts))
            if path.is_file():
                path.unlink()
        return sorted(found)


def _set_flags(*flags: str) -> None:
    os.environ["XLA_FLAGS"] = " ".join([os.environ.get("XLA_FLAGS", ""), *flags]).strip()


def _flags_of_this_version() -> list[str]:
    """To dump PTX: jaxlib 0.12 wants the emitters named, in a flag that 0.10 does not know."""
    import jaxlib.version

    version = tuple(map(int, jaxlib.version.__version__.split(".")[:2]))
    return ["--xla_dump_emitter_re=.*"] if version >= (0, 11) else []


def _steps(text: str) -> Iterator[tuple[str, str, str]]:
    """Opcode, result type and the rest of each instruction that a device starts."""
    computations: dict[str, list[re.Match]] = {}
    entry, current = "", []
    for line in text.splitlines():
        head = re.match(r"^(ENTRY )?%?([\w.-]+) .*\{$", line)
        if head:
            current = computations.setdefault(head[2], [])
            entry = head[2] if head[1] else entry
        elif match := _INSTRUCTION.match(line):
            current.append(match)
    waiting, seen = [entry], set()
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        for match in computations.get(name, []):
            if match["opcode"] not in _NO_STEP:
                yield match["opcode"], match["type"], match["rest"]
                continue
            called = [a or b for a, b in _CALLED.findall(match["rest"])]
            if match["opcode"] == "call":
                called += re.findall(r"\bto_apply=%?([\w.-]+)", match["rest"])
            waiting += [n.strip().lstrip("%") for names in called for n in names.split(",")]


def _prefetched(step: tuple[str, str, str]) -> int:
    """Bytes of a copy into the memory on the chip, `S(1)`, as XLA counts them.

    The compiler chooses what to copy there, and when, by what is around it: the same scatter has
    its updates copied whole in one program, and in four slices in another.
    """
    opcode, result, _ = step
    if opcode == "copy-start" and "S(1)" in result:
        target, source, _ = re.findall(r"\w+\[[\d,]*\]", result)
        return _bytes(target) + _bytes(source)
    if opcode == "slice-start" and "S(1)" in result:
        return _bytes(re.findall(r"\w+\[[\d,]*\]", result)[-2])
    return 0


def _stall(opcode: str, rest: str) -> str:
    if opcode in _STALLS or "callback" in rest.partition("metadata=")[0]:
        return opcode
    return ""


_SIZES = {"pred": 1, "s8": 1, "u8": 1, "bf16": 2, "f16": 2, "s16": 2, "u16": 2}
_SIZES |= {"s32": 4, "u32": 4, "f32": 4, "s64": 8, "u64": 8, "f64": 8}


def _bytes(result: str) -> int:
    total = 0
    for dtype, dims in re.findall(r"\b(\w+)\[([\d,]*)\]", result):
        size = _SIZES.get(dtype, 0)
        for dim in filter(None, dims.split(",")):
            size *= int(dim)
        total += size
    return total
