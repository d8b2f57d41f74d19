"""Names in symbols of Rust."""

import string

import pytest

from pyharness.reading.functions.rust_names import rust_name
from pyharness.reading.functions.symbol_names import demangled

LETTERS = f"{string.digits}{string.ascii_lowercase}{string.ascii_uppercase}"
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
    ("symbol", "name"),
    [
        ("_RNvCs1dgq8yEotTv_5rusty6values", "rusty::values"),
        ("_RNCNvCs1dgq8yEotTv_5rusty6valuess_0B3_", "rusty::values::{closure#1}"),
        ("_RINvCs1dgq8yEotTv_5rusty5applyNCNvB2_6valuess_0EB2_", "rusty::apply<rusty::values::{closure#1}>"),
        ("_RNvMs_Cs1dgq8yEotTv_5rustyINtB4_5PointfE4normB4_", "rusty::Point<f32>::norm"),
        ("_RNvXCs1dgq8yEotTv_5rustyNtB2_5ShapeNtB2_4Area4area", "<rusty::Shape as rusty::Area>::area"),
        (
            "_RINvNtCs8NwYtU1Mohg_4core3ptr9drop_glueANtCs1dgq8yEotTv_5rusty5Shapej3_EBE_",
            "core::ptr::drop_glue<[rusty::Shape; 3]>",
        ),
        ("_RNvMNtNtCs8NwYtU1Mohg_4core3ptr9const_ptrPu13is_aligned_to", "*const ()::is_aligned_to"),
        ("_RNvXs30_NtNtCs8NwYtU1Mohg_4core3ops5arithRdNtB6_3Mul3mul", "<&f64 as core::ops::arith::Mul>::mul"),
        ("_RNvC6_123foo3bar", "123foo::bar"),
        ("_RNqCs4fqI2P2rA04_11utf8_identsu30____7hkackfecea1cbdathfdh9hlq6y", "utf8_idents::საჭმელად_გემრიელი_სადილი"),
        ("_RNvCs1dgq8yEotTv_5rusty6values.llvm.1234567890", "rusty::values"),
    ],
)
def test_a_newer_symbol_is_read(symbol, name):
    assert demangled(symbol.encode()) == rust_name(symbol) == name


@pytest.mark.parametrize("symbol", ["_R", "_RNvC", "_RNvCs1_99short6values", "_RNvB_3foo", "_RNvC1a9b__"])
def test_a_damaged_symbol_has_no_name(symbol):
    assert rust_name(symbol) == ""


def test_a_name_that_grows_without_end_is_none():
    symbol, last = "IC1aTaaE", 4
    for _ in range(40):  # each a pair of the one before, which is named by where it stands
        digits = "" if last == 0 else f"{LETTERS[(last - 1) // 62]}{LETTERS[(last - 1) % 62]}"
        last, symbol = len(symbol), f"{symbol}TB{digits}_B{digits}_E"
    assert rust_name(f"_R{symbol}E") == ""


@pytest.mark.parametrize(
    "symbol",
    ["_ZN5torch8autograd4NodeD0Ev", "_ZN2at6native4reluERKNS_6TensorE", "main", "_ZN99short17h4e5a88f4a58f4a70E"],
)
def test_others_are_left_alone(symbol):
    assert rust_name(symbol) == ""
