// Waits as code without call frame information does (musl's, hand-written
// assembly), with a pointer to data on the stack where a guess looks for the
// address of its caller.

asm(R"(
  .data
data:
  .quad 0

  .text
  .globl wait_for_ever
  .type wait_for_ever, @function
wait_for_ever:
  lea data(%rip), %rax
  push %rax
  mov $34, %eax
  syscall
  pop %rax
  ret
  .size wait_for_ever, .-wait_for_ever
)");
