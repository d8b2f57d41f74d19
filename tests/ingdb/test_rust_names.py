"""Names in symbols of Rust."""

import pytest

from pyharness.reading.functions.rust_names import rust_name
from pyharness.reading.functions.symbol_names import demangled

HASH = "17h4e5a88f4a58f4a70E"


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("_ZN5rusty5apply", "rusty::apply"),
        ("_ZN5rusty7Counter4step", "rusty::Counter::step"),
        (
            "_ZN5rusty1_20__pyfunction_explode28_$u7b$$u7b$closure$u7d$$u7d$",
            "rusty::_::__pyfunction_explode::{{closure}}",
        ),
        (
            "_ZN53_$LT$rusty..Counter$u20$as$u20$core..clone..Clone$GT$5clone",
            "<rusty::Counter as core::clone::Clone>::clone",
        ),
        ("_ZN4core3ptr42drop_in_place$LT$alloc..string..String$GT$", "core::ptr::drop_in_place<alloc::string::String>"),
        (
            "_ZN4core3ops8function5impls79_$LT$impl$u20$core..ops..function..FnMut$LT$A$GT$$u20$for$u20$$RF$mut$u20$F$GT$8call_mut",
            "core::ops::function::impls::<impl core::ops::function::FnMut<A> for &mut F>::call_mut",
        ),
    ],
)
def test_a_symbol_is_read(symbol, name):
    assert demangled(f"{symbol}{HASH}".encode()) == rust_name(f"{symbol}{HASH}") == name


@pytest.mark.parametrize(
    "symbol",
    ["_ZN5torch8autograd4NodeD0Ev", "_ZN2at6native4reluERKNS_6TensorE", "main", "_ZN99short17h4e5a88f4a58f4a70E"],
)
def test_others_are_left_alone(symbol):
    assert rust_name(symbol) == ""
