// See call_entry.h.
#include <csrc/engine/kernels/call_entry.h>

#include <algorithm>
#include <cstring>
#include <initializer_list>

#ifdef __x86_64__

// pyharness_led_call is jumped to by entries, with their argument in r11. It
// keeps all that arguments may be in, and has C++ do the rest.
// pyharness_call_as_led(function, registers, arguments, words) calls with them.
// Both can be unwound, so that the function may throw.
asm(R"(
  .text
  .p2align 4
  .hidden pyharness_led_call
  .globl pyharness_led_call
  .type pyharness_led_call, @function
pyharness_led_call:
  .cfi_startproc
  endbr64
  pushq %rbp
  .cfi_def_cfa_offset 16
  .cfi_offset %rbp, -16
  movq %rsp, %rbp
  .cfi_def_cfa_register %rbp
  subq $176, %rsp
  movq %rdi, (%rsp)
  movq %rsi, 8(%rsp)
  movq %rdx, 16(%rsp)
  movq %rcx, 24(%rsp)
  movq %r8, 32(%rsp)
  movq %r9, 40(%rsp)
  movups %xmm0, 48(%rsp)
  movups %xmm1, 64(%rsp)
  movups %xmm2, 80(%rsp)
  movups %xmm3, 96(%rsp)
  movups %xmm4, 112(%rsp)
  movups %xmm5, 128(%rsp)
  movups %xmm6, 144(%rsp)
  movups %xmm7, 160(%rsp)
  movq %r11, %rdi
  movq %rsp, %rsi
  leaq 8(%rbp), %rdx
  call pyharness_on_led_call
  leave
  .cfi_def_cfa %rsp, 8
  ret
  .cfi_endproc
  .size pyharness_led_call, . - pyharness_led_call

  .p2align 4
  .hidden pyharness_call_as_led
  .globl pyharness_call_as_led
  .type pyharness_call_as_led, @function
pyharness_call_as_led:
  .cfi_startproc
  endbr64
  pushq %rbp
  .cfi_def_cfa_offset 16
  .cfi_offset %rbp, -16
  movq %rsp, %rbp
  .cfi_def_cfa_register %rbp
  movq %rdi, %r10
  movq %rsi, %r11
  leaq 1(%rcx), %rax
  andq $-2, %rax
  shlq $3, %rax
  subq %rax, %rsp
  movq %rsp, %rdi
  movq %rdx, %rsi
  cld
  rep movsq
  movups 48(%r11), %xmm0
  movups 64(%r11), %xmm1
  movups 80(%r11), %xmm2
  movups 96(%r11), %xmm3
  movups 112(%r11), %xmm4
  movups 128(%r11), %xmm5
  movups 144(%r11), %xmm6
  movups 160(%r11), %xmm7
  movq (%r11), %rdi
  movq 8(%r11), %rsi
  movq 16(%r11), %rdx
  movq 24(%r11), %rcx
  movq 32(%r11), %r8
  movq 40(%r11), %r9
  call *%r10
  leave
  .cfi_def_cfa %rsp, 8
  ret
  .cfi_endproc
  .size pyharness_call_as_led, . - pyharness_call_as_led
)");

extern "C" void pyharness_led_call();
extern "C" void pyharness_call_as_led(
    void* function,
    const pyharness::engine::ArgumentRegisters* registers,
    const std::uint64_t* arguments,
    std::size_t words);

extern "C" __attribute__((used, visibility("hidden"))) void
pyharness_on_led_call(
    const void* argument,
    const pyharness::engine::ArgumentRegisters& registers,
    const pyharness::engine::CallerStack& stack) {
  pyharness::engine::on_led_call(argument, registers, stack);
}

namespace pyharness::engine {

namespace {

static_assert(sizeof(ArgumentRegisters) == 176, "as the code above has it");

void append(std::uint8_t*& at, std::initializer_list<std::uint8_t> code) {
  at = std::copy(code.begin(), code.end(), at);
}

void append(std::uint8_t*& at, const void* address) {
  const auto number = reinterpret_cast<std::uint64_t>(address);
  std::memcpy(at, &number, sizeof number);
  at += sizeof number;
}

} // namespace

bool write_entry(std::uint8_t* code, const void* argument) {
  append(code, {0xF3, 0x0F, 0x1E, 0xFA}); // endbr64
  append(code, {0x49, 0xBB}); // movabs argument, %r11
  append(code, argument);
  append(code, {0x49, 0xBA}); // movabs pyharness_led_call, %r10
  append(code, reinterpret_cast<const void*>(&pyharness_led_call));
  append(code, {0x41, 0xFF, 0xE2}); // jmp *%r10
  return true;
}

void call_as_led(
    void* function,
    const ArgumentRegisters& registers,
    const std::uint64_t* arguments,
    std::size_t words) {
  pyharness_call_as_led(function, &registers, arguments, words);
}

} // namespace pyharness::engine

#else

namespace pyharness::engine {

bool write_entry(std::uint8_t* /*code*/, const void* /*argument*/) {
  return false;
}

void call_as_led(
    void* /*function*/,
    const ArgumentRegisters& /*registers*/,
    const std::uint64_t* /*arguments*/,
    std::size_t /*words*/) {}

} // namespace pyharness::engine

#endif
