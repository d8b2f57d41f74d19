"""Demangled names as people write them."""

import native_build
import pytest

from pyharness.reading.binaries.elf import open_elf
from pyharness.reading.functions.function_name import bare_name, matches, matches_in_full, without_template_arguments
from pyharness.reading.functions.symbol_names import demangled, symbols_in_full, with_namespace

STRING = "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >"


@pytest.mark.parametrize(
    ("demangled", "bare"),
    [
        ("main", "main"),
        ("at::Tensor at::add<int>(at::Tensor const&) const [clone .cold]", "at::add<int>"),
        ("foo(int) [clone .constprop.0] [clone .isra.0]", "foo"),
        ("foo.cold", "foo"),
        ("(anonymous namespace)::f(int)", "(anonymous namespace)::f"),
        ("void (anonymous namespace)::g<A<B>, (C)3>(int (*)(int))", "(anonymous namespace)::g<A<B>, (C)3>"),
        ("operator new(unsigned long)", "operator new"),
        ("std::ostream& std::operator<< <char>(std::ostream&, char)", "std::operator<< <char>"),
        ("foo::operator bool() const", "foo::operator bool"),
        ("A::operator->() const", "A::operator->"),
        ("a::operator()(int)", "a::operator()"),
        ("a::f(int)::{lambda()#1}::operator()() const", "a::f(int)::{lambda()#1}::operator()"),
        (
            "f()::{lambda()#1}::operator()() const::{lambda(int)#2}::operator()(int) const",
            "f()::{lambda()#1}::operator()() const::{lambda(int)#2}::operator()",
        ),
        ("unsigned long g<int>()", "g<int>"),
        ("std::enable_if<((x)>(1)), int>::type q<int>(int)", "q<int>"),
        ("X::~X()", "X::~X"),
        ("c10::call<at::Tensor (at::Tensor const&)>::call(int)", "c10::call<at::Tensor (at::Tensor const&)>::call"),
        ("f() &&", "f"),
        ("", ""),
        (")", ")"),
    ],
)
def test_bare_name(demangled, bare):
    assert bare_name(demangled) == bare


@pytest.mark.parametrize(
    ("demangled", "wanted", "meant"),
    [
        ("at::Tensor at::add<int>(at::Tensor const&)", "add", True),
        ("at::add(int)", "at::add", True),
        ("at::add(int)", "::at::add", True),
        ("at::add(int)", "at::add(int)", True),
        ("at::add(int)", "at::add(long)", False),
        (f"at::add({STRING} const&)", "add(const std::string &)", True),
        ("f(int, unsigned long)", "f(int,unsigned long)", True),
        ("f(int, unsigned long)", "f(int,unsignedlong)", False),
        ("at::add(int)", "dd", False),
        ("at::add(int)", "t::add", False),
        ("at::add<int>(int)", "add<int>", True),
        ("at::add<int>(int)", "add<long>", False),
        ("ns::(anonymous namespace)::f(int)", "f", True),
        ("ns::(anonymous namespace)::f(int)", "ns::f", True),
    ],
)
def test_matches(demangled, wanted, meant):
    assert matches(demangled, wanted) is meant


@pytest.mark.parametrize(
    ("symbol", "wanted", "meant"),
    [
        ("malloc", "malloc", True),
        ("_Z3addi", "add", True),
        ("_ZL3addi", "add", True),
        ("_ZN12_GLOBAL__N_13addEi", "add", True),
        ("_ZN2at3addEi", "add", False),
        ("_ZN2at3addEi", "at::add", True),
        ("_ZN2at3addEi", "::at::add(int)", True),
        ("_ZN2at3addEi", "at::add(long)", False),
        ("_ZN2atL3addEi", "at::add", True),
        ("_ZN2at12_GLOBAL__N_13addEi", "at::add", True),
        ("_ZN2at6native3addEi", "at::add", False),
        ("_ZN2at6native3addEi", "native::add", False),
        ("_ZNK2at3VecIfE3addERKi", "at::Vec::add", True),
        ("_ZNK2at3VecIfE3addERKi", "at::Vec<float>::add", True),
        ("_ZN2at3addIfEEvT_", "at::add", True),
        ("_ZNSt6thread4joinEv", "std::thread::join", True),
    ],
)
def test_symbols_of_functions_that_are_named_in_full(symbol, wanted, meant):
    symbol = symbol.encode()
    plain = symbol == wanted.encode()
    found = plain or bool(symbols_in_full(wanted).match(symbol))
    assert (found and matches_in_full(demangled(symbol), wanted)) is meant


def test_template_arguments_are_taken_away():
    assert without_template_arguments("a<b<c>>::d<e>") == "a::d"
    assert without_template_arguments("a::operator<<") == "a::operator<<"


def test_a_name_without_its_namespace_is_that_of_the_symbol():
    """So Clang's -gline-tables-only has it; what is another's name, or C's, stays as it is."""
    elf = open_elf(str(native_build.library()))
    method, plain = (elf.symbol(name) + 1 for name in ("_ZNK4shop4Item4costEv", "plain_entry"))
    assert with_namespace(elf, method, "cost") == "shop::Item::cost"
    assert with_namespace(elf, method, "ost") == "ost"
    assert with_namespace(elf, method, "Item::cost") == "Item::cost"
    doubled = elf.symbol("_ZN4shop7doubledIiEET_S1_")
    for name in ("doubled", "doubled<int>"):
        assert with_namespace(elf, doubled, name) == "shop::doubled<int>"
    assert with_namespace(elf, plain, "plain_entry") == "plain_entry"
