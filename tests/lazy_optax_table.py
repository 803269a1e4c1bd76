"""Every transformation of optax: whether `lazy` runs or refuses it, and why; and composed ones."""

import functools
import inspect
import re
from typing import Any

import jax
import jax.numpy as jnp
import optax
import optax.contrib
import optax.transforms

MODULES = (optax, optax.contrib, optax.transforms)


def is_transformation(item) -> bool:
    """Whether a public name of optax makes gradient transformations."""
    if inspect.isclass(item):
        methods: list[Any] = [getattr(item, n, None) for n in ("init", "update")]
        if issubclass(item, tuple) or not all(map(inspect.isfunction, methods)):
            return False
        return "params" in inspect.signature(methods[0]).parameters  # no schedule with a state
    if not inspect.isfunction(item):
        return False
    returned = inspect.signature(item).return_annotation
    if returned is not inspect.Signature.empty:
        return "GradientTransformation" in str(returned)
    return bool(re.search(r"return .*(GradientTransformation|chain\()", inspect.getsource(item)))


def public_names() -> list[str]:
    names = {}
    for module in MODULES:
        for name in dir(module):
            item = getattr(module, name)
            if not name.startswith("_") and is_transformation(item):
                names.setdefault(name, item)
    return list(names)


def named(name: str):
    return next(getattr(m, name) for m in MODULES if hasattr(m, name))


def every_second(step, **_):
    return step % 2 == 0


def tree_negated(updates, params=None):
    return jax.tree.map(jnp.negative, updates)


def of_first_label(params):
    """The same label for all parameters."""
    return jax.tree.map(lambda _: "first", params)


adam = functools.partial(optax.adam, 0.1)
adagrad = functools.partial(optax.adagrad, 0.1)

# Arguments, where a number for each that has no default does not do. Wrappers get an optimizer
# that works, so that it is the wrapper that is refused.
ARGUMENTS = {
    "MultiSteps": lambda f: f(optax.sgd(0.1), 2),
    "add_noise": lambda f: f(0.1, 0.1, key=0),
    "noisy_sgd": lambda f: f(0.1, key=0),
    "apply_every": lambda f: f(4),
    "apply_if_finite": lambda f: f(adam(), 2),
    "chain": lambda f: f(optax.clip_by_global_norm(0.5), adam()),
    "named_chain": lambda f: f(("clip", optax.clip_by_global_norm(0.5)), ("adam", adam())),
    "conditionally_mask": lambda f: f(adam(), every_second),
    "conditionally_transform": lambda f: f(adam(), every_second),
    "dpsgd": lambda f: f(0.1, 1.0, 0.1, 0),
    "differentially_private_aggregate": lambda f: f(1.0, 0.1, 0),
    "flatten": lambda f: f(optax.sgd(0.1)),
    "inject_hyperparams": lambda f: f(optax.adam)(0.1),
    "inject_stateful_hyperparams": lambda f: f(optax.adam)(0.1),
    "lookahead": lambda f: f(optax.sgd(0.1), 2, 0.5),
    "masked": lambda f: f(adam(), lambda params: jax.tree.map(lambda _: True, params)),
    "measure_with_ema": lambda f: f(optax.global_norm, 0.9),
    "mechanize": lambda f: f(optax.sgd(0.1)),
    "monitor": lambda f: f({"norm": optax.global_norm}),
    "multi_transform": lambda f: f({"first": adam()}, of_first_label),
    "partition": lambda f: f({"first": adam()}, of_first_label),
    "sam": lambda f: f(optax.sgd(0.1), optax.sgd(0.1)),
    "scale_by_schedule": lambda f: f(optax.linear_schedule(1.0, 0.0, 4)),
    "schedule_free": lambda f: f(adam(), 0.1),
    "selective_transform": lambda f: f(adam(), freeze_mask=lambda _: False),
    "snapshot": lambda f: f("norm", optax.global_norm),
    "split_real_and_imaginary": lambda f: f(adam()),
    "stateless": lambda f: f(tree_negated),
    "stateless_with_tree_map": lambda f: f(lambda g, p: -g),
    "with_extra_args_support": lambda f: f(adam()),
}

# What `update` takes besides.
EXTRA = {name: {"value": 0.5} for name in ("polyak_sgd", "scale_by_polyak", "reduce_on_plateau")}


def build(name: str):
    item = named(name)
    if name in ARGUMENTS:
        return ARGUMENTS[name](item)
    parameters = inspect.signature(item).parameters.values()
    required = [p for p in parameters if p.default is p.empty and p.kind is not p.VAR_KEYWORD]
    return item(**{p.name: 0.1 for p in required})


def names(text: str) -> list[str]:
    return text.split()


WORKS = names(
    """
    acprop adabelief adadelta adagrad adam adamax adamaxw adamw adan add_decayed_weights
    ademamix adopt amsgrad apply_if_finite centralize chain clip clip_by_global_norm cocob
    conditionally_mask conditionally_transform ema flatten freeze identity inject_hyperparams
    inject_stateful_hyperparams keep_params_nonnegative lion madgrad masked multi_transform
    nadam nadamw named_chain normalize normalize_by_update_norm novograd optimistic_adam
    optimistic_adam_v2 optimistic_gradient_descent partition polyak_sgd radam reduce_on_plateau
    rmsprop rprop scale scale_by_acprop scale_by_adadelta scale_by_adam scale_by_adamax
    scale_by_adan scale_by_ademamix scale_by_adopt scale_by_amsgrad scale_by_belief
    scale_by_cocob scale_by_factored_rms scale_by_learning_rate scale_by_lion scale_by_madgrad
    scale_by_novograd scale_by_optimistic_gradient scale_by_polyak scale_by_radam scale_by_rms
    scale_by_rprop scale_by_rss scale_by_schedule scale_by_sign scale_by_simplified_ademamix
    scale_by_stddev scale_by_yogi schedule_free schedule_free_adamw schedule_free_sgd
    selective_transform set_to_zero sgd sign_sgd signum simplified_ademamix snapshot
    split_real_and_imaginary stateless stateless_with_tree_map trace with_extra_args_support
    yogi zero_nans
    """
)

# Of gradients of several examples: all parameters must have as many rows.
PER_EXAMPLE = ["differentially_private_aggregate", "dpsgd"]

# By words of the error.
REFUSED = {
    "computes rows from other rows": names(
        """
        adafactor adaptive_grad_clip add_noise clip_by_block_rms dadapt_adamw
        differentially_private_aggregate dog dowg dpsgd fromage galore
        hutchinson_estimator_diag_hessian lamb lars momo momo_adam muon noisy_sgd prodigy
        scale_by_backtracking_linesearch scale_by_distance_over_gradients scale_by_galore
        scale_by_param_block_norm scale_by_param_block_rms scale_by_sm3 scale_by_trust_ratio
        scale_by_zoom_linesearch sm3 sophia
        """
    ),
    "collects gradients over several steps": names("MultiSteps apply_every"),
    "keeps parameters of some steps for later ones": names("mechanize sam"),
    "must keep a row of its state for each row of table": names("lbfgs scale_by_lbfgs"),
    "must have the structure": names("measure_with_ema monitor"),
    "gradients of the structure of the parameters": names("lookahead scale_by_muon"),
}

RATE = optax.warmup_cosine_decay_schedule(0.0, 0.05, 20, 1000, 0.01)
# Of parameters `words`, `tags` and `bias`.
COMPOSED = {
    "momentum": lambda: optax.sgd(0.05, momentum=0.9),
    "nesterov": lambda: optax.sgd(RATE, momentum=0.9, nesterov=True),
    "adam": lambda: optax.adam(0.01),
    "adagrad": lambda: optax.adagrad(0.1),
    "rmsprop": lambda: optax.rmsprop(0.01),
    "rmsprop-centered": lambda: optax.rmsprop(0.01, centered=True, momentum=0.9),
    "adamw": lambda: optax.adamw(RATE, weight_decay=0.01),
    "decayed": lambda: optax.chain(optax.add_decayed_weights(0.01), optax.sgd(0.05)),
    "clipped": lambda: optax.chain(optax.clip_by_global_norm(0.1), optax.adam(RATE)),
    # 0 / 0, if a missed step were one without any gradient
    "normalized": lambda: optax.chain(optax.normalize_by_update_norm(), optax.sgd(0.01, 0.9)),
    "injected": lambda: optax.inject_hyperparams(optax.adam)(RATE, b1=0.8),
    "masked": lambda: optax.masked(optax.adam(0.1), {"words": True, "tags": False, "bias": True}),
    "by-label": lambda: optax.multi_transform(
        {"a": optax.adamw(0.1), "b": optax.sgd(0.1)}, {"words": "a", "tags": "b", "bias": "a"}
    ),
    "radam": lambda: optax.radam(0.01),
    "novograd": lambda: optax.novograd(0.01),
}
