"""Random graphs with one random mutation each: every one is found at the node that was changed."""

import copy
import random

import pytest
import random_graphs
import torch
from torch import nn

from pyharness.fx import verify

pytestmark = pytest.mark.rotated_tests(turns=2)

GRAPHS = range(42)
_DRAWS = 60


def agree(one, other, args):
    """An oracle of its own: plain calls on copies, compared by torch.testing."""
    results = []
    for module in (one, other):
        torch.manual_seed(0)
        try:
            results.append(nn.Module.__call__(copy.deepcopy(module), *copy.deepcopy(args)))
        except (RuntimeError, TypeError):  # the mutation made it invalid: that is a difference
            return False
    try:
        torch.testing.assert_close(results[1], results[0], equal_nan=True)
    except AssertionError:
        return False
    return True


def drawn(number, kinds=None):
    """A graph, a mutation of it that makes a difference, and mutations that turned out to make none."""
    module, rng = random_graphs.Generator(number).module, random.Random(number)  # noqa: S311  (repeatable)
    equivalent = []
    for _ in range(_DRAWS):
        changed, mutation = random_graphs.mutate(module, rng, kinds or random_graphs.MUTATIONS)
        if mutation is None:
            continue
        if not agree(module, changed, random_graphs.inputs(number)):
            return module, changed, mutation, equivalent
        equivalent.append(changed)
    raise AssertionError("no mutation of this graph makes a difference")


def is_found(first, mutation, names=None):
    nodes = {(names or {}).get(name, name) for name in mutation.nodes}
    return first is not None and (first.node in nodes or (mutation.missing and first.missing == mutation.missing))


@pytest.mark.rotated
@pytest.mark.parametrize("number", GRAPHS)
def test_a_mutation_is_found_at_its_node(number):
    module, changed, mutation, equivalent = drawn(number)
    args = random_graphs.inputs(number)
    for each in equivalent:
        found = verify(module, each, args)
        assert found.ok or all(difference.symptom == "state" for difference in found.outputs), found
    verdict = verify(module, changed, args)
    assert not verdict.ok
    assert is_found(verdict.first, mutation), f"{mutation}\n{verdict}"


@pytest.mark.parametrize("number", range(100, 110))
def test_so_it_is_in_a_graph_that_is_renamed_and_reordered(number):
    kinds = [each for each in random_graphs.MUTATIONS if each is not random_graphs.in_place]
    module, changed, mutation, _ = drawn(number, kinds)  # reordered, a change in place would be another
    args, rng = random_graphs.inputs(number), random.Random(number)  # noqa: S311  (repeatable)
    assert verify(module, random_graphs.disguised(module, rng)[0], args).ok
    other, names = random_graphs.disguised(changed, rng)
    verdict = verify(module, other, args)
    assert is_found(verdict.first, mutation, names), f"{mutation}\n{verdict}"


@pytest.mark.parametrize("kind", random_graphs.MUTATIONS, ids=lambda each: each.__name__)
def test_each_kind_of_mutation_is_found(kind):
    for number in range(200, 230):
        try:
            module, changed, mutation, _ = drawn(number, [kind])
        except AssertionError:  # this graph has no place for it
            continue
        verdict = verify(module, changed, random_graphs.inputs(number))
        assert is_found(verdict.first, mutation), f"{mutation}\n{verdict}"
        return
    pytest.fail("no graph had a place for it")
