/* A function that stands in the middle of vector arithmetic, and one that changes all vector registers. */
double halved(double x) {
  __asm__ volatile("pcmpeqd %%xmm1, %%xmm1\n pcmpeqd %%xmm7, %%xmm7\n pcmpeqd %%xmm15, %%xmm15" ::: "xmm1", "xmm7", "xmm15");
  return x / 2;
}

int main(void) {
  long left = 0, right = 0;
  __asm__ volatile("mov $11, %%rax\n movq %%rax, %%xmm7\n mov $22, %%rax\n movq %%rax, %%xmm15\n"
                   "int3\n" /* here */
                   "movq %%xmm7, %0\n movq %%xmm15, %1"
                   : "=r"(left), "=r"(right)
                   :
                   : "rax", "xmm7", "xmm15");
  return left == 11 && right == 22 ? 0 : 1;
}
