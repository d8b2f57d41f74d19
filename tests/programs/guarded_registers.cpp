// A thread that notices whether a register of its own was changed, or a system call cut short.
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

extern "C" {

// Whether all registers and the stack are as they were, before and after keep_here, where a debugger stops.
int keep(int has_avx);

// Waits for a byte; 1, or the kernel's answer.
long wait_for_byte(int descriptor);

std::atomic<long> rounds{0};
std::atomic<long> wrong{0};
int held = -1;

// What a debugger calls: changes all that a function may change, and waits where it is told to.
int disturb() {
  asm volatile("pxor %%xmm0, %%xmm0\n pxor %%xmm15, %%xmm15" : : : "xmm0", "xmm15");
  char byte = 0;
  return held < 0 ? 3 : static_cast<int>(read(held, &byte, 1)) + 2;
}

int crash() {
  return *static_cast<volatile int*>(nullptr);
}

void keep_for_ever(int has_avx) {
  for (;;) {
    wrong += keep(has_avx);
    ++rounds;
  }
}

void wait_for_ever(int descriptor) {
  for (;;) {
    wrong += wait_for_byte(descriptor) != 1;
    ++rounds;
  }
}
}

asm(R"(
  .text
  .globl wait_for_byte
  .type wait_for_byte, @function
wait_for_byte:
  sub $24, %rsp
  mov %rsp, %rsi
  mov $1, %edx
  xor %eax, %eax
  syscall
  add $24, %rsp
  ret

  .globl keep
  .globl keep_here
  .type keep, @function
  .type keep_here, @function
keep:
  push %rbx
  push %rbp
  push %r12
  push %r13
  push %r14
  push %r15
  mov $0x123456789, %rax
  lea 1(%rax), %rbx
  lea 2(%rax), %rcx
  lea 3(%rax), %rdx
  lea 4(%rax), %rsi
  lea 5(%rax), %rbp
  lea 6(%rax), %r8
  lea 7(%rax), %r9
  lea 8(%rax), %r10
  lea 9(%rax), %r11
  lea 10(%rax), %r12
  lea 11(%rax), %r13
  lea 12(%rax), %r14
  lea 13(%rax), %r15
  mov %rax, -8(%rsp)
  mov %rax, -128(%rsp)
  movq %rax, %xmm0
  movq %r15, %xmm15
  test %edi, %edi
  jz 1f
  vinsertf128 $1, %xmm15, %ymm15, %ymm15
1:
  stc
keep_here:
  nop
  jnc 2f
  cmp %rax, -8(%rsp)
  jne 2f
  cmp %rax, -128(%rsp)
  jne 2f
  test %edi, %edi
  jz 3f
  vextractf128 $1, %ymm15, %xmm14
  movq %xmm14, -8(%rsp)
  cmp %r15, -8(%rsp)
  jne 2f
3:
  sub %rax, %rbx
  sub %rax, %rcx
  sub %rax, %rdx
  sub %rax, %rsi
  sub %rax, %rbp
  sub %rax, %r8
  sub %rax, %r9
  sub %rax, %r10
  sub %rax, %r11
  sub %rax, %r12
  sub %rax, %r13
  sub %rax, %r14
  sub %rax, %r15
  add %rcx, %rbx
  add %rdx, %rbx
  add %rsi, %rbx
  add %rbp, %rbx
  add %r8, %rbx
  add %r9, %rbx
  add %r10, %rbx
  add %r11, %rbx
  add %r12, %rbx
  add %r13, %rbx
  add %r14, %rbx
  add %r15, %rbx
  cmp $91, %rbx
  jne 2f
  mov $0x123456789, %rbx
  cmp %rbx, %rax
  jne 2f
  movq %xmm0, %rcx
  cmp %rbx, %rcx
  jne 2f
  add $13, %rbx
  movq %xmm15, %rcx
  cmp %rbx, %rcx
  jne 2f
  xor %eax, %eax
  jmp 4f
2:
  mov $1, %eax
4:
  pop %r15
  pop %r14
  pop %r13
  pop %r12
  pop %rbp
  pop %rbx
  ret
)");
